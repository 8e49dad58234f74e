"""Functions of texts by table: every distinct text is computed once, however often it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.engine.functions.base import Function
from whence.engine.kernels.columns.column import Bools, Column, Ints, from_values
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.expressions.functions.base import (
    first_bad,
    spread,
    unique_rows,
    valid_of,
)
from whence.engine.values import Value, ValueFault

__all__ = ["TextTables"]


Each = Callable[[list[str]], npt.NDArray[Any]]
"""A function of one text for many texts at once."""


class _Table(SlotTable):
    """The results for the texts that one argument takes while the others stay the same."""

    done: Bools
    bad: Bools
    data: npt.NDArray[Any]

    def __init__(self, call: Callable[[str], Value], kind: str, each: Each | None = None) -> None:
        self.call = call
        self.kind = kind
        self.each = each
        self.refuses = False
        super().__init__(0, done=False, bad=False, data=np.zeros((), _type(kind)))

    def look_up(self, codes: Ints, valid: Bools | None, texts: Texts) -> npt.NDArray[Any]:
        self.grow(len(texts))
        asked = codes if valid is None else codes[valid]
        fresh = np.unique(asked[~self.done[asked]])
        if len(fresh):
            self._fill(fresh, texts)
        if self.refuses:
            first_bad(self.bad[codes], valid)
        found: npt.NDArray[Any] = self.data[codes]
        return found

    def _fill(self, codes: Ints, texts: Texts) -> None:
        if self.each is not None:
            try:
                self.data[codes] = self.each(texts.at(codes))
                self.done[codes] = True
                return
            except ValueFault:
                self.each = None  # one by one, it shows which of them is refused
        results: list[Value] = []
        for code, text in zip(codes.tolist(), texts.at(codes), strict=True):
            try:
                results.append(self.call(text))
            except ValueFault:
                self.bad[code] = self.refuses = True
                results.append(None)
        self.data[codes] = from_values(results, self.kind, texts).data
        self.done[codes] = True


def _type(kind: str) -> Any:
    return np.bool_ if kind == "boolean" else np.int64


class TextTables:
    """A function of texts at one place of an expression.

    Args:
        function: the interpreter's function; its arguments are texts.
        kind: the kind of its results, never a float.
        test: a missing argument gives false instead of missing.
        each: the function for many first arguments at once, given the others.
    """

    def __init__(
        self,
        function: Function,
        kind: str,
        *,
        test: bool = True,
        each: Callable[..., npt.NDArray[Any]] | None = None,
    ) -> None:
        self.each = each
        self.call = function.compute
        self.kind = kind
        self.test = test
        self.tables: dict[tuple[int, ...], _Table] = {}

    def compute(self, columns: Sequence[Column]) -> Column | None:
        """The results; ``None`` if not all arguments are texts."""
        if any(c.kind != "text" for c in columns):
            return None
        valid = valid_of(*columns)
        texts = columns[0].texts
        count = max(len(c) for c in columns)
        full: Bools | None = None if valid is None else spread(valid, count)
        if full is not None and not full.any():
            return self._made(np.zeros(count, _type(self.kind)), full, texts)
        several = [n for n, c in enumerate(columns) if len(c) > 1]
        if len(several) == 1:
            (at,) = several
            fixed = tuple(-1 if n == at else int(c.data[0]) for n, c in enumerate(columns))
            table = self.tables.get(fixed)
            if table is None:
                one, each = self._one(fixed, at, texts), self._each(fixed, at, texts)
                table = self.tables[fixed] = _Table(one, self.kind, each)
            return self._made(table.look_up(columns[at].data, full, texts), full, texts)
        found = unique_rows([c.data for c in columns], len(texts))
        if found is None:
            return None
        distinct, back = found
        bad = np.zeros(len(distinct[0]), np.bool_)
        used: Bools = np.ones(len(bad), np.bool_)
        if full is not None:
            used = np.zeros(len(bad), np.bool_)
            used[back[full]] = True
        results: list[Value] = []
        for number, given in enumerate(zip(*(texts.at(c) for c in distinct), strict=True)):
            result: Value = None
            if used[number]:
                try:
                    result = self.call(*given)
                except ValueFault:
                    bad[number] = True
            results.append(result)
        first_bad(bad[back], full)
        return self._made(from_values(results, self.kind, texts).data[back], full, texts)

    def _one(self, fixed: tuple[int, ...], at: int, texts: Texts) -> Callable[[str], Value]:
        given = texts.at(np.maximum(np.array(fixed, np.int64), 0))
        before, after = given[:at], given[at + 1 :]
        return lambda text: self.call(*before, text, *after)

    def _each(self, fixed: tuple[int, ...], at: int, texts: Texts) -> Each | None:
        compute = self.each
        if compute is None or at:
            return None
        others = texts.at(np.array(fixed[1:], np.int64))
        return lambda given: compute(given, *others)

    def _made(self, data: npt.NDArray[Any], valid: Bools | None, texts: Texts) -> Column:
        if self.test:
            return Column(self.kind, data if valid is None else data & valid, None, texts)
        return Column(self.kind, data, valid, texts)

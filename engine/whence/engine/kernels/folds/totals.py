"""Running totals, slot by slot: numbers in arrays; whatever else as the interpreter has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from whence.engine.functions.arithmetic import is_zero
from whence.engine.kernels.columns.column import Bools, Column, Ints, from_values, guessed
from whence.engine.kernels.columns.growing import grown
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.expressions.expression import RowFault
from whence.engine.kernels.folds.loops import (
    ADD,
    ALL,
    BEFORE,
    FLOAT,
    INTEGER,
    MAX,
    MIN,
    MISSING,
    NOTHING,
    PRODUCT,
    UNSET_YET,
    fold_conditions,
    fold_numbers,
)
from whence.engine.kernels.kernel import State
from whence.engine.processors.cumulate import UNSET, Cumulate
from whence.engine.values import Value, ValueFault, as_condition, is_odd

__all__ = ["Changed", "Folded", "Totals", "numeric"]

Floats = npt.NDArray[np.float64]

_OPERATIONS = {"add": ADD, "product": PRODUCT, "min": MIN, "max": MAX}
_NO_BOOLS: Bools = np.empty(0, np.bool_)
_NO_INTS: Ints = np.empty(0, np.int64)
_NO_FLOATS: Floats = np.empty(0, np.float64)


class Folded(NamedTuple):
    """The totals after every row, and what explains each (see `folds`)."""

    values: Column
    pick: Ints


class Changed(NamedTuple):
    """The slots that a row of this batch explains from now on, and the row of each."""

    slot: Ints
    row: Ints


def numeric(column: Column, kinds: tuple[str, ...]) -> Column | None:
    """A column of one of some kinds, if that is what its values are; all missing is an integer."""
    if column.kind in kinds:
        return column
    if column.kind == "any":
        column = guessed(column.to_list(), column.texts)
        if column.kind in kinds:
            return column
    if column.kind == "record" or column.present.any():
        return None
    count = len(column)
    return Column("integer", np.zeros(count, np.int64), np.zeros(count, np.bool_), column.texts)


class Totals:
    """The totals of all slots.

    Attributes:
        step: the function that is folded.
        start: the total before any input.
        is_logical: ``and``, ``or``.
        is_product: a zero explains alone.
        is_extreme: ``min``, ``max``.
        explains_all: all inputs so far always explain.
        unit: for ``min`` and ``max``, the kind of all inputs so far.
        objects: the totals as Python has them, once arrays of numbers cannot hold them.
    """

    def __init__(self, declared: Cumulate) -> None:
        """Begin without slots."""
        folded = declared.folded
        self.name = folded.name
        self.step: Callable[[Any, Any], Value] = folded.pair or folded.compute
        given = declared.start is not UNSET
        neutral = UNSET if folded.neutral is None else folded.neutral
        self.start: Any = declared.start if given else neutral
        self.adds_durations = not given and folded.name == "add"
        self.is_logical = folded.name in ("and", "or")
        self.is_product = folded.name == "product"
        self.is_extreme = folded.name in ("min", "max")
        self.explains_all = not (self.is_logical or self.is_product or self.is_extreme)
        self.decisive = bool(folded.absorbing) if self.is_logical else False
        self.kinds: tuple[str, ...] = ("integer", "float")
        if self.is_extreme:
            self.kinds = ("integer", "float", "instant", "duration")
        self.drop()

    def drop(self) -> None:
        """Forget all slots."""
        self.kind: Ints = np.empty(0, np.int64)
        self.whole: Ints = np.empty(0, np.int64)
        self.real: Floats = np.empty(0, np.float64)
        self.truth: Bools = np.empty(0, np.bool_)
        self.odd: Bools = np.empty(0, np.bool_)
        self.mark: Ints = np.empty(0, np.int64)
        self.at: Ints = np.empty(0, np.int64)
        self.begun: Bools = np.empty(0, np.bool_)
        self.unit: str | None = None
        self.objects: list[Value] | None = None
        start = self.start
        self.first = (UNSET_YET, 0, 0.0)
        if start is None:
            self.first = (MISSING, 0, 0.0)
        elif type(start) is int:
            self.first = (INTEGER, start, 0.0)
            self.unit = "integer"
        elif type(start) is float:
            self.first = (FLOAT, 0, start)
            self.unit = "float"
        elif (start is not UNSET and not self.is_logical) or self.name not in _OPERATIONS:
            self.objects = []

    def grow(self, count: int) -> None:
        """Make room for so many slots, each with the start value."""
        if count <= len(self.mark):
            if self.objects is not None:
                self.objects += [self.start] * (len(self.mark) - len(self.objects))
            return
        kind, whole, real = self.first
        mark = 0
        odd = False
        if self.is_logical:
            truth = as_condition(self.start)
            mark = 2 if truth is self.decisive else 0
            self.truth = grown(self.truth, count, truth)
        elif self.is_product:
            mark, odd = 2 if is_zero(self.start) else 0, is_odd(self.start)
        elif self.is_extreme and self.start is not UNSET:
            mark = 2
        self.kind = grown(self.kind, count, kind)
        self.whole = grown(self.whole, count, whole)
        self.real = grown(self.real, count, real)
        self.odd = grown(self.odd, count, odd)
        self.mark = grown(self.mark, count, mark)
        self.at = grown(self.at, count, -1)
        self.begun = grown(self.begun, count, False)
        if self.objects is not None:
            self.objects += [self.start] * (len(self.mark) - len(self.objects))

    def take_changed(self) -> Changed:
        """The slots that a row of this batch explains; from now on that row is held elsewhere."""
        slots = np.flatnonzero(self.at >= 0)
        rows = self.at[slots]
        self.at[slots] = -1
        return Changed(slots, rows)

    def conditions(self, slot: Ints | None, holds: Bools, like: Column) -> Folded:
        """Fold conditions with ``and`` or ``or``."""
        count = len(holds)
        out = np.empty(count, np.bool_)
        pick = np.empty(count, np.int64)
        slots = _NO_INTS if slot is None else slot
        fold_conditions(slots, holds, self.decisive, self.truth, self.mark, self.at, out, pick)
        return Folded(Column("boolean", out, None, like.texts), pick)

    def values(self, slot: Ints | None, column: Column) -> Folded:
        """Fold values.

        Raises:
            RowFault: a value or a total is refused.
        """
        if self.objects is None:
            typed = numeric(column, self.kinds)
            if typed is not None and self._fits(typed):
                return self._numbers(slot, typed)
            self._unpack(column.texts)
        return self._by_object(slot, column)

    def _fits(self, column: Column) -> bool:
        if not self.is_extreme:
            return True
        if column.valid is not None and not column.valid.any():
            return True
        if self.unit is None:
            self.unit = column.kind
        return self.unit == column.kind

    def _numbers(self, slot: Ints | None, column: Column) -> Folded:
        count = len(column)
        kind = np.empty(count, np.int64)
        whole = np.empty(count, np.int64)
        real = np.empty(count, np.float64)
        pick = np.empty(count, np.int64)
        is_float = column.kind == "float"
        refused = fold_numbers(
            _OPERATIONS[self.name],
            _NO_INTS if slot is None else slot,
            is_float,
            _NO_INTS if is_float else column.data,
            column.data if is_float else _NO_FLOATS,
            _NO_BOOLS if column.valid is None else column.valid,
            self.kind,
            self.whole,
            self.real,
            self.odd,
            self.mark,
            self.at,
            kind,
            whole,
            real,
            pick,
        )
        if refused >= 0:
            where = 0 if slot is None else int(slot[refused])
            fault = self._fault(self._total(where, column.texts), column.item(refused))
            raise RowFault(refused, fault)
        return Folded(self._column(kind, whole, real, column.texts), pick)

    def _fault(self, before: Value, value: Value) -> ValueFault:
        """What the function says of a value that it does not take."""
        try:
            self.step(before, value)
        except ValueFault as fault:
            return fault
        msg = f"{self.name} was refused for {before!r} and {value!r}, which it takes"
        raise AssertionError(msg)

    def _column(self, kind: Ints, whole: Ints, real: Floats, texts: Texts) -> Column:
        """Totals as a column: of one kind if they are."""
        unit = self.unit if self.is_extreme and self.unit else "integer"
        return number_column(kind, whole, real, unit, texts)

    def _total(self, slot: int, texts: Texts) -> Value:
        if self.kind[slot] == UNSET_YET:
            return UNSET
        some = slice(slot, slot + 1)
        column = self._column(self.kind[some], self.whole[some], self.real[some], texts)
        return column.item(0)

    def _unpack(self, texts: Texts) -> None:
        """From arrays to Python's values."""
        self.objects = [self._total(slot, texts) for slot in range(len(self.kind))]

    def _by_object(self, slot: Ints | None, column: Column) -> Folded:
        """As the interpreter does, row by row."""
        objects, step = self.objects, self.step
        assert objects is not None
        given = column.to_list()
        slots = [0] * len(given) if slot is None else slot.tolist()
        out: list[Value] = []
        pick: list[int] = []
        for row, (s, value) in enumerate(zip(slots, given, strict=True)):
            before: Any = objects[s]
            fresh = self.adds_durations and not self.begun[s] and isinstance(value, timedelta)
            try:
                total: Any = value if before is UNSET or fresh else step(before, value)
            except ValueFault as fault:
                raise RowFault(row, fault) from fault
            self.begun[s] = True
            objects[s] = total
            out.append(total)
            pick.append(self._pick(s, row, before, value, total))
        return Folded(guessed(out, column.texts), np.array(pick, np.int64))

    def _pick(self, s: int, row: int, before: Any, value: Any, total: Any) -> int:
        if self.explains_all:
            return ALL
        if self.is_product:
            if is_odd(value):
                self.odd[s] = True
            elif value == 0 and self.mark[s] == 0:
                self.mark[s], self.at[s] = 1, row
            if self.odd[s] or self.mark[s] == 0:
                return ALL
        else:
            if total is None or total != total:
                return ALL
            if before is UNSET or total != before:
                self.mark[s], self.at[s] = 1, row
        if self.mark[s] == 2:
            return NOTHING
        return int(self.at[s]) if self.at[s] >= 0 else BEFORE

    def save(self) -> State:
        """The totals of all slots."""
        objects = None
        if self.objects is not None:
            known = [None if v is UNSET else v for v in self.objects]
            objects = from_values(known, "any", Texts())
            unset = [v is UNSET for v in self.objects]
            self.kind[:] = np.where(unset, UNSET_YET, INTEGER)
        return {
            **{name: getattr(self, name) for name in _ARRAYS},
            "unit": self.unit,
            "objects": objects,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""
        for name in _ARRAYS:
            setattr(self, name, state[name])
        self.unit = state["unit"]
        if state["objects"] is not None:
            known = state["objects"].to_list()
            unset = (self.kind == UNSET_YET).tolist()
            self.objects = [UNSET if u else v for v, u in zip(known, unset, strict=True)]


_ARRAYS = ("kind", "whole", "real", "truth", "odd", "mark", "at", "begun")


def number_column(kind: Ints, whole: Ints, real: Floats, unit: str, texts: Texts) -> Column:
    """Numbers as a column: integers, floats, or Python's own values where both are there."""
    wholes, reals = kind == INTEGER, kind == FLOAT
    if not reals.any():
        return Column(unit, whole, None if wholes.all() else wholes, texts)
    if not wholes.any():
        return Column("float", real, None if reals.all() else reals, texts)
    pairs = zip(kind.tolist(), whole.tolist(), real.tolist(), strict=True)
    some = [x if k == INTEGER else y if k == FLOAT else None for k, x, y in pairs]
    return from_values(some, "any", texts)

"""Running totals, slot by slot: numbers in arrays; whatever else as the interpreter has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from whence.engine.functions.arithmetic import is_zero
from whence.engine.kernels.columns.column import Bools, Column, Ints, from_values, guessed
from whence.engine.kernels.columns.slot_table import SlotTable
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
from whence.engine.processors.cumulate import UNSET, Cumulate
from whence.engine.values import Value, ValueFault, as_condition, is_odd

__all__ = [
    "OPERATIONS",
    "Changed",
    "Folded",
    "Totals",
    "inputs_of",
    "number_column",
    "numeric",
]

Floats = npt.NDArray[np.float64]

OPERATIONS = {"add": ADD, "product": PRODUCT, "min": MIN, "max": MAX}
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


class Totals(SlotTable):
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
        first: with what a slot begins: the kind of its total, the integer, the float.
        kind, whole, real: the same of every slot now.
        truth: the total of every slot, if they are conditions.
        odd: whether it keeps a zero from deciding.
        mark: what decides it: nothing yet 0, an input 1, the start value 2.
        at: the row of this batch that decided it, -1 for none.
        begun: whether it had an input, where totals are Python's.
    """

    kind: Ints
    whole: Ints
    real: Floats
    truth: Bools
    odd: Bools
    mark: Ints
    at: Ints
    begun: Bools

    def __init__(self, declared: Cumulate) -> None:
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
        self.first = _first(self.start)
        kind, whole, real = self.first
        truth = as_condition(self.start) if self.is_logical else False
        mark = 2 if self.is_extreme and self.start is not UNSET else 0
        if (self.is_logical and truth is self.decisive) or (
            self.is_product and is_zero(self.start)
        ):
            mark = 2
        odd = self.is_product and is_odd(self.start)
        self.objects: list[Value] | None = None
        fills = {"kind": kind, "whole": whole, "real": real, "truth": truth, "odd": odd}
        super().__init__(0, **fills, mark=mark, at=-1, begun=False)

    def forget(self) -> None:
        """Begin anew."""
        super().forget()
        self.unit: str | None = {INTEGER: "integer", FLOAT: "float"}.get(self.first[0])
        known = self.start is UNSET and self.name in OPERATIONS
        self.objects = [] if self.first[0] == UNSET_YET and not known else None

    def grow(self, slots: int) -> None:
        """Let there be so many slots, each with the start value."""
        super().grow(slots)
        if self.objects is not None:
            self.objects += [self.start] * (len(self) - len(self.objects))

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
        kind, whole, pick = (np.empty(count, np.int64) for _ in range(3))
        real = np.empty(count, np.float64)
        slots = _NO_INTS if slot is None else slot
        totals = (self.kind, self.whole, self.real, self.odd, self.mark, self.at)
        found = (kind, whole, real, pick)
        operation = OPERATIONS[self.name]
        refused = fold_numbers(operation, slots, *inputs_of(column), *totals, *found)
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

    def save(self) -> dict[str, Any]:
        objects = None
        if self.objects is not None:
            known = [None if v is UNSET else v for v in self.objects]
            objects = from_values(known, "any", Texts())
            unset = [v is UNSET for v in self.objects]
            self.kind[:] = np.where(unset, UNSET_YET, INTEGER)
        return {**super().save(), "unit": self.unit, "objects": objects}

    def load(self, state: Mapping[str, Any]) -> None:
        super().load(state)
        self.unit = state["unit"]
        if state["objects"] is not None:
            known = state["objects"].to_list()
            unset = (self.kind == UNSET_YET).tolist()
            self.objects = [UNSET if u else v for v, u in zip(known, unset, strict=True)]


def inputs_of(column: Column) -> tuple[bool, Ints, Floats, Bools]:
    """Numbers as the loops take them: whether they are floats, integers, floats, which are there.

    What they are not is empty, and so are the last if all are there.
    """
    valid = _NO_BOOLS if column.valid is None else column.valid
    if column.kind == "float":
        return True, _NO_INTS, column.data, valid
    return False, column.data, _NO_FLOATS, valid


def _first(start: Any) -> tuple[int, int, float]:
    """A start value as the kind of a total, the integer and the float."""
    if start is None:
        return MISSING, 0, 0.0
    if type(start) is int:
        return INTEGER, start, 0.0
    if type(start) is float:
        return FLOAT, 0, start
    return UNSET_YET, 0, 0.0


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

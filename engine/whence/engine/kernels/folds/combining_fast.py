"""Which way slices are combined; and ``and``, ``or`` and ``count`` on arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whence.engine.functions import FUNCTIONS
from whence.engine.kernels.columns.column import Bools, Column, Ints
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.expressions.conditions import as_conditions
from whence.engine.kernels.expressions.expression import RowFault
from whence.engine.kernels.folds.combining import (
    ALL_HEADS,
    HEADS,
    INPUTS,
    NOBODY,
    PICKED,
    PICKED_EVENTS,
    Changes,
    Combined,
    Combining,
)
from whence.engine.kernels.folds.combining_numbers import Extremes, Folds
from whence.engine.kernels.kernel import State
from whence.engine.values.jit import jit

__all__ = ["combining"]


def combining(name: str, texts: Texts, **options: bool) -> Combining:
    """What keeps the heads of slices and says what they give together."""
    if name in ("and", "or", "count"):
        return _Logical(name, texts, **options)
    if name in ("add", "product"):
        return Folds(name, texts, **options)
    if name in ("min", "max"):
        return Extremes(name, texts, **options)
    return Combining(name, texts, **options)


class _Slices(SlotTable):
    outer: Ints
    decisive: Bools
    speaks: Bools
    after: Ints


class _Outers(SlotTable):
    first: Ints
    newest: Ints
    speaking: Ints


class _Logical(Combining):
    """Which slices are decisive, and which of them appeared first, for every outer slot."""

    def __init__(self, name: str, texts: Texts, **options: bool) -> None:
        super().__init__(name, texts, **options)
        self.counts = name == "count"
        self.absorbing = False if self.counts else FUNCTIONS[name].absorbing
        self.slices = _Slices(0, outer=0, decisive=False, speaks=False, after=0)
        self.outers = _Outers(1, first=-1, newest=-1, speaking=0)

    def begin(self, outer: Ints, keys: Column) -> None:
        """New slices: each follows the one of its outer slot that appeared before it."""
        start = len(self.slices)
        self.slices.grow(start + len(outer))
        self.outers.grow(int(outer.max(initial=0)) + 1)
        if outer.any():
            self.slices.outer[start:] = outer
        _link(start, outer, self.slices.after, self.outers.newest)

    def combine(self, outers: Ints, changes: Changes) -> Combined:
        """The first decisive slice is picked; without one, all that speak."""
        decides = np.zeros(len(changes.row), np.bool_)
        if not self.counts:
            decides = changes.headed & (self._conditions(changes) == self.absorbing)
        self.outers.grow(int(outers.max(initial=0)) + 1)
        pick = np.empty(len(outers), np.int64)
        speaking = np.empty(len(outers), np.int64)
        changed = (changes.row, changes.slot, changes.headed, decides)
        slices, outer = self.slices, self.outers
        known = (slices.outer, slices.decisive, slices.speaks, slices.after)
        _decide(outers, *changed, *known, outer.first, outer.speaking, pick, speaking)
        irregular = self.options["irregular"]
        support = np.zeros(len(pick), np.uint8)
        support[pick >= 0] = PICKED_EVENTS if irregular else PICKED
        support[pick == ALL_HEADS] = INPUTS if irregular else HEADS
        if self.counts:
            return Combined(Column("integer", speaking, None, self.texts), pick, support)
        values = (pick >= 0) == self.absorbing
        return Combined(Column("boolean", values, None, self.texts), pick, support)

    def save(self) -> State:
        return {**self.slices.save(), **self.outers.save()}

    def load(self, outer: Ints, keys: Column, state: Mapping[str, Any]) -> None:
        self.slices.load(state)
        self.outers.load(state)

    def _conditions(self, changes: Changes) -> Bools:
        """The heads as conditions; what is none is refused at the row that it came with."""
        try:
            return as_conditions(changes.values)
        except RowFault as fault:
            raise RowFault(int(changes.row[fault.row]), fault.fault) from fault


@jit
def _link(start: int, owners: Ints, after: Ints, newest: Ints) -> None:
    """Note which slice of its outer slot each follows; 0, the first of all, follows none."""
    for number in range(len(owners)):
        slot, owner = start + number, owners[number]
        if newest[owner] >= 0:
            after[newest[owner]] = slot
        newest[owner] = slot


@jit
def _decide(
    outers: Ints,
    change_row: Ints,
    change_slot: Ints,
    headed: Bools,
    decides: Bools,
    outer: Ints,
    decisive: Bools,
    speaks: Bools,
    after: Ints,
    first: Ints,
    speaking: Ints,
    pick: Ints,
    counted: Ints,
) -> None:
    """Take in the changes of every row, then note who is picked."""
    at = 0
    for row in range(len(outers)):
        while at < len(change_row) and change_row[at] == row:
            if headed[at]:
                slot = change_slot[at]
                owner = outer[slot]
                if not speaks[slot]:
                    speaks[slot] = True
                    speaking[owner] += 1
                if decides[at] and not decisive[slot]:
                    decisive[slot] = True
                    if first[owner] < 0 or slot < first[owner]:
                        first[owner] = slot
                elif decisive[slot] and not decides[at]:
                    decisive[slot] = False
                    if first[owner] == slot:
                        slot = after[slot]
                        while slot > 0 and not decisive[slot]:
                            slot = after[slot]
                        first[owner] = slot if slot > 0 else -1
            at += 1
        owner = outers[row]
        counted[row] = speaking[owner]
        if speaking[owner] == 0:
            pick[row] = NOBODY
        elif first[owner] < 0:
            pick[row] = ALL_HEADS
        else:
            pick[row] = first[owner]

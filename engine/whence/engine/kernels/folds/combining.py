"""What the slices of a Slice give together, row after row.

`Combined` says for every row the value, which slice is picked, and what supports it. The general
way asks the interpreter's own aggregates; the ways below it do the same on arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from whence.engine.aggregates import AGGREGATES, Aggregate
from whence.engine.kernels.columns.column import Bools, Column, Ints, from_values, guessed
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.expressions.expression import RowFault
from whence.engine.kernels.kernel import State
from whence.engine.language.events import Event, Stream, Term
from whence.engine.values import Value, ValueFault

__all__ = [
    "ALL_HEADS",
    "HEADS",
    "INPUTS",
    "NOBODY",
    "PICKED",
    "PICKED_EVENTS",
    "Changes",
    "Combined",
    "Combining",
]

ALL_HEADS, NOBODY = -1, -2
"""Instead of a picked slot: every slice that speaks, and that none does."""
PICKED, PICKED_EVENTS, HEADS, INPUTS = 1, 2, 4, 8
"""What supports a value: the picked head, all events of its slice, all heads, all inputs."""


class Changes(NamedTuple):
    """Slices that changed, in order.

    Attributes:
        row: the row after which it counts.
        slot: the slice.
        values: its new head, if there is one.
        headed: whether there is one; else it only has new events.
    """

    row: Ints
    slot: Ints
    values: Column
    headed: Bools


class Combined(NamedTuple):
    """What came out, row by row."""

    values: Column
    pick: Ints
    support: npt.NDArray[np.uint8]


class Combining:
    """The aggregates of all outer slots.

    Args:
        name: what combines them.
        options: as the interpreter's aggregates take them.
        texts: the numbers of texts.
    """

    def __init__(self, name: str, texts: Texts, **options: bool) -> None:
        self.name = name
        self.texts = texts
        self.options = options
        self.aggregates: dict[int, Aggregate] = {}
        self.local: list[int] = []
        self.owners: list[int] = []
        self.sizes: dict[int, int] = {}

    def begin(self, outer: Ints, keys: Column) -> None:
        """New slices, in the order of their numbers."""
        for owner, key in zip(outer.tolist(), keys.to_list(), strict=True):
            size = self.sizes.get(owner, 0)
            self.sizes[owner] = size + 1
            self.local.append(size)
            self.owners.append(owner)
            self._of(owner).new_slice(key)

    def _of(self, owner: int) -> Aggregate:
        found = self.aggregates.get(owner)
        if found is None:
            found = self.aggregates[owner] = AGGREGATES[self.name](
                tracked=True, all_witnesses=False, **self.options
            )
        return found

    def combine(self, outers: Ints, changes: Changes) -> Combined:
        """Take in the changes and say what all slices of each row's outer slot give."""
        outer = outers.tolist()
        values: list[Value] = []
        picks = np.empty(len(outer), np.int64)
        supports = np.zeros(len(outer), np.uint8)
        heads = changes.values.to_list()
        slots, headed = changes.slot.tolist(), changes.headed.tolist()
        ends = np.searchsorted(changes.row, np.arange(len(outer)), side="right").tolist()
        at = 0
        for row, owner in enumerate(outer):
            aggregate = self._of(owner)
            try:
                for change in range(at, ends[row]):
                    self._update(aggregate, slots[change], heads[change], headed=headed[change])
                values.append(aggregate.value())
            except ValueFault as fault:
                raise RowFault(row, fault) from fault
            at = ends[row]
            picks[row], supports[row] = self._terms(aggregate)
        return Combined(guessed(values, self.texts), picks, supports)

    def save(self) -> State:
        heads = [
            self.aggregates[owner].heads[local]
            for owner, local in zip(self.owners, self.local, strict=True)
        ]
        values = [None if head is None else head.value for head in heads]
        return {
            "heads": from_values(values, "any", self.texts),
            "headed": np.array([head is not None for head in heads], np.bool_),
        }

    def load(self, outer: Ints, keys: Column, state: Mapping[str, Any]) -> None:
        """Begin all slices again and give each its head."""
        self.begin(outer, keys)
        told = zip(outer.tolist(), state["heads"].to_list(), state["headed"].tolist(), strict=True)
        for slot, (owner, head, headed) in enumerate(told):
            if headed:
                self._update(self._of(owner), slot, head, headed=True)

    def _update(self, aggregate: Aggregate, slot: int, head: Value, *, headed: bool) -> None:
        local = self.local[slot]
        event = Event(head, stream=_PICKED, position=slot) if headed else aggregate.heads[local]
        events: Term = None
        if self.options["irregular"]:
            events = Event(None, stream=_EVENTS, position=slot)
        aggregate.update(local, event, events)

    def _terms(self, aggregate: Aggregate) -> tuple[int, int]:
        if not aggregate.speaking:
            return NOBODY, 0
        why, support = aggregate.terms(_ALL, _INPUTS)
        assert isinstance(why, Event)
        pick = ALL_HEADS if why is _ALL else why.position
        assert isinstance(pick, int)
        return pick, _bits(why if support is None else support)


_PICKED, _EVENTS = Stream("picked"), Stream("events")
_ALL, _INPUTS = Event(None, stream=Stream("heads")), Event(None, stream=Stream("inputs"))


def _bits(term: Term) -> int:
    """Which of the four a support is made of."""
    if term is None:
        return 0
    if isinstance(term, tuple):
        bits = 0
        for part in term:
            bits |= _bits(part)
        return bits
    assert isinstance(term, Event)
    if term is _ALL:
        return HEADS
    if term is _INPUTS:
        return INPUTS
    return PICKED if term.stream is _PICKED else PICKED_EVENTS

"""A Slice in two places: P where the events of its slices are, the aggregate where all meet.

`SliceInside` runs P for the keys of one partition and notes what the aggregate must know: which
slices began, and which heads changed in a way that may change what all slices give together. The
rest of a slice's heads matter only to itself. `SliceTogether` takes these notes, in order of
position, instead of events. Slices are numbered there again, in order of first appearance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from whence.engine.functions import FUNCTIONS
from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Bools, Column, Ints
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.expressions.conditions import as_conditions
from whence.engine.kernels.folds.combining import ALL_HEADS, HEADS, Changes, Combined, Combining
from whence.engine.kernels.kernel import Place
from whence.engine.kernels.processors.slice import SliceKernel
from whence.engine.kernels.slots import Sliced, Slots
from whence.engine.kernels.trails.reasons import Reasons
from whence.engine.kernels.trails.slice_trails import Named
from whence.engine.language.events import Position
from whence.engine.values.jit import jit

__all__ = ["COMBINES", "Notes", "SliceInside", "SliceTogether"]

COMBINES = ("and", "or", "count")
"""The aggregates that need to know of few heads only."""

_NONE = np.empty(0, np.int64)


class Notes(NamedTuple):
    """What one partition tells of its slices, in order of position.

    Attributes:
        began: where each slice that began has its first event, in the order of their numbers.
        at: the positions after which a head counts.
        slot: the slices whose heads these are.
        decides: whether each is the value that decides the aggregate.
        head: where the record keeps each.
    """

    began: Ints
    at: Ints
    slot: Ints
    decides: Bools
    head: Ints


class _NotedSlots(Slots):
    """Remembers where the rows of a batch were sent."""

    sent: Sliced | None = None

    def send(self, outer: Ints | None, keys: Column) -> Sliced:
        self.sent = super().send(outer, keys)
        return self.sent


class _Noted(Combining):
    """Combines nothing; remembers the heads that changed."""

    def begin(self, outer: Ints, keys: Column) -> None:
        """Nothing is kept of single slices."""

    def combine(self, outers: Ints, changes: Changes) -> Combined:
        """Every row as if all heads counted: nobody looks at it."""
        self.changes = changes
        count = len(outers)
        nothing = Column("boolean", np.zeros(count, np.bool_), None, self.texts)
        return Combined(nothing, np.full(count, ALL_HEADS), np.full(count, HEADS, np.uint8))


class _Told(SlotTable):
    """Which slices were told of, and which heads decided when they were."""

    spoke: Bools
    decisive: Bools


class SliceInside(SliceKernel):
    """The slices of some keys; the moments of its input are positions in the whole log."""

    def reset(self) -> None:
        super().reset()
        self.slots: _NotedSlots = _NotedSlots(self.run.texts)
        self.noted = _Noted(self.declared.combine, self.run.texts)
        self.combining = self.noted
        self.told = _Told(0, spoke=False, decisive=False)

    def _outer(self, moment: int) -> Position:
        assert self.front is not None
        return int(self.front.moment[moment - self.first_row])

    def _top(self, moments: Ints) -> Ints:
        assert self.front is not None
        return self.front.moment[moments - self.first_row]

    def note(self, positions: Ints) -> Notes:
        """What the rest of the world must know of the batch at these positions.

        Raises:
            RowFault: a head that is no condition.
        """
        changes = self.noted.changes
        sent = self.slots.sent
        assert sent is not None
        self.told.grow(len(self.slots))
        at = positions[changes.row]
        head = np.full(len(at), -1)
        heads = self.trails.heads
        if heads is not None and heads.changes:
            # The Slice counts its own outputs; here they are where their inputs are in the log.
            _, slots, head = heads.changes.pop()
            heads.changes.append((at, slots, head))
        decides = np.zeros(len(at), np.bool_)
        if self.declared.combine != "count":
            absorbing = FUNCTIONS[self.declared.combine].absorbing
            decides = as_conditions(changes.values) == absorbing
        told = np.zeros(len(at), np.bool_)
        _choose(changes.slot, decides, self.told.spoke, self.told.decisive, told)
        began = positions[sent.rows[sent.first]]
        return Notes(began, at[told], changes.slot[told], decides[told], head[told])


class SliceTogether(SliceKernel):
    """What all slices give together; the values of its input are not looked at."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.known: list[Ints] = []
        self.count = 0
        none = self._values(np.zeros(0, np.bool_))
        self.nobody = self.slots.send(None, none)
        self.coming = Changes(_NONE, _NONE, none, _NONE > 0)
        self.coming_heads = _NONE

    def _values(self, decides: Bools) -> Column:
        """Heads that are what the notes say of them."""
        counts = self.declared.combine == "count"
        absorbing = False if counts else FUNCTIONS[self.declared.combine].absorbing
        return Column("boolean", decides == absorbing, None, self.run.texts)

    def expect(self, first: int, pieces: Sequence[Notes]) -> None:
        """Take the notes of all partitions for the next events.

        Args:
            first: the position of the first of these events.
            pieces: one for each partition, always in the same order.
        """
        while len(self.known) < len(pieces):
            self.known.append(_NONE)
        began = np.concatenate([piece.began for piece in pieces])
        numbers = np.empty(len(began), np.int64)
        numbers[np.argsort(began)] = np.arange(self.count, self.count + len(began))
        self.count += len(began)
        edges = np.cumsum([0, *(len(piece.began) for piece in pieces)])
        for number in range(len(pieces)):
            mine = numbers[edges[number] : edges[number + 1]]
            self.known[number] = np.concatenate([self.known[number], mine])
        slot = np.concatenate([self.known[n][piece.slot] for n, piece in enumerate(pieces)])
        at = np.concatenate([piece.at for piece in pieces])
        order = np.argsort(at)
        decides = np.concatenate([piece.decides for piece in pieces])[order]
        headed = np.ones(len(at), np.bool_)
        self.coming = Changes(at[order] - first, slot[order], self._values(decides), headed)
        self.coming_heads = np.concatenate([piece.head for piece in pieces])[order]
        self.trails.grow(self.count)
        self.combining.begin(np.zeros(len(began), np.int64), self._values(began < 0))

    def _fed(self, front: Front) -> Batch:
        count = len(front)
        outers = np.zeros(count, np.int64)
        named = Named(self.coming, self.coming_heads, np.full(len(self.coming_heads), -1))
        combined = self.combining.combine(outers, self.coming)
        reasons = Reasons.nothing(count)
        if self.tracked:
            leading = self.trails.leading(front, self.nobody, combined.pick, None)
            empty = self.run.empty(slotted=True)
            reasons = self._lead(combined, outers, named, leading, empty, reasons.why, None)
        self.trails.remember(named, self.outputs)
        if self.trails.heads is not None:
            self.trails.heads.changes.clear()  # the partitions have told of them
        self.outputs += count
        return Batch(combined.values, front.moment, None, *reasons)


@jit
def _choose(slot: Ints, decides: Bools, spoke: Bools, decisive: Bools, told: Bools) -> None:
    """The heads that may change what all give together: the first of a slice, and decisive ones."""
    for change in range(len(slot)):
        s = slot[change]
        told[change] = decides[change] or decisive[s] or not spoke[s]
        spoke[s] = True
        decisive[s] = decides[change]

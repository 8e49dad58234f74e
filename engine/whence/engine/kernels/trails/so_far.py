"""All that came so far, instance by instance, as linked elements instead of growing sets.

An element leads to what it adds and to the element before it in its slot, so that each costs the
same however many came before. On a log read in order no element is needed at all: what came so far
is an interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import local
from typing import Any

import numpy as np

from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.columns.growing import grown, roomy
from whence.engine.kernels.kernel import Kept, Place, State
from whence.engine.kernels.trails.composing import linked, union
from whence.engine.kernels.trails.entries import WHOLE, Entries
from whence.engine.kernels.trails.trail import Gathered, Line, Nothing, Spans, Trail
from whence.engine.values.jit import jit

__all__ = ["SoFar", "latest", "previous", "settled_row"]


def previous(slot: Ints | None, count: int) -> Ints:
    """For every row the row before it in the same slot; -1 for the first.

    >>> previous(np.array([0, 1, 0, 0, 1]), 5)
    array([-1, -1,  0,  2,  1])
    """
    if slot is None:
        return np.arange(-1, count - 1)
    before = np.empty(count, np.int64)
    _previous(slot, _scratch_for(slot), before)
    return before


def latest(slot: Ints | None, chosen: Bools) -> Ints:
    """For every row the last chosen row of its slot up to and including it; -1 if there is none.

    >>> latest(np.array([0, 1, 0, 0, 1]), np.array([True, False, False, True, True]))
    array([ 0, -1,  0,  3,  4])
    """
    count = len(chosen)
    if slot is None:
        rows = np.where(chosen, np.arange(count), -1)
        return np.maximum.accumulate(rows) if count else rows
    found = np.empty(count, np.int64)
    _latest(slot, chosen, _scratch_for(slot), found)
    return found


class _Scratch(local):
    """A number for every slot, 0 between two calls: only the slots of a batch are looked at."""

    def __init__(self) -> None:
        self.last: Ints = np.zeros(64, np.int64)


_scratch = _Scratch()


def _scratch_for(slot: Ints) -> Ints:
    _scratch.last = roomy(_scratch.last, int(slot.max(initial=-1)) + 1)
    return _scratch.last


@jit
def _previous(slot: Ints, last: Ints, found: Ints) -> None:
    for row in range(len(slot)):
        found[row] = last[slot[row]] - 1
        last[slot[row]] = row + 1
    for row in range(len(slot)):
        last[slot[row]] = 0


@jit
def _latest(slot: Ints, chosen: Bools, last: Ints, found: Ints) -> None:
    for row in range(len(slot)):
        if chosen[row]:
            last[slot[row]] = row + 1
        found[row] = last[slot[row]] - 1
    for row in range(len(slot)):
        last[slot[row]] = 0


def settled_row(entries: Entries) -> Entries:
    """Entries as those of a single row, joined."""
    return entries.rows(np.zeros(len(entries.row), np.int64)).sorted()


class SoFar:
    """Everything that was added so far, for each slot.

    Args:
        place: where the kernel that asks stands.
        suffix: the name of the helper stream, if one is needed: ``total/so-far``.
    """

    def __init__(self, place: Place, suffix: str = "so-far") -> None:
        """Begin with nothing."""
        self.place = place
        self.suffix = suffix
        self.lines: tuple[Line, Line] | None = None
        self.kept: Kept | None = None
        self.last: Ints = np.full(1, -1)

    def add(
        self, slot: Ints | None, moment: Ints, why: Trail, sup: Trail, added: Bools | None = None
    ) -> tuple[Trail, Trail]:
        """Take in some rows; return for each where all rows of its slot up to it lead.

        Args:
            slot: the slot of each row; ``None`` if there is only one.
            moment: when each came.
            why: what each adds as explanation.
            sup: what each adds as support.
            added: which rows add anything; all, unless given.
        """
        count = len(moment)
        if not self.place.run.tracked or not count:
            return Nothing(count), Nothing(count)
        if self.place.window:
            return self._linked(slot, why, sup, added)
        if added is None and self.kept is None and slot is None:
            lines = self._lines(why, sup)
            if lines is not None:
                return lines
        self._grow(slot)
        if added is None:
            trail = self._chain(slot, moment, why, sup)
            return trail, trail
        rows = np.flatnonzero(added)
        held = np.full(count, self.last[0]) if slot is None else self.last[slot]
        before_why, before_sup = self._begun()
        own_why = why.take(rows)
        own_sup = own_why if sup is why else sup.take(rows)
        slots = None if slot is None else slot[rows]
        here = self._chain(slots, moment[rows], own_why, own_sup)
        last = latest(slot, added)
        of_row = np.full(count, -1)
        of_row[rows] = np.arange(len(rows))
        found = here.take(np.where(last >= 0, of_row[np.maximum(last, 0)], -1))
        kept = self.kept
        assert kept is not None
        waited = Spans.points(kept.target, WHOLE, np.where(last >= 0, -1, held))
        early = np.where(last >= 0, -1, 0)
        result_why = union(found, waited, None if before_why is None else before_why.take(early))
        result_sup = result_why
        if before_sup is not before_why:
            result_sup = union(
                found, waited, None if before_sup is None else before_sup.take(early)
            )
        assert result_why is not None
        assert result_sup is not None
        return result_why, result_sup

    def save(self) -> State:
        """What was added so far, as far as it is not in the record."""
        kept = None if self.kept is None else self.kept.name
        return {"lines": self.lines, "kept": kept, "last": self.last}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave; the run knows its kept streams already."""
        lines = state["lines"]
        self.lines = None if lines is None else (lines[0], lines[1])
        name = state["kept"]
        self.kept = None if name is None else self.place.run.kept[name]
        self.last = state["last"]

    def now(self, slot: Ints | None, count: int) -> Trail:
        """All that was added so far, as support, for some slots; not inside a Window."""
        rows = np.zeros(count, np.int64)
        begun = self._begun()[1]
        chain: Trail | None = None
        if self.kept is not None:
            self._grow(slot)
            last = self.last[rows] if slot is None else self.last[slot]
            chain = Spans.points(self.kept.target, WHOLE, last)
        return union(None if begun is None else begun.take(rows), chain) or Nothing(count)

    def _begun(self) -> tuple[Trail | None, Trail | None]:
        """What came before there was any element, while it was still an interval."""
        if self.lines is None:
            return None, None
        return self.lines

    def _lines(self, why: Trail, sup: Trail) -> tuple[Trail, Trail] | None:
        """On a log read in order: one interval, from its first event to this one."""
        found = []
        for number, trail in enumerate((why, sup)):
            if not isinstance(trail, Line) or not trail.sa == trail.sb == 1 or trail.b < trail.a:
                return None
            begun = self.lines[number] if self.lines is not None else trail
            if (begun.target, begun.fields) != (trail.target, trail.fields):
                return None
            if trail.a > begun.b + 1 and self.lines is not None:
                return None
            found.append(Line(trail.target, trail.fields, len(trail), begun.a, trail.b, 0, 1))
        self.lines = (_whole(found[0]), _whole(found[1]))
        if sup is why:
            return found[0], found[0]
        return found[0], found[1]

    def _grow(self, slot: Ints | None) -> None:
        if slot is not None and len(slot):
            self.last = grown(self.last, int(slot.max()) + 1, -1)

    def _chain(self, slot: Ints | None, moment: Ints, why: Trail, sup: Trail) -> Trail:
        """Keep an element for every row, linked to the one before it in its slot."""
        count = len(moment)
        if self.kept is None:
            self.kept = self.place.chain(self.suffix)
            assert self.kept is not None
        if not count:
            return Nothing(0)
        before = previous(slot, count)
        here = np.arange(count) if slot is None else slot
        places = self._places(moment)
        held = self.last[0] if slot is None else self.last[here]
        parent = np.where(before >= 0, places[np.maximum(before, 0)], held)
        link = Spans.points(self.kept.target, WHOLE, parent)
        extra_why, extra_sup = self._prefix(count)
        own_why = union(why, extra_why, link)
        own_sup = own_why
        if sup is not why or extra_sup is not extra_why:
            own_sup = union(sup, extra_sup, link)
        assert own_why is not None
        assert own_sup is not None
        trail = self.kept.add(self.place.top(moment), None, own_why, own_sup)
        if slot is None:
            self.last[0] = places[-1]
        else:
            self.last[slot] = places  # of several rows of a slot the last one stays
        return trail

    def _places(self, moment: Ints) -> Ints:
        """The positions that the elements will have."""
        assert self.kept is not None
        return self.kept.positions(self.place.top(moment))

    def _prefix(self, count: int) -> tuple[Trail | None, Trail | None]:
        """What came before the first element, while it was still an interval."""
        if self.lines is None:
            return None, None
        lines, self.lines = self.lines, None
        first = np.full(count, -1)
        first[0] = 0
        why = lines[0].take(first)
        return why, why if lines[0] is lines[1] else lines[1].take(first)

    def _linked(
        self, slot: Ints | None, why: Trail, sup: Trail, added: Bools | None
    ) -> tuple[Trail, Trail]:
        """Inside a Window everything is in this batch."""
        count = len(why)
        if added is None:
            parent = previous(slot, count)
            found = linked(why, parent)
            return found, found if sup is why else linked(sup, parent)
        rows = np.flatnonzero(added)
        parent = previous(None if slot is None else slot[rows], len(rows))
        of_row = np.full(count, -1)
        of_row[rows] = np.arange(len(rows))
        last = latest(slot, added)
        places = np.where(last >= 0, of_row[np.maximum(last, 0)], -1)
        chain = Gathered(linked(why.take(rows), parent), places)
        if sup is why:
            return chain, chain
        return chain, Gathered(linked(sup.take(rows), parent), places)


def _whole(line: Line) -> Line:
    """A line's last row as a line of its own."""
    last = line.b + (line.count - 1) * line.sb
    return Line(line.target, line.fields, 1, line.a, last, 0, 0)

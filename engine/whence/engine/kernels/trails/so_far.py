"""All that came so far, instance by instance, as linked elements instead of growing sets.

On a log read in order no element is needed at all: what came so far is an interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import local
from typing import Any

import numpy as np

from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.columns.growing import roomy
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.kernel import Place
from whence.engine.kernels.trails.composing import linked, union
from whence.engine.kernels.trails.entries import Entries
from whence.engine.kernels.trails.linked_stream import LinkedStream
from whence.engine.kernels.trails.reasons import Reasons, all_of, together
from whence.engine.kernels.trails.trail import Gathered, Line, Nothing, Trail
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


class SoFar(SlotTable):
    """Everything that was added so far, for each slot.

    Args:
        place: where the kernel that asks stands.
        suffix: the name of the helper stream, if one is needed: ``total/so-far``.

    Attributes:
        lines: what came before there was any element, while it was still an interval.
        last: the last element of every slot, -1 for none.
    """

    last: Ints

    def __init__(self, place: Place, suffix: str = "so-far") -> None:
        super().__init__(1, last=-1)
        self.place = place
        self.stream = LinkedStream(place, suffix)
        self.lines: Reasons | None = None

    def add(
        self, slot: Ints | None, moment: Ints, reasons: Reasons, added: Bools | None = None
    ) -> Reasons:
        """Take in some rows; return for each where all rows of its slot up to it lead.

        Args:
            slot: the slot of each row; ``None`` if there is only one.
            moment: when each came.
            reasons: what each adds.
            added: which rows add anything; all, unless given.
        """
        count = len(moment)
        if not self.place.run.tracked or not count:
            return Reasons(Nothing(count), Nothing(count))  # compared, as whatever was added
        if self.place.window:
            return _in_batch(slot, reasons, added, count)
        if added is None and self.stream.kept is None and slot is None:
            lines = self._lines(reasons)
            if lines is not None:
                return lines
        if slot is not None:
            self.grow(int(slot.max()) + 1)
        if added is None:
            return Reasons.of(self._chain(slot, moment, reasons))
        rows = np.flatnonzero(added)
        held = np.full(count, self.last[0]) if slot is None else self.last[slot]
        begun = self.lines
        slots = None if slot is None else slot[rows]
        here = self._chain(slots, moment[rows], reasons.take(rows))
        last = latest(slot, added)
        found = Reasons.of(here.take(_numbered(rows, last)))
        waited = Reasons.of(self.stream.link(np.where(last >= 0, -1, held)))
        early = np.where(last >= 0, -1, 0)
        return all_of(found, waited, None if begun is None else begun.take(early))

    def now(self, slot: Ints | None, count: int) -> Trail:
        """All that was added so far, as support, for some slots; not inside a Window."""
        rows = np.zeros(count, np.int64)
        chain: Trail | None = None
        if self.stream.kept is not None:
            if slot is not None:
                self.grow(int(slot.max(initial=-1)) + 1)
            chain = self.stream.link(self.last[rows] if slot is None else self.last[slot])
        begun = None if self.lines is None else self.lines.sup.take(rows)
        return union(begun, chain) or Nothing(count)

    def save(self) -> dict[str, Any]:
        """What was added so far, as far as it is not in the record."""
        lines = None if self.lines is None else self.lines[:2]
        return {"lines": lines, "kept": self.stream.save(), **super().save()}

    def load(self, state: Mapping[str, Any]) -> None:
        lines = state["lines"]
        self.lines = None if lines is None else Reasons(*lines)
        self.stream.load(state["kept"])
        super().load(state)

    def _lines(self, reasons: Reasons) -> Reasons | None:
        """On a log read in order: one interval, from its first event to this one."""
        found = []
        for number, trail in enumerate(reasons[:2]):
            if not isinstance(trail, Line) or not trail.sa == trail.sb == 1 or trail.b < trail.a:
                return None
            begun = self.lines[number] if self.lines is not None else trail
            assert isinstance(begun, Line)
            if (begun.target, begun.fields) != (trail.target, trail.fields):
                return None
            if trail.a > begun.b + 1 and self.lines is not None:
                return None
            found.append(Line(trail.target, trail.fields, len(trail), begun.a, trail.b, 0, 1))
        why, sup = found
        self.lines = Reasons(_whole(why), _whole(sup))
        return Reasons(why, why if reasons.agree else sup)

    def _chain(self, slot: Ints | None, moment: Ints, reasons: Reasons) -> Trail:
        """Keep an element for every row, linked to the one before it in its slot."""
        self.stream.begun()
        count = len(moment)
        if not count:
            return Nothing(0)
        before = previous(slot, count)
        places = self.stream.positions(moment)
        held = self.last[0] if slot is None else self.last[slot]
        link = self.stream.link(np.where(before >= 0, places[np.maximum(before, 0)], held))
        prefix: Reasons | None = None
        if self.lines is not None:
            first = np.full(count, -1)
            first[0] = 0
            prefix, self.lines = self.lines.take(first), None
        trail = self.stream.add(moment, all_of(reasons, prefix, Reasons.of(link)))
        if slot is None:
            self.last[0] = places[-1]
        else:
            self.last[slot] = places  # of several rows of a slot the last one stays
        return trail


def _in_batch(slot: Ints | None, reasons: Reasons, added: Bools | None, count: int) -> Reasons:
    """Inside a Window everything is in this batch."""
    if added is None:
        before = previous(slot, count)
        return together(lambda own: linked(own, before), reasons)
    rows = np.flatnonzero(added)
    parent = previous(None if slot is None else slot[rows], len(rows))
    places = _numbered(rows, latest(slot, added))
    return together(lambda own: Gathered(linked(own.take(rows), parent), places), reasons)


def _numbered(rows: Ints, chosen: Ints) -> Ints:
    """Rows as they are numbered among some of the rows; -1 stays -1."""
    number = np.full(len(chosen), -1)
    number[rows] = np.arange(len(rows))
    return np.where(chosen >= 0, number[np.maximum(chosen, 0)], -1)


def _whole(line: Line) -> Line:
    """A line's last row as a line of its own."""
    last = line.b + (line.count - 1) * line.sb
    return Line(line.target, line.fields, 1, line.a, last, 0, 0)

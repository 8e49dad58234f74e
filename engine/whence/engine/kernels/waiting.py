"""The fronts whose verdict is not known yet, slot by slot.

Mostly it is enough to know how many wait and what all of them together lead to. Where every one
counts (`U`, or a log that will be closed) their rows are kept, each with its own trails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.trails.composing import reaching
from whence.engine.kernels.trails.entries import NONE, Entries, join_entries
from whence.engine.kernels.trails.reasons import Reasons, joined_reasons
from whence.engine.kernels.trails.so_far import settled_row
from whence.engine.kernels.trails.trail import Sets, Trail

__all__ = ["Rows", "Waiting"]

_ROOM = 4096
"""So many may be outdated before it is worth looking."""
_PART, _EVERY = 2**16, 2**62
"""So many entries are one part."""

_Open = tuple[Ints, Entries]
"""How many bursts the slot of each entry had had when it came, and the entries."""


class Rows(NamedTuple):
    """Rows that wait, in the order in which they came.

    Attributes:
        slot: where each belongs.
        turn: how many bursts its slot had had when it came.
        pipes: what explains and supports each, pipe by pipe.
    """

    slot: Ints
    turn: Ints
    pipes: tuple[Reasons, ...]

    def take(self, rows: Ints) -> Rows:
        """Some of the rows, such that they last."""
        return Rows(self.slot[rows], self.turn[rows], _taken(self.pipes, rows))


class _Late(NamedTuple):
    """The rows that came last, not followed yet: the next batch may decide them.

    Attributes:
        slot: of every row of their batch; ``None`` if there is only one.
        rows: those that wait.
        turn: how many bursts the slot of each had had; one number if there is only one slot.
        sups: what supports every row of the batch.
    """

    slot: Ints | None
    rows: Ints
    turn: Ints
    sups: tuple[Trail, ...]


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """One after the other."""
    if len(parts) == 1:
        return parts[0]
    slot = np.concatenate([part.slot for part in parts])
    turn = np.concatenate([part.turn for part in parts])
    pipes = zip(*(part.pipes for part in parts), strict=True)
    return Rows(slot, turn, tuple(joined_reasons(pipe) for pipe in pipes))


def _taken(pipes: Sequence[Reasons], rows: Ints) -> tuple[Reasons, ...]:
    return tuple(reasons.take(rows).lasting() for reasons in pipes)


class Waiting(SlotTable):
    """What waits.

    Args:
        tracked: whether trails are kept at all.
        each: whether every row is kept, or only what all of a slot lead to.

    Attributes:
        count: how many wait in each slot.
        turn: how many bursts each slot has had.
    """

    count: Ints
    turn: Ints

    def __init__(self, *, tracked: bool, each: bool) -> None:
        super().__init__(1, count=0, turn=0)
        self.tracked = tracked
        self.each = each
        self.rows: list[Rows] = []
        self.open: list[_Open] = []
        self.late: _Late | None = None
        self.held = 0
        self.tidied = 0

    def add(self, slot: Ints | None, rows: Ints, pipes: Sequence[Reasons]) -> None:
        """Let some rows of a batch wait; the caller counts them.

        Args:
            slot: the slot of every row of the batch; ``None`` if there is only one.
            rows: those that wait; without slots these are neighbours.
            pipes: what explains and supports every row of the batch, pipe by pipe.
        """
        if not self.tracked or not len(rows):
            return
        if self.each:
            slots = np.zeros(len(rows), np.int64) if slot is None else slot[rows]
            self.rows.append(Rows(slots, self.turn[slots], _taken(pipes, rows)))
            self.held += len(rows)
        else:
            self._settle()
            turn = self.turn[:1] if slot is None else self.turn[slot[rows]]
            self.late = _Late(
                slot, rows, turn.copy(), tuple(dict.fromkeys(pipe.sup for pipe in pipes))
            )
        if self.held > 2 * self.tidied + _ROOM:
            self.tidy()

    def _settle(self) -> None:
        """Follow the rows that came last, as far as they wait still: most do not any more."""
        late, self.late = self.late, None
        if late is None:
            return
        slots = np.zeros(1, np.int64) if late.slot is None else late.slot[late.rows]
        wait = self.turn[slots] == late.turn
        if not wait.any():
            return
        rows = late.rows if late.slot is None else late.rows[wait]
        found = join_entries([_together(trail, late.slot, rows) for trail in late.sups])
        self.open.append((self.turn[found.row], found))
        self.held += len(found.row)

    def burst(self, slots: Ints) -> None:
        """Nothing waits any more in these slots; each is named once."""
        self.turn[slots] += 1

    def tidy(self, *, join: bool = False) -> None:
        """Forget what does not wait any more.

        Args:
            join: join all that can be joined, not only neighbours.
        """
        self._settle()
        if self.each and self.rows:
            rows = joined_rows(self.rows)
            live = np.flatnonzero(rows.turn == self.turn[rows.slot])
            self.rows = [rows if len(live) == len(rows.slot) else rows.take(live)]
            self.held = len(live)
        elif self.open:
            self.open = self._still_open(_EVERY if join else _PART)
            if join:
                # In the order of arrival what can be joined mostly stands together, so that to
                # sort, which costs more than all the rest, can wait until somebody asks.
                found = self.open[0][1].sorted()
                self.open = [(self.turn[found.row], found)]
            self.held = sum(len(turn) for turn, _ in self.open)
        self.tidied = self.held

    def _still_open(self, size: int) -> list[_Open]:
        """What waits still, in parts of about this size: what is not small is not copied again."""
        parts: list[_Open] = []
        some: list[_Open] = []
        for turn, found in self.open:
            live = np.flatnonzero(turn == self.turn[found.row])
            if len(live) == len(turn):
                some.append((turn, found))
            elif len(live):
                some.append((turn[live], found.where(live)))
            if sum(len(turn) for turn, _ in some) >= size:
                parts.append(self._one_part(some))
                some = []
        return [*parts, self._one_part(some)] if some or not parts else parts

    def _one_part(self, parts: list[_Open]) -> _Open:
        if len(parts) == 1:
            return parts[0]
        found = join_entries([found for _, found in parts]).joined()
        return self.turn[found.row], found

    def all_rows(self) -> Rows | None:
        """Every row that waits, in order; ``None`` if none was ever kept."""
        self.tidy()
        return self.rows[0] if self.rows else None

    def entries(self) -> Entries:
        """What everything that waits leads to."""
        self.tidy(join=True)
        if not self.each:
            return self.open[0][1] if self.open else NONE
        if not self.rows or not self.held:
            return NONE
        every = np.arange(self.held)
        return join_entries([trail.entries(every) for _, trail, _ in self.rows[0].pipes])

    def drop(self) -> None:
        """Nothing waits any more at all."""
        self.rows, self.open, self.late = [], [], None
        self.held = self.tidied = 0
        self.count[:] = 0

    def save(self) -> dict[str, Any]:
        self.tidy(join=True)
        state: dict[str, Any] = {"waiting": self.count, "turn": self.turn}
        if self.each and self.rows:
            rows = self.rows[0]
            state["slot"] = rows.slot
            for pipe, reasons in enumerate(rows.pipes):
                state[f"why{pipe}"] = reasons.why.settle()
                if not reasons.agree:
                    state[f"sup{pipe}"] = reasons.sup.settle()
        elif self.open:
            state["open"] = Sets(np.array([0, self.held]), self.open[0][1])
        return state

    def load(self, state: Mapping[str, Any]) -> None:
        super().load({"count": state["waiting"], "turn": state["turn"]})
        slot, opened = state.get("slot"), state.get("open")
        if isinstance(slot, np.ndarray):
            pipes: list[Reasons] = []
            while (why := state.get(f"why{len(pipes)}")) is not None:
                pipes.append(Reasons(why, state.get(f"sup{len(pipes)}", why)))
            self.rows = [Rows(slot, self.turn[slot], tuple(pipes))]
            self.held = self.tidied = len(slot)
        elif isinstance(opened, Sets):
            self.open = [(self.turn[opened.held.row], opened.held)]
            self.held = self.tidied = len(opened.held.row)


def _together(trail: Trail, slot: Ints | None, rows: Ints) -> Entries:
    """What some rows of a batch lead to, numbered by slot."""
    if slot is None:
        found = reaching(trail, rows[:1], rows[-1:]).entries(np.zeros(1, np.int64))
        return settled_row(found)
    found = trail.entries(rows)
    return found.rows(slot[rows][found.row])

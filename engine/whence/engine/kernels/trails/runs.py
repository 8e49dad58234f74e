"""Rows in runs: neighbours that lead to the same place are said once, however many they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.trails.entries import Entries, join_entries
from whence.engine.kernels.trails.trail import Gathered, Nothing, Trail

__all__ = ["Runs", "runs_of"]


@dataclass(slots=True, eq=False)
class Runs(Trail):
    """The rows lo[r] to hi[r] all lead where one row of another trail leads.

    Rows in no run lead where the usual trail leads: a window of a product leads to all its events,
    but those around a zero lead to the zero alone.

    Attributes:
        usual: where the rows outside all runs lead; as long as this trail.
        child: where the runs lead.
        lo: the first row of each run; runs are in order and do not overlap.
        hi: the last row of each run.
        places: the row of ``child`` that each run leads to; below 0 it leads nowhere.
    """

    usual: Trail
    child: Trail
    lo: Ints
    hi: Ints
    places: Ints

    def __len__(self) -> int:
        return len(self.usual)

    def entries(self, rows: Ints) -> Entries:
        """Those of the runs, and of the usual trail for rows in no run."""
        run = np.searchsorted(self.lo, rows, side="right") - 1
        inside = run >= 0
        if len(self.lo):
            inside &= rows <= self.hi[run]
        asked = np.flatnonzero(inside)
        below = Gathered(self.child, self.places[run[asked]]).entries(np.arange(len(asked)))
        found = [below.rows(asked[below.row])]
        if not isinstance(self.usual, Nothing) and len(asked) < len(rows):
            others = np.flatnonzero(~inside)
            below = self.usual.entries(rows[others])
            found.append(below.rows(others[below.row]))
        return join_entries(found)

    def ask(self, fields: int) -> Trail:
        usual, child = self.usual.ask(fields), self.child.ask(fields)
        if usual is self.usual and child is self.child:
            return self
        return Runs(usual, child, self.lo, self.hi, self.places)


def runs_of(usual: Trail, child: Trail, places: Ints) -> Trail:
    """A trail of runs from the place of each row; at -1 a row is in no run, below it leads nowhere.

    >>> found = runs_of(Nothing(5), Nothing(9), np.array([3, 3, -1, 4, 4]))
    >>> found.lo, found.hi, found.places
    (array([0, 3]), array([1, 4]), array([3, 4]))
    """
    begins = np.flatnonzero(np.diff(places, prepend=-1 if not len(places) else places[0] - 1))
    ends = np.append(begins[1:], len(places)) - 1
    kept = np.flatnonzero(places[begins] != -1)
    begins, ends = begins[kept], ends[kept]
    return Runs(usual, child, begins, ends, np.maximum(places[begins], -1))

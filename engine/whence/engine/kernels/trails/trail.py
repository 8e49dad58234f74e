"""Trails: what the rows of a batch lead to, put together without looking at every row.

A processor's kernel builds the trail of its output from those of its inputs in a few steps,
whatever the number of rows. Only when somebody needs to know does `Trail.entries` follow some rows
to the logs and kept streams. What a kernel keeps beyond the batch is settled first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.columns.lazy_ints import Counted, rows_from
from whence.engine.kernels.trails.entries import (
    ASKED,
    NONE,
    Entries,
    flat_ranges,
)

__all__ = [
    "Gathered",
    "Line",
    "Nothing",
    "Sets",
    "Spans",
    "Straight",
    "Trail",
    "intervals",
]


class Trail:
    """What each of some rows leads to."""

    __slots__ = ()

    def __len__(self) -> int:
        """How many rows."""
        raise NotImplementedError

    def entries(self, rows: Ints) -> Entries:
        """Where some rows lead, numbered in the order in which they were given."""
        raise NotImplementedError

    def straight(self, rows: Ints) -> list[Straight] | None:
        """The same on lines, if nothing else is met and nothing is said twice."""
        return None

    def ask(self, fields: int) -> Trail:
        """The same where the fields that a reader asks for are known."""
        raise NotImplementedError

    def take(self, rows: Ints) -> Trail:
        """The trail of some rows, in that order; a row below 0 leads nowhere."""
        return Gathered(self, rows)

    def slice(self, start: int, stop: int) -> Trail:
        """The trail of some neighbouring rows."""
        whole = start == 0 and stop == len(self)
        return self if whole else Gathered(self, Counted(start, stop - start))

    def settle(self) -> Sets:
        """Follow every row now, and hold on to nothing else."""
        count = len(self)
        entries = self.entries(np.arange(count)).sorted()
        starts = np.searchsorted(entries.row, np.arange(count + 1))
        return Sets(starts, entries)


@dataclass(slots=True, eq=False)
class Nothing(Trail):
    """Rows that lead nowhere."""

    count: int

    def __len__(self) -> int:
        return self.count

    def entries(self, rows: Ints) -> Entries:
        """None."""
        return NONE

    def ask(self, fields: int) -> Trail:
        return self

    def take(self, rows: Ints) -> Trail:
        """As many as asked for."""
        return Nothing(len(rows))

    def slice(self, start: int, stop: int) -> Trail:
        """As many as asked for."""
        return Nothing(stop - start)


@dataclass(slots=True, eq=False)
class Line(Trail):
    """Row r leads to the positions ``a + r*sa`` to ``b + r*sb``: no row needs memory."""

    target: int
    fields: int
    count: int
    a: int
    b: int
    sa: int = 1
    sb: int = 1

    def __len__(self) -> int:
        return self.count

    def entries(self, rows: Ints) -> Entries:
        """One interval a row."""
        return intervals(self.target, self.fields, self.a + rows * self.sa, self.b + rows * self.sb)

    def straight(self, rows: Ints) -> list[Straight] | None:
        """All of them."""
        if self.sa != self.sb or self.b < self.a:
            return None
        return [Straight(rows_from(0, len(rows)), self, rows)]

    def ask(self, fields: int) -> Trail:
        if self.fields != ASKED:
            return self
        return Line(self.target, fields, self.count, self.a, self.b, self.sa, self.sb)

    def slice(self, start: int, stop: int) -> Trail:
        """Neighbouring rows stay a line."""
        a, b = self.a + start * self.sa, self.b + start * self.sb
        return Line(self.target, self.fields, stop - start, a, b, self.sa, self.sb)

    def take(self, rows: Ints) -> Trail:
        """Neighbouring rows stay a line."""
        count = len(rows)
        if count and rows[0] >= 0 and rows[-1] - rows[0] == count - 1 and _ascending(rows):
            return self.slice(int(rows[0]), int(rows[0]) + count)
        lo = np.where(rows < 0, 0, self.a + rows * self.sa)
        hi = np.where(rows < 0, -1, self.b + rows * self.sb)
        return Spans(self.target, self.fields, lo, hi)


class Straight(NamedTuple):
    """Some of the rows that were asked about lead along a line.

    Attributes:
        which: those rows, numbered among all that were asked about.
        line: where they lead.
        places: the row of the line that each leads along.
    """

    which: Ints
    line: Line
    places: Ints


def _ascending(rows: Ints) -> bool:
    return len(rows) < 2 or bool((rows[1:] - rows[:-1] == 1).all())


def intervals(target: int, fields: int, lo: Ints, hi: Ints) -> Entries:
    """One interval for each row, where it is not empty."""
    row = np.flatnonzero(hi >= 0 if hi is lo else (hi >= lo) & (hi >= 0))
    if len(row) < len(lo):
        lo, hi = lo[row], hi[row]
    return Entries(row, np.full(len(row), target), np.full(len(row), fields), lo, hi)


@dataclass(slots=True, eq=False)
class Spans(Trail):
    """Every row leads to an interval of its own; an empty one if ``hi`` is below ``lo`` or 0.

    Where all are single positions both ends are the very same array.
    """

    target: int
    fields: int
    lo: Ints
    hi: Ints

    @classmethod
    def points(cls, target: int, fields: int, positions: Ints) -> Spans:
        """Every row leads to one position, or below 0 nowhere."""
        return cls(target, fields, positions, positions)

    def __len__(self) -> int:
        return len(self.lo)

    def entries(self, rows: Ints) -> Entries:
        """One interval a row."""
        hi = self.hi[rows]
        lo = hi if self.lo is self.hi else self.lo[rows]
        return intervals(self.target, self.fields, lo, hi)

    def ask(self, fields: int) -> Trail:
        return Spans(self.target, fields, self.lo, self.hi) if self.fields == ASKED else self

    def take(self, rows: Ints) -> Trail:
        """The intervals of these rows."""
        if not len(self.lo):
            return Nothing(len(rows))
        hi = np.where(rows < 0, -1, self.hi[rows])
        lo = hi if self.lo is self.hi else self.lo[rows]
        return Spans(self.target, self.fields, lo, hi)


@dataclass(slots=True, eq=False)
class Sets(Trail):
    """Every row leads to any number of intervals: the settled form, sorted by row.

    The entries of row r are starts[r] to starts[r+1] - 1.
    """

    starts: Ints
    held: Entries

    def __len__(self) -> int:
        return len(self.starts) - 1

    def entries(self, rows: Ints) -> Entries:
        """The entries of these rows."""
        first = self.starts[rows]
        places, which = flat_ranges(first, self.starts[rows + 1] - first)
        return self.held.where(places).rows(which)

    def ask(self, fields: int) -> Trail:
        known = self.held.fields
        if not (known == ASKED).any():
            return self
        return Sets(self.starts, self.held._replace(fields=np.where(known == ASKED, fields, known)))

    def take(self, rows: Ints) -> Trail:
        """The entries of these rows, copied."""
        lost = rows < 0
        if not len(self):
            return Nothing(len(rows))
        kept = np.where(lost, 0, rows)
        counts = np.where(lost, 0, self.starts[kept + 1] - self.starts[kept])
        places, which = flat_ranges(self.starts[kept], counts)
        starts = np.concatenate(([0], np.cumsum(counts)))
        return Sets(starts, self.held.where(places).rows(which))

    def settle(self) -> Sets:
        """It is."""
        return self


@dataclass(slots=True, eq=False)
class Gathered(Trail):
    """Row r leads where row ``places[r]`` of another trail leads; below 0 nowhere.

    Neighbouring rows need no array.
    """

    child: Trail
    places: Ints | Counted

    def __len__(self) -> int:
        return len(self.places)

    def entries(self, rows: Ints) -> Entries:
        """Those of the rows that are meant, each followed once."""
        places = self.places[rows]
        if isinstance(self.places, Counted):
            return self.child.entries(places)
        asked = np.flatnonzero(places >= 0)
        meant = places[asked]
        if (meant[1:] > meant[:-1]).all():
            below = self.child.entries(meant)
            return below.rows(asked[below.row])
        found, back = np.unique(meant, return_inverse=True)
        below = self.child.entries(found)
        if len(found) == len(asked):
            order = np.empty(len(found), np.int64)
            order[back] = asked
            return below.rows(order[below.row])
        return _spread(below, back, len(found), asked)

    def ask(self, fields: int) -> Trail:
        below = self.child.ask(fields)
        return self if below is self.child else Gathered(below, self.places)

    def take(self, rows: Ints) -> Trail:
        """One step less to follow."""
        if not len(self.places):
            return Nothing(len(rows))
        return self.child.take(np.where(rows < 0, -1, self.places[rows]))

    def slice(self, start: int, stop: int) -> Trail:
        """One step less to follow."""
        if isinstance(self.places, Counted):
            first = self.places.first
            return self.child.slice(first + start, first + stop)
        return Gathered(self.child, self.places[start:stop])


def _spread(below: Entries, back: Ints, count: int, rows: Ints) -> Entries:
    """Give what was followed once to all rows that asked for it."""
    order = np.argsort(below.row, kind="stable")
    ends = np.searchsorted(below.row[order], np.arange(count + 1))
    places, which = flat_ranges(ends[back], ends[back + 1] - ends[back])
    return below.where(order[places]).rows(rows[which])

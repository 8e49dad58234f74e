"""Trails: what the rows of a batch lead to, put together without looking at every row.

A processor's kernel builds the trail of its output from those of its inputs in a few steps,
whatever the number of rows. Only when somebody needs to know does `Trail.entries` follow some rows
to the logs and kept streams. What a kernel keeps beyond the batch is settled first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whence.engine.kernels.columns import Bools, Ints
from whence.engine.kernels.entries import (
    ASKED,
    NONE,
    Entries,
    flat_ranges,
    join_entries,
)

__all__ = [
    "Chosen",
    "Gathered",
    "Later",
    "Line",
    "Linked",
    "Listed",
    "Nothing",
    "Reaching",
    "Sets",
    "Shifted",
    "Spans",
    "Trail",
    "joined",
    "lasting",
    "union",
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

    def ask(self, fields: int) -> Trail:
        """The same where the fields that a reader asks for are known."""
        raise NotImplementedError

    def take(self, rows: Ints) -> Trail:
        """The trail of some rows, in that order; a row below 0 leads nowhere."""
        return Gathered(self, rows)

    def slice(self, start: int, stop: int) -> Trail:
        """The trail of some neighbouring rows."""
        whole = start == 0 and stop == len(self)
        return self if whole else Shifted(self, start, stop - start)

    def settle(self) -> Sets:
        """Follow every row now, and hold on to nothing else."""
        count = len(self)
        entries = self.entries(np.arange(count)).sorted()
        starts = np.searchsorted(entries.row, np.arange(count + 1))
        return Sets(starts, entries)


class Nothing(Trail):
    """Rows that lead nowhere."""

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        """So many of them."""
        self.count = count

    def __len__(self) -> int:
        """How many rows."""
        return self.count

    def entries(self, rows: Ints) -> Entries:
        """None."""
        return NONE

    def ask(self, fields: int) -> Trail:
        """The same."""
        return self

    def take(self, rows: Ints) -> Trail:
        """As many as asked for."""
        return Nothing(len(rows))

    def slice(self, start: int, stop: int) -> Trail:
        """As many as asked for."""
        return Nothing(stop - start)


class Line(Trail):
    """Row r leads to the positions ``a + r*sa`` to ``b + r*sb``: no row needs memory."""

    __slots__ = ("a", "b", "count", "fields", "sa", "sb", "target")

    def __init__(
        self, target: int, fields: int, count: int, a: int, b: int, sa: int = 1, sb: int = 1
    ) -> None:
        """Describe all rows at once."""
        self.target = target
        self.fields = fields
        self.count = count
        self.a, self.b, self.sa, self.sb = a, b, sa, sb

    def __len__(self) -> int:
        """How many rows."""
        return self.count

    def entries(self, rows: Ints) -> Entries:
        """One interval a row."""
        return _intervals(
            self.target, self.fields, self.a + rows * self.sa, self.b + rows * self.sb
        )

    def ask(self, fields: int) -> Trail:
        """The same with known fields."""
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


def _ascending(rows: Ints) -> bool:
    return len(rows) < 2 or bool((rows[1:] - rows[:-1] == 1).all())


def _intervals(target: int, fields: int, lo: Ints, hi: Ints) -> Entries:
    """One interval for each row, where it is not empty."""
    row = np.flatnonzero(hi >= lo)
    if len(row) < len(lo):
        lo, hi = lo[row], hi[row]
    return Entries(row, np.full(len(row), target), np.full(len(row), fields), lo, hi)


class Spans(Trail):
    """Every row leads to an interval of its own; an empty one where ``hi`` is below ``lo``."""

    __slots__ = ("fields", "hi", "lo", "target")

    def __init__(self, target: int, fields: int, lo: Ints, hi: Ints) -> None:
        """Keep the ends."""
        self.target = target
        self.fields = fields
        self.lo, self.hi = lo, hi

    @classmethod
    def points(cls, target: int, fields: int, positions: Ints) -> Spans:
        """Every row leads to one position, or below 0 nowhere."""
        return cls(target, fields, np.where(positions < 0, 0, positions), positions)

    def __len__(self) -> int:
        """How many rows."""
        return len(self.lo)

    def entries(self, rows: Ints) -> Entries:
        """One interval a row."""
        return _intervals(self.target, self.fields, self.lo[rows], self.hi[rows])

    def ask(self, fields: int) -> Trail:
        """The same with known fields."""
        return Spans(self.target, fields, self.lo, self.hi) if self.fields == ASKED else self

    def take(self, rows: Ints) -> Trail:
        """The intervals of these rows."""
        if not len(self.lo):
            return Nothing(len(rows))
        lost = rows < 0
        return Spans(
            self.target,
            self.fields,
            np.where(lost, 0, self.lo[rows]),
            np.where(lost, -1, self.hi[rows]),
        )


class Sets(Trail):
    """Every row leads to any number of intervals: the settled form, sorted by row."""

    __slots__ = ("held", "starts")

    def __init__(self, starts: Ints, held: Entries) -> None:
        """Keep the entries; those of row r are starts[r] to starts[r+1] - 1."""
        self.starts = starts
        self.held = held

    def __len__(self) -> int:
        """How many rows."""
        return len(self.starts) - 1

    def entries(self, rows: Ints) -> Entries:
        """The entries of these rows."""
        first = self.starts[rows]
        places, which = flat_ranges(first, self.starts[rows + 1] - first)
        return self.held.where(places).rows(which)

    def ask(self, fields: int) -> Trail:
        """The same with known fields."""
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


class Shifted(Trail):
    """Some neighbouring rows of another trail."""

    __slots__ = ("child", "count", "start")

    def __init__(self, child: Trail, start: int, count: int) -> None:
        """Keep where they begin."""
        self.child = child
        self.start = start
        self.count = count

    def __len__(self) -> int:
        """How many rows."""
        return self.count

    def entries(self, rows: Ints) -> Entries:
        """Those of the rows that are meant."""
        return self.child.entries(rows + self.start)

    def ask(self, fields: int) -> Trail:
        """The same with known fields."""
        below = self.child.ask(fields)
        return self if below is self.child else Shifted(below, self.start, self.count)

    def take(self, rows: Ints) -> Trail:
        """One step less to follow."""
        return self.child.take(np.where(rows < 0, -1, rows + self.start))

    def slice(self, start: int, stop: int) -> Trail:
        """One step less to follow."""
        return self.child.slice(self.start + start, self.start + stop)


class Gathered(Trail):
    """Row r leads where row ``rows[r]`` of another trail leads; below 0 nowhere."""

    __slots__ = ("child", "places")

    def __init__(self, child: Trail, places: Ints) -> None:
        """Keep both."""
        self.child = child
        self.places = places

    def __len__(self) -> int:
        """How many rows."""
        return len(self.places)

    def entries(self, rows: Ints) -> Entries:
        """Those of the rows that are meant, each followed once."""
        places = self.places[rows]
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
        """The same with known fields."""
        below = self.child.ask(fields)
        return self if below is self.child else Gathered(below, self.places)

    def take(self, rows: Ints) -> Trail:
        """One step less to follow."""
        if not len(self.places):
            return Nothing(len(rows))
        places = np.where(rows < 0, -1, self.places[rows])
        return self.child.take(places)


def _spread(below: Entries, back: Ints, count: int, rows: Ints) -> Entries:
    """Give what was followed once to all rows that asked for it."""
    order = np.argsort(below.row, kind="stable")
    ends = np.searchsorted(below.row[order], np.arange(count + 1))
    places, which = flat_ranges(ends[back], ends[back + 1] - ends[back])
    return below.where(order[places]).rows(rows[which])


class Listed(Trail):
    """Row r leads wherever several rows of another trail lead, which are listed for it."""

    __slots__ = ("child", "places", "starts")

    def __init__(self, child: Trail, starts: Ints, places: Ints) -> None:
        """Keep the lists; that of row r is starts[r] to starts[r+1] - 1."""
        self.child = child
        self.starts = starts
        self.places = places

    def __len__(self) -> int:
        """How many rows."""
        return len(self.starts) - 1

    def entries(self, rows: Ints) -> Entries:
        """Those of every row that is listed."""
        first = self.starts[rows]
        where, which = flat_ranges(first, self.starts[rows + 1] - first)
        below = Gathered(self.child, self.places[where]).entries(np.arange(len(where)))
        return below.rows(which[below.row])

    def ask(self, fields: int) -> Trail:
        """The same with known fields."""
        below = self.child.ask(fields)
        return self if below is self.child else Listed(below, self.starts, self.places)


class Reaching(Trail):
    """Row r leads wherever the rows lo[r] to hi[r] of another trail lead."""

    __slots__ = ("child", "hi", "lo")

    def __init__(self, child: Trail, lo: Ints, hi: Ints) -> None:
        """Keep the ends."""
        self.child = child
        self.lo, self.hi = lo, hi

    def __len__(self) -> int:
        """How many rows."""
        return len(self.lo)

    def entries(self, rows: Ints) -> Entries:
        """On a line one interval a row; else those of every row in between."""
        lo, hi = self.lo[rows], self.hi[rows]
        child = self.child
        if isinstance(child, Line) and child.sa == child.sb == 1 and child.b >= child.a:
            found = _intervals(child.target, child.fields, child.a + lo, child.b + hi)
            return found.where((hi >= lo)[found.row])
        counts = np.maximum(hi - lo + 1, 0)
        places, which = flat_ranges(lo, counts)
        below = Gathered(child, places).entries(np.arange(len(places)))
        return below.rows(which[below.row])

    def ask(self, fields: int) -> Trail:
        """The same with known fields."""
        below = self.child.ask(fields)
        return self if below is self.child else Reaching(below, self.lo, self.hi)

    def take(self, rows: Ints) -> Trail:
        """The ends of these rows."""
        if not len(self.lo):
            return Nothing(len(rows))
        lost = rows < 0
        return Reaching(
            self.child, np.where(lost, 0, self.lo[rows]), np.where(lost, -1, self.hi[rows])
        )


class Chosen(Trail):
    """Row r leads where those of several trails lead that are chosen for it; ``None``: always."""

    __slots__ = ("count", "parts")

    def __init__(self, count: int, parts: Sequence[tuple[Bools | None, Trail]]) -> None:
        """Keep the parts."""
        self.count = count
        self.parts = tuple(parts)

    def __len__(self) -> int:
        """How many rows."""
        return self.count

    def entries(self, rows: Ints) -> Entries:
        """Those of the chosen parts."""
        found = []
        for chosen, trail in self.parts:
            if chosen is None:
                found.append(trail.entries(rows))
            else:
                asked = np.flatnonzero(chosen[rows])
                if len(asked):
                    below = trail.entries(rows[asked])
                    found.append(below.rows(asked[below.row]))
        return join_entries(found)

    def ask(self, fields: int) -> Trail:
        """The same with known fields."""
        return Chosen(self.count, [(chosen, trail.ask(fields)) for chosen, trail in self.parts])


class Later(Trail):
    """A trail with known fields that is made when somebody follows it for the first time."""

    __slots__ = ("_made", "count", "make")

    def __init__(self, count: int, make: Callable[[], Trail]) -> None:
        """Keep how to make it."""
        self.count = count
        self.make = make
        self._made: Trail | None = None

    def __len__(self) -> int:
        """How many rows."""
        return self.count

    def made(self) -> Trail:
        """The trail itself."""
        if self._made is None:
            self._made = self.make()
        return self._made

    def entries(self, rows: Ints) -> Entries:
        """Those of the trail itself."""
        return self.made().entries(rows)

    def ask(self, fields: int) -> Trail:
        """All fields are known."""
        return self


class Linked(Trail):
    """Row r leads where its own trail leads, and where the row ``parent[r]`` before it leads."""

    __slots__ = ("own", "parent")

    def __init__(self, own: Trail, parent: Ints) -> None:
        """Keep both; a parent below 0 ends the way."""
        self.own = own
        self.parent = parent

    def __len__(self) -> int:
        """How many rows."""
        return len(self.parent)

    def entries(self, rows: Ints) -> Entries:
        """Those of every row on the way."""
        found = []
        asked, here = np.arange(len(rows)), rows
        while len(here):
            below = Gathered(self.own, here).entries(np.arange(len(here)))
            found.append(below.rows(asked[below.row]))
            up = self.parent[here]
            on = up >= 0
            asked, here = asked[on], up[on]
        return join_entries(found)

    def ask(self, fields: int) -> Trail:
        """The same with known fields."""
        below = self.own.ask(fields)
        return self if below is self.own else Linked(below, self.parent)


class _Joined(Trail):
    """The rows of several trails one after the other."""

    __slots__ = ("parts", "starts")

    def __init__(self, parts: Sequence[Trail]) -> None:
        self.parts = tuple(parts)
        self.starts = np.concatenate(([0], np.cumsum([len(part) for part in parts])))

    def __len__(self) -> int:
        return int(self.starts[-1])

    def entries(self, rows: Ints) -> Entries:
        found = []
        part_of = np.searchsorted(self.starts, rows, side="right") - 1
        for number, part in enumerate(self.parts):
            asked = np.flatnonzero(part_of == number)
            if len(asked):
                below = part.entries(rows[asked] - self.starts[number])
                found.append(below.rows(asked[below.row]))
        return join_entries(found)

    def ask(self, fields: int) -> Trail:
        return _Joined([part.ask(fields) for part in self.parts])


def joined(parts: Sequence[Trail]) -> Trail:
    """One trail after the other; lines that go on stay a line."""
    filled = [part for part in parts if len(part)]
    if not filled:
        return Nothing(0)
    merged = [filled[0]]
    for part in filled[1:]:
        before = merged[-1]
        if (
            isinstance(part, Line)
            and isinstance(before, Line)
            and (part.target, part.fields) == (before.target, before.fields)
            and (part.sa, part.sb) == (before.sa, before.sb)
            and part.a == before.a + before.count * before.sa
            and part.b == before.b + before.count * before.sb
        ):
            count = before.count + part.count
            merged[-1] = Line(part.target, part.fields, count, before.a, before.b, part.sa, part.sb)
        else:
            merged.append(part)
    return merged[0] if len(merged) == 1 else _Joined(merged)


def lasting(trail: Trail) -> Trail:
    """A trail that holds on to no batch."""
    return trail if isinstance(trail, (Line, Nothing)) else trail.settle()


def union(*trails: Trail | None) -> Trail | None:
    """Where any of these leads; ``None`` is nowhere, for any number of rows."""
    parts = list(dict.fromkeys(t for t in trails if t is not None and not isinstance(t, Nothing)))
    if len(parts) < 2:
        return parts[0] if parts else next((t for t in trails if t is not None), None)
    return Chosen(len(parts[0]), [(None, part) for part in parts])

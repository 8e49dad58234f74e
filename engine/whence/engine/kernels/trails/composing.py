"""Trails put together from others: chosen among, listed, linked, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.trails.entries import Entries, flat_ranges, join_entries
from whence.engine.kernels.trails.trail import Gathered, Line, Nothing, Trail, intervals

__all__ = [
    "Chosen",
    "Later",
    "Linked",
    "Listed",
    "Reaching",
    "joined",
    "lasting",
    "union",
]


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
            found = intervals(child.target, child.fields, child.a + lo, child.b + hi)
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

"""Trails put together from others: chosen among, listed, linked, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.trails.entries import Entries, flat_ranges, join_entries
from whence.engine.kernels.trails.trail import Gathered, Line, Nothing, Spans, Trail

__all__ = [
    "Chosen",
    "Derived",
    "joined",
    "lasting",
    "later",
    "linked",
    "listed",
    "reaching",
    "union",
]

Follow = Callable[[tuple[Trail, ...], Ints], Entries]


@dataclass(slots=True, eq=False)
class Chosen(Trail):
    """Row r leads where those of several trails lead that are chosen for it; ``None``: always."""

    count: int
    parts: Sequence[tuple[Bools | None, Trail]]

    def __len__(self) -> int:
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
        return Chosen(self.count, [(chosen, trail.ask(fields)) for chosen, trail in self.parts])


@dataclass(slots=True, eq=False)
class Derived(Trail):
    """Rows whose entries are worked out from other trails when somebody follows them.

    Attributes:
        count: how many rows.
        children: the other trails.
        follow: from these, with the fields that are asked by then, and some rows to the entries.
    """

    count: int
    children: tuple[Trail, ...]
    follow: Follow

    def __len__(self) -> int:
        return self.count

    def entries(self, rows: Ints) -> Entries:
        """Follow the others now."""
        return self.follow(self.children, rows)

    def ask(self, fields: int) -> Trail:
        below = tuple([child.ask(fields) for child in self.children])
        # Of several trails a new one each time: `encode` tells parts apart by identity, as ever.
        same = not below or (len(below) == 1 and below[0] is self.children[0])
        return self if same else Derived(self.count, below, self.follow)


def listed(child: Trail, starts: Ints, places: Ints) -> Trail:
    """Row r leads wherever the rows ``places[starts[r]:starts[r + 1]]`` of another trail lead."""

    def follow(children: tuple[Trail, ...], rows: Ints) -> Entries:
        where, which = flat_ranges(starts[rows], starts[rows + 1] - starts[rows])
        return _several(children[0], places[where], which)

    return Derived(len(starts) - 1, (child,), follow)


def reaching(child: Trail, lo: Ints, hi: Ints) -> Trail:
    """Row r leads wherever the rows lo[r] to hi[r] of another trail lead."""
    if isinstance(child, Line) and child.sa == child.sb == 1 and child.b >= child.a:
        last = np.where(hi >= lo, child.b + hi, -1)
        return Spans(child.target, child.fields, child.a + lo, last)

    def follow(children: tuple[Trail, ...], rows: Ints) -> Entries:
        counts = np.maximum(hi[rows] - lo[rows] + 1, 0)
        return _several(children[0], *flat_ranges(lo[rows], counts))

    return Derived(len(lo), (child,), follow)


def linked(own: Trail, parent: Ints) -> Trail:
    """Row r leads where its own trail leads, and where row ``parent[r]`` leads, if not below 0."""

    def follow(children: tuple[Trail, ...], rows: Ints) -> Entries:
        found = []
        asked, here = np.arange(len(rows)), rows
        while len(here):
            found.append(_several(children[0], here, asked))
            up = parent[here]
            on = up >= 0
            asked, here = asked[on], up[on]
        return join_entries(found)

    return Derived(len(parent), (own,), follow)


def later(count: int, make: Callable[[], Trail]) -> Trail:
    """A trail with known fields that is made when somebody follows it for the first time."""
    made = cache(make)
    return Derived(count, (), lambda _, rows: made().entries(rows))


def _several(child: Trail, places: Ints, which: Ints) -> Entries:
    """Where some rows of a trail lead, as entries of the rows that ask for them."""
    below = Gathered(child, places).entries(np.arange(len(places)))
    return below.rows(which[below.row])


def _one_after_other(parts: Sequence[Trail]) -> Trail:
    """The rows of several trails one after the other."""
    starts = np.concatenate(([0], np.cumsum([len(part) for part in parts])))

    def follow(children: tuple[Trail, ...], rows: Ints) -> Entries:
        found = []
        part_of = np.searchsorted(starts, rows, side="right") - 1
        for number, part in enumerate(children):
            asked = np.flatnonzero(part_of == number)
            if len(asked):
                below = part.entries(rows[asked] - starts[number])
                found.append(below.rows(asked[below.row]))
        return join_entries(found)

    return Derived(int(starts[-1]), tuple(parts), follow)


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
    return merged[0] if len(merged) == 1 else _one_after_other(merged)


def lasting(trail: Trail) -> Trail:
    """A trail that holds on to no batch."""
    return trail if isinstance(trail, (Line, Nothing)) else trail.settle()


def union(*trails: Trail | None) -> Trail | None:
    """Where any of these leads; ``None`` is nowhere, for any number of rows."""
    parts = list(dict.fromkeys(t for t in trails if t is not None and not isinstance(t, Nothing)))
    if len(parts) < 2:
        return parts[0] if parts else next((t for t in trails if t is not None), None)
    return Chosen(len(parts[0]), [(None, part) for part in parts])

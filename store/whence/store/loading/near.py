"""Edges that lead to events close together: these are read at once, and told by their place.

To seek each event that an edge leads to by its key takes the server longer than to make the edge.
Where the edges of a chunk lead to most events of a short range, all of that range is read in order,
and an edge says which of them it leads to, counted from the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from whence.store.loading.content import ChunkContent, Row, alike

__all__ = ["Near", "derived_rows", "near_edges"]

SPARSE = 2
"""So many events are read for an edge at most."""
MOST_OF = 0.8
"""Of all edges of a chunk; where fewer lead to events close together, each is sought."""


@dataclass
class Near:
    """Edges of one kind, at most one row of them for an event.

    Attributes:
        told: the properties of the edges.
        to: the keys of the events that they lead to, by the key of the event that they leave.
    """

    told: Row
    to: dict[int, range] = field(default_factory=dict)

    @property
    def edges(self) -> int:
        """How many there are."""
        return sum(map(len, self.to.values()))

    @property
    def close(self) -> bool:
        """Whether they lead to most events of a short range."""
        lo, hi = _bounds(self.to.values())
        return hi - lo < SPARSE * self.edges

    def rows(self, keys: list[int]) -> tuple[list[tuple[int, int]], int, dict[str, Any]]:
        """Where the edges of some events lead to; how many they are; and the other parameters.

        An event without edges leads from its first place to the one before it.
        """
        found = [self.to.get(key) for key in keys]
        some = [to for to in found if to is not None]
        lo, hi = _bounds(some)
        rows = [(0, -1) if to is None else (to.start - lo, to.stop - 1 - lo) for to in found]
        return rows, sum(map(len, some)), {"lo": lo, "hi": hi, "told": self.told}


def near_edges(content: ChunkContent) -> tuple[list[Near], list[Row]]:
    """The edges of a chunk to what explains that are made so, most of one kind first; all others.

    They lead to events of other chunks, which are there, or their chunk would not be written yet.
    """
    if not content.events or content.selected or content.merged:
        return [], content.derived
    own = {row["key"] for row in content.events}
    first, last = min(own), max(own)
    ranges: list[Row] = []
    left: list[Row] = []
    for row in content.derived:
        to = row["to"]
        elsewhere = type(to) is range and (to.start > last or to.stop <= first)
        (ranges if elsewhere and row["key"] in own else left).append(row)
    found: list[Near] = []
    for told, rows in alike(ranges):
        near, more = Near(told), []
        for row in rows:
            if near.to.setdefault(row["key"], row["to"]) is not row["to"]:
                more.append(row)
        if near.close:
            found.append(near)
            left += more
        else:
            left += rows
    if sum(near.edges for near in found) < MOST_OF * sum(len(row["to"]) for row in content.derived):
        return [], content.derived
    return sorted(found, key=lambda near: -near.edges), left


def derived_rows(near: Near, most: int) -> Iterator[tuple[list[Any], int, dict[str, Any]]]:
    """Edges of events that are there already: so many events at a time at most."""
    keys = sorted(near.to)
    for at in range(0, len(keys), most):
        some = keys[at : at + most]
        rows, edges, more = near.rows(some)
        yield [[key, *row] for key, row in zip(some, rows, strict=True)], edges, more


def _bounds(several: Any) -> tuple[int, int]:
    """The first and the last key that is led to; of none a range that holds nothing."""
    return (
        min((to.start for to in several), default=0),
        max((to.stop - 1 for to in several), default=-1),
    )

"""Reachability along literal edges, event to event.

From a few events the server walks, each walk visiting an event once. From many events such walks
would visit the same events again and again, so that then the edges are read, range by range and
each range once, and walked here. Both are linear in what is reached; a test holds that they agree.
"""

from __future__ import annotations

from collections.abc import Iterable

from whence.engine.lineage.positions import Range, meeting
from whence.store.catalog import RunGraph, StoredLog
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import Places, key_of, no_of, places_of_keys, position_of
from whence.store.verbs.choices import Gate

__all__ = ["FEW", "Literal", "key_ranges"]

FEW = 16
"""From so many events the server walks."""
PAGES = 4
"""A page is as many chunks of the record as this: what is read at once for one event of it."""


class Literal:
    """Follows literal edges in one direction; what it has read it remembers."""

    def __init__(
        self,
        connection: Connection,
        run: RunGraph,
        *,
        support: bool,
        down: bool,
        few: int = FEW,
        every: bool = False,
        gate: Gate | None = None,
    ) -> None:
        """Begin without having read anything.

        Args:
            connection: where the graph is.
            run: the run.
            support: follow what supports instead of what explains.
            down: follow edges to what follows.
            few: from so many events the server walks; not if more than first options count.
            every: on the way up, follow every option of a choice.
            gate: on the way down, decides where choices are passed.
        """
        self.connection = connection
        self.run = run
        self.support = support
        self.direction = "down" if down else "up"
        # Behind a log that another run made the server would walk on into that run.
        joined = any(log.made for log in run.logs)
        self.few = 0 if every or gate is not None or joined else few
        self.every = every
        self.gate = gate
        self.options: dict[tuple[int, int], set[int]] = {}
        self.read: set[tuple[int, int]] = set()
        self.edges: dict[int, list[int]] = {}

    def reach(self, places: Places) -> Places:
        """All events reached from these, the starts themselves only if they are reached."""
        starts = {no: ranges for no, ranges in places.items() if self._leads_on(no)}
        many = sum(hi - lo + 1 for ranges in starts.values() for lo, hi in ranges)
        if many == 0:
            return {}
        if many <= self.few:
            return places_of_keys(self._walk_there(starts))
        return places_of_keys(self._walk_here(starts))

    def _leads_on(self, no: int) -> bool:
        """Upwards inputs are the end; downwards what is not of this run is none of its business."""
        if no in self.run.event_streams:
            return True
        return self.direction == "down" and isinstance(self.run.by_no.get(no), StoredLog)

    def _walk_there(self, starts: Places) -> Iterable[int]:
        name = f"{self.direction}_{'supports' if self.support else 'explains'}"
        keys = [
            key_of(no, position)
            for no, ranges in starts.items()
            for lo, hi in ranges
            for position in range(lo, hi + 1)
        ]
        found = self.connection.read_values(cypher(name), keys=keys)
        return [key for (key,) in found if no_of(key) in self.run.by_no]

    def _walk_here(self, starts: Places) -> Iterable[int]:
        reached: set[int] = set()
        self._read_pages({(no, page) for no in starts for page in self._pages(no, starts[no])})
        stack = [
            source
            for source in self.edges
            if any(meeting(starts.get(no_of(source), ()), *(position_of(source),) * 2))
        ]
        while stack:
            unread: list[int] = []
            while stack:
                source = stack.pop()
                for target in self.edges.get(source, ()):
                    if target in reached or not self._passes(source, target):
                        continue
                    reached.add(target)
                    no = no_of(target)
                    if not self._leads_on(no):
                        continue
                    if (no, position_of(target) // self._width(no)) in self.read:
                        stack.append(target)
                    else:
                        unread.append(target)
            self._read_pages(
                {(no_of(key), position_of(key) // self._width(no_of(key))) for key in unread}
            )
            stack = unread
        return [key for key in reached if no_of(key) in self.run.by_no]

    def _passes(self, source: int, target: int) -> bool:
        if self.gate is None or not self.gate.holds(no_of(target)):
            return True
        return self.gate.opens(target, self.options[source, target])

    def _width(self, no: int) -> int:
        stream = self.run.event_streams.get(no)
        return PAGES * self.run.chunk * (1 if stream is None else stream.w)

    def _pages(self, no: int, ranges: Iterable[Range]) -> Iterable[int]:
        width = self._width(no)
        for lo, hi in ranges:
            yield from range(lo // width, hi // width + 1)

    def _read_pages(self, pages: set[tuple[int, int]]) -> None:
        pages -= self.read
        if not pages:
            return
        self.read |= pages
        ranges = sorted(
            [key_of(no, page * self._width(no)), key_of(no, (page + 1) * self._width(no) - 1)]
            for no, page in pages
        )
        wanted = {"trigger": not self.support, "supports": self.support}
        if self.gate is not None:
            query = cypher("edges_down_all")
            for sources, targets, several, _ in self.connection.read_values(
                query, ranges=ranges, **wanted
            ):
                for source, target, options in zip(sources, targets, several, strict=True):
                    self.edges.setdefault(source, []).append(target)
                    if options:
                        self.options.setdefault((source, target), set()).update(options)
            return
        if self.direction == "up":
            wanted["every"] = self.every
        query = cypher(f"edges_{self.direction}")
        for sources, targets, _ in self.connection.read_values(query, ranges=ranges, **wanted):
            for source, target in zip(sources, targets, strict=True):
                self.edges.setdefault(source, []).append(target)


def key_ranges(places: Places) -> list[list[int]]:
    """Places as ranges of keys, for a query."""
    return [[key_of(no, lo), key_of(no, hi)] for no in sorted(places) for lo, hi in places[no]]

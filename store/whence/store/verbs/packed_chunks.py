"""Which packed chunks of a run a question needs, read once each."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from whence.engine.lineage.follow import Label, Lineage
from whence.engine.lineage.positions import Intervals, Positions, Range, joined, meeting
from whence.store.catalog import RunGraph, StoredLog
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.packed import Bounds, Group, bounds_of, unpack
from whence.store.places import Places, last_position
from whence.store.verbs.packed_blocks import lineage_of

__all__ = ["PackedChunks"]


class PackedChunks:
    """The packed chunks of one run.

    Where the edges of a chunk begin and end is read of all of them, the edges themselves only of
    those that a question may meet.
    """

    def __init__(self, connection: Connection, run: RunGraph) -> None:
        """Read where chunks begin and end.

        Args:
            connection: where the graph is.
            run: the run.
        """
        self._connection = connection
        self.run = run
        self._groups: dict[str, list[Group]] = {}
        self._made: dict[tuple[frozenset[str], bool], Lineage] = {}
        self._ways: list[tuple[str, Bounds]] = []
        self._heads = {stream.no for stream in run.streams if stream.role.is_heads}
        rows = connection.read_values(cypher("packed_bounds"), prefix=f"run/{run.id}/")
        # Heads that only selected outputs lean on come after their chunks, and are not packed.
        packed = all(numbers is not None and not selected for _, numbers, selected in rows)
        self.whole = bool(rows) and packed
        """Whether everything is packed; an old graph is not until it is loaded to."""
        for id, numbers, _ in rows if self.whole else ():
            self._ways += [(id, bounds) for bounds in bounds_of(numbers)]

    def reach(
        self,
        start: Places,
        *,
        down: bool = False,
        support: bool = False,
        every: bool = False,
        of: Collection[int] | None = None,
    ) -> Places | None:
        """Everything that is reached from some places; they themselves are part of it.

        Args:
            start: the places.
            down: to what follows, instead of up to what explains.
            support: follow what supports instead of what explains.
            every: follow every option of a choice, not only the first.
            of: only what is reached of these logs and streams is told; of all, unless given.

        Returns:
            ``None`` where it has to be found out in another way: not all chunks are packed.
        """
        if not self.whole:
            return None
        lineage = self._lineage(self._chunks(start, down=down), every=every)
        found = (lineage.down if down else lineage.up)(_by_name(start), support=support)
        told = ((int(name), at) for name, at in found.items())
        return {
            no: there.intervals
            for no, at in told
            if (of is None or no in of) and (there := self._there(no, at, start))
        }

    def reach_fields(
        self, start: Places, *, support: bool, of: Collection[int]
    ) -> dict[tuple[int, Label], Intervals] | None:
        """What explains some places, by the fields that are asked of it; else as `reach`."""
        if not self.whole:
            return None
        lineage = self._lineage(self._chunks(start, down=False), every=False)
        found = lineage.up_fields(_by_name(start), support=support)
        told = ((int(name), label, at) for (name, label), at in found.items())
        return {
            (no, label): there.intervals
            for no, label, at in told
            if no in of and (there := self._there(no, at, start if label is None else {}))
        }

    def _there(self, no: int, found: Positions, start: Places) -> Positions:
        """As far as there are events: a band may lead past either end of a log or stream."""
        known = self.run.by_no.get(no)
        stream = self.run.event_streams.get(no)
        last = last_position(no)
        if isinstance(known, StoredLog):
            last = known.length - 1
        elif stream is not None and stream.w == 1:
            last = stream.length - 1
        if not found or (found.lo[0] >= 0 and found.hi[-1] <= last):
            return found
        begun = Positions.of_intervals(start.get(no, ()))
        return found.overlap(Positions.one(0, last)).union(begun)

    def _lineage(self, wanted: set[str], *, every: bool) -> Lineage:
        """What leads where by some chunks; mostly the next question is about the same."""
        key = frozenset(wanted), every
        if key not in self._made:
            self._made[key] = lineage_of(self._read(wanted), every=every)
        return self._made[key]

    def _read(self, wanted: set[str]) -> Iterator[Group]:
        missing = sorted(wanted - self._groups.keys())
        if missing:
            rows = self._connection.read_values(cypher("packed_read"), ids=missing)
            self._groups.update({id: list(unpack(packed)) for id, packed, _ in rows})
        for id in sorted(wanted):
            yield from self._groups[id]

    def _chunks(self, places: Places, *, down: bool) -> set[str]:
        """Chunk by chunk, as if each led from all its sources to all its targets."""
        reached = _Reached(places)
        ahead = sorted(self._ways, key=lambda way: way[1].first, reverse=not down)
        found: set[str] = set()
        while True:
            left = []
            for id, way in ahead:
                here, there = (way.source, way.first, way.last), (way.target, way.low, way.high)
                start, end = (there, here) if down else (here, there)
                if reached.meets(*start):
                    found.add(id)
                    reached.add(*end)
                else:
                    left.append((id, way))
            if len(left) == len(ahead):
                return found | set(self._of_heads(found))
            ahead = left

    def _of_heads(self, found: set[str]) -> Iterator[str]:
        """One chunk begins a head and another ends it: whoever needs one of them needs all."""
        streams = {way.source for id, way in self._ways if id in found} & self._heads
        yield from (id for id, way in self._ways if way.source in streams)


def _by_name(places: Places) -> dict[str, Positions]:
    return {str(no): Positions.of_intervals(ranges) for no, ranges in places.items()}


class _Reached:
    """Places, and ranges added to them."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._more: dict[int, list[Range]] = {}

    def meets(self, no: int, lo: int, hi: int) -> bool:
        if any(meeting(self._places.get(no, ()), lo, hi)):
            return True
        return any(first <= hi and last >= lo for first, last in self._more.get(no, ()))

    def add(self, no: int, lo: int, hi: int) -> None:
        more = self._more.setdefault(no, [])
        more[:] = joined((*more, (lo, hi)))

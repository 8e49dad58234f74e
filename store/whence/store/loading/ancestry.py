"""Selected outputs and all that they lead to, part by part: what ``where=`` leaves to be loaded.

From the associations of one part of an output pipe everything is followed up to the logs, whatever
explains or supports. What another part brought before is not brought again. Positions are kept as
intervals in columns, so that the work goes with what is reached, not with the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.block import Associations, Block
from whence.engine.lineage.heads import HeadZones
from whence.engine.lineage.links import Links
from whence.engine.lineage.positions import NONE, Positions
from whence.engine.record import RunRecord
from whence.engine.record.manifest import StreamInfo
from whence.engine.record.selected import Selector

__all__ = ["Ancestry", "Brought", "reached"]

CACHED_PARTS = 64


@dataclass
class Brought:
    """What a part of an output pipe brings into the graph.

    Attributes:
        events: of each stream, parts of its events.
        rows: of each stream, the associations of these events.
        inputs: which events of each log (``log:NAME``) are referenced.
        needs: the parts of output pipes, by name and number, that hold the referenced events.
        inside: which events of streams come along.
        heads: of each stream of heads, the outputs at which they are needed.
        lacking: a referenced stream whose parts are not all written yet.
    """

    events: dict[str, list[pa.Table]] = field(default_factory=dict)
    rows: dict[str, list[Associations]] = field(default_factory=dict)
    inputs: dict[str, Positions] = field(default_factory=dict)
    needs: set[tuple[str, int]] = field(default_factory=set)
    inside: dict[str, Positions] = field(default_factory=dict)
    heads: dict[str, Positions] = field(default_factory=dict)
    lacking: str | None = None


class Ancestry:
    """Follows the associations of a run's record; knows what was brought before.

    Attributes:
        known: of each stream, the events that were brought.
        heads: of each stream of heads, the outputs at which they were needed.
    """

    def __init__(
        self,
        record: RunRecord,
        streams: Mapping[str, StreamInfo],
        chunk: int,
        selected: Selector,
    ) -> None:
        """Begin with nothing brought.

        Args:
            record: the run's record.
            streams: as the manifest lists them, by name.
            chunk: positions a part.
            selected: tells of the events of an output pipe which are selected.
        """
        self.record = record
        self.streams = streams
        self.chunk = chunk
        self.selected = selected
        self.known: dict[str, Positions] = {}
        self.heads: dict[str, Positions] = {}
        self._rows = lru_cache(CACHED_PARTS)(record.blocks)
        self._outputs = lru_cache(CACHED_PARTS)(record.outputs)
        self._zone_parts: dict[str, dict[int, Associations]] = {}
        self._zones: dict[str, dict[str, HeadZones]] = {}

    def bring(self, stream: str, number: int) -> Brought:
        """What a part of an output pipe, or of its end, brings beyond what is known."""
        found = Brought()
        own = self._listed(stream, number)
        waiting = list(reached(own))
        if self.streams[stream].role.is_output:
            self._take(found, stream, number, self._told(stream, number))
        else:  # what an end leans on in a log is told by ranges, and needs no events there
            own = _by_ranges(own)
            waiting = [(name, some) for name, some in waiting if not name.startswith(LOG_PREFIX)]
        found.rows[stream] = [own]
        seen: dict[str, Positions] = {}
        while waiting:
            name, wanted = waiting.pop()
            if name.startswith(LOG_PREFIX):
                new = wanted.minus(self.known.get(name, NONE))
                _add(found.inputs, name, new)
                _add(found.inside, name, new)
                continue
            new = wanted.minus(seen.get(name, NONE))
            _add(seen, name, new)
            role = self.streams[name].role
            if role.is_heads:
                _add(found.heads, name, new)
                for to, zones in self.zones(name).items():
                    waiting.append((to, Positions.of(zones.meeting(new).event)))
                last = max(self.streams[name].associations.numbers, default=-1)
                if new and new.hi[-1] // self.chunk > last:
                    found.lacking = name  # unless the run is over
            elif role.is_output:
                self._of_pipe(found, name, new, (stream, number))
            else:
                waiting += self._of_stream(found, name, new)
        return found

    def know(self, brought: Brought) -> None:
        """From now on this is there."""
        for name, new in brought.inside.items():
            _add(self.known, name, new)
        for name, new in brought.heads.items():
            _add(self.heads, name, new)

    def zones(self, name: str) -> dict[str, HeadZones]:
        """The zones of a stream of heads by the stream inside, as far as the record has them."""
        read = self._zone_parts.setdefault(name, {})
        new = [part for part in self.streams[name].associations.numbers if part not in read]
        if new or name not in self._zones:
            read.update((number, self.record.blocks(name, number)) for number in new)
            blocks = (block for some in read.values() for block in some.blocks)
            self._zones[name] = HeadZones.of(blocks)
        return self._zones[name]

    def _of_pipe(
        self, found: Brought, name: str, wanted: Positions, asking: tuple[str, int]
    ) -> None:
        """Outputs that others lead to: selected ones have their own part, the others come along."""
        for _, _, number in self._parts(found, name, wanted):
            told = self._told(name, number)
            if wanted.meets(told) and (name, number) != asking:
                found.needs.add((name, number))
            new = wanted.minus(told).minus(self.known.get(name, NONE))
            _add(found.inside, name, self._take(found, name, number, new))

    def _of_stream(
        self, found: Brought, name: str, wanted: Positions
    ) -> Iterator[tuple[str, Positions]]:
        """Events inside: they come along, and what they lead to as well."""
        there = self.known.get(name, NONE).union(found.inside.get(name, NONE))
        new = wanted.minus(there)
        if not new:
            return
        # From the last part to the first: what leads on inside the stream leads to what is earlier.
        left = self._parts(found, name, Positions.one(0, int(new.hi[-1])))
        for first, last, number in sorted(left, reverse=True):
            inside = new.overlap(Positions.one(first, last))
            if not inside:
                continue
            rows = self._listed(name, number)
            own = Links.of(block for block in rows.blocks if block.to == name)
            earlier = own.within(inside).minus(there)
            new, inside = new.union(earlier), inside.union(earlier)
            _add(found.inside, name, self._take(found, name, number, inside))
            blocks = (block.within(inside) for block in rows.blocks)
            chosen = Associations(name, tuple(block for block in blocks if len(block)))
            found.rows.setdefault(name, []).append(chosen)
            yield from ((to, some) for to, some in reached(chosen) if to != name)

    def _listed(self, name: str, number: int) -> Associations:
        """The associations of a part; there may be none."""
        there = number in self.streams[name].associations.numbers
        return self._rows(name, number) if there else Associations(name)

    def _told(self, name: str, number: int) -> Positions:
        """The selected outputs of a part."""
        table = self._outputs(name, number)
        positions = table.column("position").to_numpy()
        return Positions.of(positions[self.selected(name, table)])

    def _take(self, found: Brought, name: str, number: int, wanted: Positions) -> Positions:
        table = self._outputs(name, number)
        chosen = table.filter(pa.array(wanted.contains(table.column("position").to_numpy())))
        if chosen.num_rows:
            found.events.setdefault(name, []).append(chosen)
        return Positions.of(chosen.column("position").to_numpy())

    def _parts(self, found: Brought, name: str, wanted: Positions) -> list[tuple[int, int, int]]:
        """The parts of a stream with some of these positions: first, last and number."""
        if not wanted:
            return []
        parts = self.streams[name].outputs.ranges
        columns = np.asarray(parts, np.int64).reshape(-1, 3)
        if not parts or wanted.hi[-1] > columns[:, 1].max():
            found.lacking = name
        met = wanted.met_by(columns[:, 0], columns[:, 1]).tolist()
        return [part for part, meets in zip(parts, met, strict=True) if meets]


def _add(to: dict[str, Positions], name: str, more: Positions) -> None:
    to[name] = to.get(name, NONE).union(more)


def _by_ranges(rows: Associations) -> Associations:
    """What leads to a log as bands, one for all neighbours; there is one output alone."""
    found: list[Block] = []
    alike: dict[object, list[Block]] = {}
    for block in rows.blocks:
        if block.to.startswith(LOG_PREFIX):
            alike.setdefault(block.key[2:] + block.key[:1], []).append(block)
        else:
            found.append(block)
    for several in alike.values():
        leads = [block.leads() for block in several]
        ranges = Positions.united(Positions.joined(each.lo, each.hi) for each in leads)
        none = np.zeros(len(ranges.lo), np.int64)
        band = replace(several[0], kind="bands", step=1, sa=0, sb=0)
        found.append(band.of(none, none, ranges.lo, ranges.hi - ranges.lo))
    return Associations(rows.stream, tuple(found))


def reached(rows: Associations) -> Iterator[tuple[str, Positions]]:
    """Where associations lead to."""
    for block in rows.blocks:
        leads = block.leads()
        yield block.to, Positions.joined(leads.lo, leads.hi)

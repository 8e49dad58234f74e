"""Selected outputs and all that they lead to, part by part: what ``where=`` leaves to be loaded.

From the associations of one part of an output pipe everything is followed up to the logs, whatever
explains or supports. What another part brought before is not brought again. Positions are kept as
intervals in columns, so that the work goes with what is reached, not with the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.associations import LOG_PREFIX, Association
from whence.engine.compact import Associations, Block, Ints
from whence.engine.record import RunRecord
from whence.engine.record.compact import from_compact_table
from whence.engine.record.schema import associations_of
from whence.engine.runners.selected import Selector
from whence.store.loading.chains import behind, leads_within
from whence.store.loading.ranges import Ranges
from whence.store.loading.zones import HeadZones

__all__ = ["Ancestry", "Brought", "reached", "rows_of"]

Rows = list[Association] | Associations
CACHED_PARTS = 64
NONE = Ranges.none()


def rows_of(record: RunRecord, stream: str, number: int) -> Rows:
    """The associations of a part, compact if the record has them so."""
    table = record.associations(stream, number)
    if "back" in table.schema.names:
        return from_compact_table(table, stream)
    return associations_of(table, stream)


@dataclass
class Brought:
    """What a part of an output pipe brings into the graph.

    Attributes:
        events: of each stream, parts of its events.
        rows: of each stream, what these events lead to.
        inputs: which events of each log (``log:NAME``) are led to.
        needs: the parts of output pipes, by name and number, that hold what is led to.
        inside: which events of streams come along.
        heads: of each stream of heads, the outputs at which they are asked for.
        lacking: a stream of which the record has not all by now that is led to.
    """

    events: dict[str, list[pa.Table]] = field(default_factory=dict)
    rows: dict[str, list[Rows]] = field(default_factory=dict)
    inputs: dict[str, Ranges] = field(default_factory=dict)
    needs: set[tuple[str, int]] = field(default_factory=set)
    inside: dict[str, Ranges] = field(default_factory=dict)
    heads: dict[str, Ranges] = field(default_factory=dict)
    lacking: str | None = None


class Ancestry:
    """Follows the associations of a run's record; knows what was brought before.

    Attributes:
        known: of each stream, the events that were brought.
        heads: of each stream of heads, the outputs at which they were asked for.
    """

    def __init__(
        self,
        record: RunRecord,
        streams: Mapping[str, Mapping[str, Any]],
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
        self.known: dict[str, Ranges] = {}
        self.heads: dict[str, Ranges] = {}
        self._rows = lru_cache(CACHED_PARTS)(lambda name, part: rows_of(record, name, part))
        self._outputs = lru_cache(CACHED_PARTS)(record.outputs)
        self._zones: dict[str, HeadZones] = {}

    def bring(self, stream: str, number: int) -> Brought:
        """What a part of an output pipe, or of its end, brings beyond what is known."""
        found = Brought()
        own = self._listed(stream, number)
        waiting = list(reached(own))
        if self.streams[stream]["role"] == "output":
            self._take(found, stream, number, self._told(stream, number))
        else:  # what an end leans on in a log is told by ranges, and needs no events there
            own = _by_ranges(own)
            waiting = [(name, some) for name, some in waiting if not name.startswith(LOG_PREFIX)]
        found.rows[stream] = [own]
        seen: dict[str, Ranges] = {}
        while waiting:
            name, wanted = waiting.pop()
            if name.startswith(LOG_PREFIX):
                new = wanted.minus(self.known.get(name, NONE))
                _add(found.inputs, name, new)
                _add(found.inside, name, new)
                continue
            new = wanted.minus(seen.get(name, NONE))
            _add(seen, name, new)
            role = self.streams[name]["role"]
            if role == "heads":
                _add(found.heads, name, new)
                waiting += self.zones(name).reached(new)
                last = max((p["part"] for p in self.streams[name]["associations"]), default=-1)
                if new and new.hi[-1] // self.chunk > last:
                    found.lacking = name  # unless the run is over
            elif role == "output":
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

    def zones(self, name: str) -> HeadZones:
        """The zones of a stream of heads, as far as the record has them by now."""
        zones = self._zones.setdefault(name, HeadZones(name))
        for part in self.streams[name]["associations"]:
            zones.read(part["part"], lambda number: rows_of(self.record, name, number))
        return zones

    def _of_pipe(self, found: Brought, name: str, wanted: Ranges, asking: tuple[str, int]) -> None:
        """Outputs that others lead to: selected ones have their own part, the others come along."""
        for _, _, number in self._parts(found, name, wanted):
            told = self._told(name, number)
            if wanted.meets(told) and (name, number) != asking:
                found.needs.add((name, number))
            new = wanted.minus(told).minus(self.known.get(name, NONE))
            _add(found.inside, name, self._take(found, name, number, new))

    def _of_stream(self, found: Brought, name: str, wanted: Ranges) -> Iterator[tuple[str, Ranges]]:
        """Events inside: they come along, and what they lead to as well."""
        there = self.known.get(name, NONE).union(found.inside.get(name, NONE))
        new = wanted.minus(there)
        if not new:
            return
        # From the last part to the first: what leads on inside the stream leads to what is earlier.
        left = self._parts(found, name, Ranges.one(0, int(new.hi[-1])))
        for first, last, number in sorted(left, reverse=True):
            inside = new.overlap(Ranges.one(first, last))
            if not inside:
                continue
            rows = self._listed(name, number)
            earlier = behind(leads_within(rows, name), inside).minus(there)
            new, inside = new.union(earlier), inside.union(earlier)
            _add(found.inside, name, self._take(found, name, number, inside))
            chosen = _restricted(rows, inside)
            found.rows.setdefault(name, []).append(chosen)
            yield from ((to, some) for to, some in reached(chosen) if to != name)

    def _listed(self, name: str, number: int) -> Rows:
        """The associations of a part; there may be none."""
        there = any(part["part"] == number for part in self.streams[name]["associations"])
        return self._rows(name, number) if there else []

    def _told(self, name: str, number: int) -> Ranges:
        """The selected outputs of a part."""
        table = self._outputs(name, number)
        positions = table.column("position").to_numpy()
        return Ranges.of(positions[self.selected(name, table)])

    def _take(self, found: Brought, name: str, number: int, wanted: Ranges) -> Ranges:
        table = self._outputs(name, number)
        chosen = table.filter(pa.array(wanted.holds(table.column("position").to_numpy())))
        if chosen.num_rows:
            found.events.setdefault(name, []).append(chosen)
        return Ranges.of(chosen.column("position").to_numpy())

    def _parts(self, found: Brought, name: str, wanted: Ranges) -> list[tuple[int, int, int]]:
        """The parts of a stream with some of these positions: first, last and number."""
        if not wanted:
            return []
        parts = [(p["first"], p["last"], p["part"]) for p in self.streams[name]["outputs"]]
        columns = np.asarray(parts, np.int64).reshape(-1, 3)
        if not parts or wanted.hi[-1] > columns[:, 1].max():
            found.lacking = name
        met = wanted.met_by(columns[:, 0], columns[:, 1]).tolist()
        return [part for part, meets in zip(parts, met, strict=True) if meets]


def _add(to: dict[str, Ranges], name: str, more: Ranges) -> None:
    to[name] = to.get(name, NONE).union(more)


def _by_ranges(rows: Rows) -> Rows:
    """What leads to a log as bands, one for all neighbours."""
    found: list[Association] = []
    alike: dict[Association, list[tuple[int, int]]] = {}
    for row in rows.rows() if isinstance(rows, Associations) else rows:
        if not row.to.startswith(LOG_PREFIX):
            found.append(row)
            continue
        band = replace(row, kind="band", hi=row.lo, inputs=(), a=0, b=0, sa=0, sb=0)
        alike.setdefault(band, []).extend(row.reaches(row.lo, row.lo))
    for band, pairs in alike.items():
        ranges = Ranges.joined(*_columns(pairs))
        for lo, hi in zip(ranges.lo.tolist(), ranges.hi.tolist(), strict=True):
            found.append(replace(band, a=lo, b=hi))
    return found


def reached(rows: Rows) -> Iterator[tuple[str, Ranges]]:
    """Where associations lead to."""
    if isinstance(rows, Associations):
        for block in rows.blocks:
            _, lo, hi = block.leads()
            yield block.to, Ranges.joined(lo, hi)
        return
    found: dict[str, list[tuple[int, int]]] = {}
    for row in rows:
        last = row.lo if row.hi is None else row.hi
        found.setdefault(row.to, []).extend(row.reaches(row.lo, last))
    for name, pairs in found.items():
        yield name, Ranges.joined(*_columns(pairs))


def _restricted(rows: Rows, wanted: Ranges) -> Rows:
    """Only what is said of some outputs."""
    if isinstance(rows, Associations):
        blocks = (_block_of(block, wanted) for block in rows.blocks)
        return Associations(rows.stream, tuple(block for block in blocks if len(block)))
    return [piece for row in rows for piece in _pieces(row, wanted)]


def _block_of(block: Block, wanted: Ranges) -> Block:
    leads = block.leads()
    output, lo, hi = leads.where(wanted.holds(leads.output))
    single = block.of(output, np.zeros(len(output), np.int64), lo, hi - lo)
    return replace(single, step=1, sa=0, sb=0)


def _pieces(row: Association, wanted: Ranges) -> Iterator[Association]:
    last = row.lo if row.hi is None else row.hi
    for lo, hi in wanted.within(row.lo, last):
        yield replace(row, lo=lo, hi=hi)


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    both = np.asarray(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]

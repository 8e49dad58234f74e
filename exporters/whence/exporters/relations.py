"""From associations to PROV relations: event by event where it is few, by ranges where it is many.

========================  ==========================================================================
a list                    each pair of events, one relation
a zone, few outputs       the same
a zone, many outputs      the range of its outputs, related to the one event
a band                    the range of its outputs, related to the range of what they lead to
heads of slices           have no events of their own: ranges of positions stand for them
========================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from whence.engine.associations import Association
from whence.engine.compact import Block, Ints, flat_ranges
from whence.engine.record.compact import from_compact_table
from whence.engine.record.schema import associations_of
from whence.exporters.gathering import Gathered
from whence.exporters.identifiers import Namespace
from whence.exporters.marks import Marks
from whence.exporters.model import Edge, Run
from whence.exporters.names import RunNames
from whence.exporters.pairs import pair_rows
from whence.exporters.rows import Rows
from whence.exporters.spans import Bands, band_rows, zone_rows

__all__ = ["FEW", "Relations", "edge_rows"]

FEW = 16
"""A zone of up to so many outputs is written event by event."""


class Relations:
    """Turns the associations of a stream into statements, a part of the record at a time.

    A zone that was still open when its part was written is told of twice, when it begins and when
    it ends. Only zones that are open at the same time are kept in mind.
    """

    def __init__(self, run: Run, names: RunNames, stream: str) -> None:
        """Learn how long each log and stream is, and which have no events."""
        self.names = names
        self.stream = stream
        self.counts = {log.place: log.count for log in run.logs}
        self.counts.update({s.place: s.count for s in run.streams if s.role != "heads"})
        self.heads = {s.place for s in run.streams if s.role == "heads"}
        # A chain may read one log under several names.
        first: dict[Namespace, str] = {}
        self._known_as = {place: first.setdefault(s, place) for place, s in names.places.items()}
        self._open: dict[tuple[str, str, int, int], Marks] = {}

    def part(self, table: pa.Table) -> Iterator[Rows]:
        """The relations of one part; what is said twice is said once."""
        found = _Found()
        if "back" in table.schema.names:
            for block in from_compact_table(table, self.stream).blocks:
                self._block(block, found)
        else:
            self._rows(associations_of(table, self.stream), found)
        yield from self._told(found)

    def rest(self) -> Iterator[Rows]:
        """The zones that go on to the end of the stream."""
        together: dict[tuple[str, str, Marks], list[tuple[int, int]]] = {}
        for (relation, to, lo, position), marks in self._open.items():
            together.setdefault((relation, to, marks), []).append((lo, position))
        for (relation, to, marks), places in together.items():
            source, target = self.names.at(self.stream), self.names.at(to)
            lows, inputs = np.array(places, np.int64).T
            yield from zone_rows(relation, source, target, marks, lows, None, inputs)

    def edges(self, edges: Iterable[Edge]) -> Iterator[Rows]:
        """Relations that are there event by event already."""
        found = _Found()
        for edge in edges:
            marks = Marks(edge.fields, edge.copy, edge.witness)
            key = (edge.relation, self._place(edge.input[0]))
            found.pair(key, marks, edge.output[1], edge.input[1])
        yield from self._told(found)

    def _block(self, block: Block, found: _Found) -> None:
        key = (block.relation, self._place(block.to))
        marks = Marks(block.fields, block.copy)
        if block.kind == "zones":
            self._settle(block, marks, found)
            return
        wide = block.wide
        if block.to in self.heads and block.step == block.sa == block.sb == 1:
            wide = wide | (block.more > 0)
        output, lo, hi = (block.where(~wide) if wide.any() else block).leads()
        far = hi - lo >= FEW
        if far.any():
            # Of outputs that are apart from each other.
            found.bands.add((*key, 0, 0), marks, output[far], output[far], lo[far], hi[far])
            output, lo, hi = output[~far], lo[~far], hi[~far]
        found.pairs.add(key, marks, *_each(output, lo, hi))
        for alone in (True, False):
            some = block.where(wide & ((block.more == 0) == alone))
            sa, sb = (0, 0) if alone else (block.sa, block.sb)
            o = some.outputs
            a, b = some.inputs - o * sa, some.inputs + some.width - o * sb
            found.bands.add((*key, sa, sb), marks, o, o + some.more, a, b)

    def _rows(self, rows: Iterable[Association], found: _Found) -> None:
        for row in rows:
            key = (row.relation, self._place(row.to))
            marks = Marks(row.fields, row.copy, row.witness)
            if row.kind == "band":
                hi = (self.counts.get(self.stream) or 1) - 1 if row.hi is None else row.hi
                numbers = (np.array([n]) for n in (row.lo, hi, row.a, row.b))
                found.bands.add((*key, row.sa, row.sb), marks, *numbers)
            elif row.hi is None:
                self._open[(*key, row.lo, row.inputs[0])] = marks
            else:
                if row.kind == "zone":
                    self._open.pop((*key, row.lo, row.inputs[0]), None)
                if row.kind == "zone" and (row.hi - row.lo >= FEW or self.stream in self.heads):
                    numbers = (np.array([n]) for n in (row.lo, row.hi, row.inputs[0]))
                    found.zones.add(key, marks, *numbers)
                    continue
                for output in range(row.lo, row.hi + 1):
                    for position in row.inputs:
                        found.pair(key, marks, output, position)

    def _settle(self, block: Block, marks: Marks, found: _Found) -> None:
        """Take the zones of a block whose end is known by now; keep the others in mind."""
        key = (block.relation, self._place(block.to))
        open_ = block.more < 0
        if open_.any() or self._open:
            columns = (open_, block.outputs, block.inputs)
            for is_open, lo, position in zip(*(c.tolist() for c in columns), strict=True):
                if is_open:
                    self._open[(*key, lo, position)] = marks
                else:
                    self._open.pop((*key, lo, position), None)
        ended = block.where(~open_)
        last = ended.outputs + ended.more * block.step
        found.zones.add(key, marks, ended.outputs, last, ended.inputs)

    def _place(self, to: str) -> str:
        self.names.at(to)  # refused if there is none
        return self._known_as[to]

    def _told(self, found: _Found) -> Iterator[Rows]:
        source = self.names.at(self.stream)
        for (relation, to), marks, pairs in found.all_pairs():
            heads = to in self.heads
            target = self.names.at(to)
            yield from pair_rows(relation, source, target, marks, *pairs, stands_for=heads)
        for (relation, to, sa, sb), marks, numbers in found.bands.each():
            lo, hi, a, b = numbers
            bands = Bands(lo, hi, a, b, sa, sb)
            target, count = self.names.at(to), self.counts.get(to)
            yield from band_rows(relation, source, target, marks, bands, count)
        for (relation, to), marks, zones in found.zones.each():
            yield from zone_rows(relation, source, self.names.at(to), marks, *zones)


class _Found:
    """What a part says, sorted by form."""

    def __init__(self) -> None:
        self.pairs: Gathered[tuple[str, str]] = Gathered()
        self.bands: Gathered[tuple[str, str, int, int]] = Gathered()
        self.zones: Gathered[tuple[str, str]] = Gathered()
        self._single: dict[tuple[tuple[str, str], Marks], tuple[list[int], list[int]]] = {}

    def pair(self, key: tuple[str, str], marks: Marks, output: int, position: int) -> None:
        outputs, inputs = self._single.setdefault((key, marks), ([], []))
        outputs.append(output)
        inputs.append(position)

    def all_pairs(self) -> Iterator[tuple[tuple[str, str], Marks, tuple[Ints, ...]]]:
        for (key, marks), (outputs, inputs) in self._single.items():
            self.pairs.add(key, marks, np.array(outputs), np.array(inputs))
        return self.pairs.each()


def _each(output: Ints, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
    if not (hi - lo).any():
        return output, lo
    inputs, which = flat_ranges(lo, hi - lo + 1)
    return output[which], inputs


def edge_rows(edges: Iterable[Edge], run: Run, names: RunNames) -> Iterator[Rows]:
    """The relations of an answer, event by event."""
    by_stream: dict[str, list[Edge]] = {}
    for edge in edges:
        by_stream.setdefault(edge.output[0], []).append(edge)
    for stream, some in by_stream.items():
        yield from Relations(run, names, stream).edges(some)

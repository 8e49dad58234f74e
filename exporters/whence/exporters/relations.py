"""From associations to PROV relations: event by event where it is few, by ranges where it is many.

========================  ==========================================================================
a list                    each pair of events, one relation
a zone, few outputs       the same
a zone, many outputs      the range of its outputs, related to the one event
a band                    the range of its outputs, related to the range that they are derived from
heads of slices           have no events of their own: ranges of positions represent them
========================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from whence.engine.lineage.block import Associations, Block
from whence.engine.lineage.heads import HeadZones
from whence.engine.lineage.positions import Ints, flat_ranges
from whence.exporters.expanding import Leads, expanded
from whence.exporters.gathering import Gathered
from whence.exporters.marks import Marks
from whence.exporters.model import Edge, Run
from whence.exporters.names import RunNames
from whence.exporters.pairs import Told, pair_rows, said_once
from whence.exporters.prov.identifiers import Namespace
from whence.exporters.prov.rows import Rows
from whence.exporters.spans import Bands, band_rows, zone_rows

__all__ = ["FEW", "Heads", "Relations", "edge_rows"]

Heads = Mapping[str, Mapping[str, HeadZones]]
"""The heads that streams of that role represent, by their origin."""

FEW = 16
"""A zone of at most this many outputs is written event by event."""


class Relations:
    """Turns the associations of a stream into statements, a part of the record at a time.

    A zone that was still open when its part was written is stated twice, when it begins and when
    it ends. Only zones that are open at the same time are held in memory.
    """

    def __init__(
        self,
        run: Run,
        names: RunNames,
        stream: str,
        expand: Heads | None = None,
    ) -> None:
        """Learn how long each log and stream is, and which have no events.

        Args:
            run: the run.
            names: its names.
            stream: whose associations they are.
            expand: write every pair by itself; the heads that streams of that role stand for.
        """
        self.expand = expand
        self.names = names
        self.stream = stream
        self.counts = {log.place: log.count for log in run.logs}
        self.counts.update({s.place: s.count for s in run.streams if not s.role.is_heads})
        self.heads = {s.place for s in run.streams if s.role.is_heads}
        self.work = names.works.get(_single_step(run, stream) or "")
        # A chain may read one log under several names.
        first: dict[Namespace, str] = {}
        self._known_as = {place: first.setdefault(s, place) for place, s in names.places.items()}
        self._open: dict[tuple[str, str, int, int], Marks] = {}

    def part(self, told: Associations) -> Iterator[Rows]:
        """The relations of one part, without duplicates."""
        if self.expand is None:
            yield from self._told(self._found(told))
        elif self.stream not in self.heads:
            yield from self._expanded(told, self.expand)

    def _found(self, told: Associations) -> _Found:
        found = _Found()
        for block in told.blocks:
            self._block(block, found)
        return found

    def rest(self) -> Iterator[Rows]:
        """The zones that continue to the end of the stream."""
        if self.expand is not None:
            return  # only heads have such zones; they are written where they are referred to
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
        marks = Marks(block.fields, block.copy, block.witness)
        if block.kind == "zones":
            self._settle(block, marks, found)
            return
        if block.kind == "bands":
            o = block.outputs
            end = (self.counts.get(self.stream) or 1) - 1
            last = np.where(block.more < 0, end, o + block.more)
            a, b = block.inputs - o * block.sa, block.inputs + block.width - o * block.sb
            found.bands.add((*key, block.sa, block.sb), marks, o, last, a, b)
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

    def _settle(self, block: Block, marks: Marks, found: _Found) -> None:
        """Take the zones of a block whose end is known; store the others for later."""
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
        if self.stream not in self.heads:
            few = ended.more < FEW
            output, lo, hi = ended.where(few).leads()
            found.pairs.add(key, marks, *_each(output, lo, hi))
            ended = ended.where(~few)
        found.zones.add(key, marks, ended.outputs, ended.ends, ended.inputs)

    def _place(self, to: str) -> str:
        self.names.at(to)  # refused if there is none
        return self._known_as[to]

    def leads(self, told: Associations) -> dict[str, list[Leads]]:
        """What each output of a part is derived from, by stream."""
        found = self._found(told)
        leads: dict[str, list[Leads]] = {}
        for (relation, to), marks, (output, position) in found.all_pairs():
            leads.setdefault(to, []).append(Leads(relation, marks, output, position, position))
        for (relation, to, sa, sb), marks, (lo, hi, a, b) in found.bands.each():
            output, which = flat_ranges(lo, hi - lo + 1)
            low, high = np.maximum(output * sa + a[which], 0), output * sb + b[which]
            count = self.counts.get(to)
            if count is not None:
                high = np.minimum(high, count - 1)
            there = low <= high
            some = Leads(relation, marks, output[there], low[there], high[there])
            leads.setdefault(to, []).append(some)
        for (relation, to), marks, (lo, hi, position) in found.zones.each():
            output, which = flat_ranges(lo, hi - lo + 1)
            some = Leads(relation, marks, output, position[which], position[which])
            leads.setdefault(to, []).append(some)
        return leads

    def _expanded(self, told: Associations, heads: Heads) -> Iterator[Rows]:
        for to, leads in self.leads(told).items():
            plain: Mapping[str, HeadZones | None] = {to: None}
            for target, zones in heads.get(to, plain).items():
                for pairs in expanded(leads, zones):
                    yield from self._pairs(target, pairs)

    def _pairs(self, to: str, several: Iterable[Told]) -> Iterator[Rows]:
        source, target, heads = self.names.at(self.stream), self.names.at(to), to in self.heads
        work = None if heads or self.expand is not None else self.work
        for (relation, marks, outputs, inputs), plain in said_once(several):
            yield from pair_rows(
                *(relation, source, target, marks, outputs, inputs),
                stands_for=heads,
                work=work,
                plain=plain,
            )

    def _told(self, found: _Found) -> Iterator[Rows]:
        source = self.names.at(self.stream)
        pairs: dict[str, list[Told]] = {}
        for (relation, to), marks, (outputs, inputs) in found.all_pairs():
            pairs.setdefault(to, []).append((relation, marks, outputs, inputs))
        for to, several in pairs.items():
            yield from self._pairs(to, several)
        for (relation, to, sa, sb), marks, numbers in found.bands.each():
            lo, hi, a, b = numbers
            bands = Bands(lo, hi, a, b, sa, sb)
            target, count = self.names.at(to), self.counts.get(to)
            yield from band_rows(relation, source, target, marks, bands, count)
        for (relation, to), marks, zones in found.zones.each():
            yield from zone_rows(relation, source, self.names.at(to), marks, *zones)


class _Found:
    """The relations of a part, sorted by form."""

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


def _single_step(run: Run, place: str) -> str | None:
    """The processor that made the events of a stream in one step from their origins."""
    for stream in run.streams:
        own = stream.role.is_pipe and stream.beside is None
        if stream.place == place and own and run.single_steps:
            return stream.processor
    return None


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

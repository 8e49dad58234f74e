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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from whence.engine.lineage.association import Association, Relation
from whence.engine.lineage.block import Associations, Block
from whence.engine.lineage.heads import HeadZones, zone_block
from whence.engine.lineage.rows import blocks_of_rows
from whence.exporters.expanding import expanded, pairs_block, pairs_of, singly
from whence.exporters.gathering import said_together
from whence.exporters.marks import Marks
from whence.exporters.model import Edge, Run
from whence.exporters.names import RunNames
from whence.exporters.pairs import pair_rows, said_once
from whence.exporters.prov.identifiers import Namespace
from whence.exporters.prov.rows import Rows
from whence.exporters.spans import band_rows, zone_rows

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
        self._open: dict[tuple[Relation, str, int, int], Marks] = {}

    def part(self, told: Associations) -> Iterator[Rows]:
        """The relations of one part, without duplicates."""
        if self.expand is None:
            yield from self._told(self._found(told))
        elif self.stream not in self.heads:
            yield from self._expanded(told, self.expand)

    def _found(self, told: Associations) -> list[Block]:
        """What a part says in pairs, bands and zones, each once."""
        return list(said_together(some for block in told.blocks for some in self._sorted(block)))

    def rest(self) -> Iterator[Rows]:
        """The zones that continue to the end of the stream."""
        if self.expand is not None:
            return  # heads alone have such zones, and they are written where they are led to
        together: dict[tuple[Relation, str, Marks], list[tuple[int, int]]] = {}
        for (relation, to, lo, position), marks in self._open.items():
            together.setdefault((relation, to, marks), []).append((lo, position))
        for (relation, to, marks), places in together.items():
            lows, inputs = np.array(places, np.int64).T
            none = np.zeros(len(lows), np.int64)
            zones = zone_block(to, lows, none - 1, inputs)
            zones = replace(zones, relation=relation, **marks._asdict())
            yield from zone_rows(zones, self.names.at(self.stream), self.names.at(to))

    def edges(self, edges: Iterable[Edge]) -> Iterator[Rows]:
        """Relations that are there event by event already."""
        rows = (
            Association(
                *(self.stream, edge.relation, "list", edge.output[1], edge.output[1]),
                *(self._place(edge.input[0]), (edge.input[1],)),
                fields=edge.fields,
                copy=edge.copy,
                witness=edge.witness,
            )
            for edge in edges
        )
        yield from self._told(list(said_together(blocks_of_rows(rows).get(self.stream, ()))))

    def _sorted(self, block: Block) -> Iterator[Block]:
        """The items of a block in the form in which they are written."""
        block = replace(block, to=self._place(block.to))
        if block.kind == "zones":
            yield from self._settled(block)
            return
        if block.kind == "bands":
            end = (self.counts.get(self.stream) or 1) - 1
            more = np.where(block.more < 0, end - block.outputs, block.more)
            yield block.of(block.outputs, more, block.inputs, block.width)
            return
        wide = block.wide
        if block.to in self.heads and block.step == block.sa == block.sb == 1:
            wide = wide | (block.more > 0)
        narrow = singly(block.where(~wide) if wide.any() else block)
        far = narrow.width >= FEW
        # Of outputs that are apart from each other.
        yield replace(narrow.where(far), kind="bands")
        yield pairs_block(narrow, *pairs_of(narrow.where(~far) if far.any() else narrow))
        alone = block.where(wide & (block.more == 0))
        yield replace(alone, kind="bands", step=1, sa=0, sb=0)
        yield replace(block.where(wide & (block.more != 0)), kind="bands")

    def _settled(self, block: Block) -> Iterator[Block]:
        """The zones of a block whose end is known by now; keep the others in mind."""
        relation, to, marks = block.relation, block.to, Marks.of(block)
        open_ = block.more < 0
        if open_.any() or self._open:
            columns = (open_, block.outputs, block.inputs)
            for is_open, lo, position in zip(*(c.tolist() for c in columns), strict=True):
                if is_open:
                    self._open[relation, to, lo, position] = marks
                else:
                    self._open.pop((relation, to, lo, position), None)
        ended = block.where(~open_)
        if self.stream not in self.heads:
            few = ended.more < FEW
            some = singly(ended.where(few))
            yield pairs_block(some, *pairs_of(some))
            ended = ended.where(~few)
        yield ended

    def _place(self, to: str) -> str:
        self.names.at(to)  # refused if there is none
        return self._known_as[to]

    def leads(self, told: Associations) -> dict[str, list[Block]]:
        """What each output of a part leads to, by stream; single outputs."""
        leads: dict[str, list[Block]] = {}
        for block in sorted(self._found(told), key=_form):
            single = block if block.kind == "each" else singly(block, self.counts.get(block.to))
            leads.setdefault(block.to, []).append(single)
        return leads

    def _expanded(self, told: Associations, heads: Heads) -> Iterator[Rows]:
        for to, leads in self.leads(told).items():
            plain: Mapping[str, HeadZones | None] = {to: None}
            for target, zones in heads.get(to, plain).items():
                for pairs in expanded(leads, zones):
                    yield from self._pairs(target, pairs)

    def _pairs(self, to: str, several: Sequence[Block]) -> Iterator[Rows]:
        source, target, heads = self.names.at(self.stream), self.names.at(to), to in self.heads
        work = None if heads or self.expand is not None else self.work
        for block, plain in said_once(several):
            yield from pair_rows(block, source, target, stands_for=heads, work=work, plain=plain)

    def _told(self, found: Sequence[Block]) -> Iterator[Rows]:
        source = self.names.at(self.stream)
        pairs: dict[str, list[Block]] = {}
        for block in found:
            if block.kind == "each":
                pairs.setdefault(block.to, []).append(block)
        for to, several in pairs.items():
            yield from self._pairs(to, several)
        for block in sorted(found, key=_form):
            target = self.names.at(block.to)
            if block.kind == "bands":
                yield from band_rows(block, source, target, self.counts.get(block.to))
            elif block.kind == "zones":
                yield from zone_rows(block, source, target)


def _form(block: Block) -> int:
    return ("each", "bands", "zones").index(block.kind)


def _single_step(run: Run, place: str) -> str | None:
    """The processor that made the events of a stream in one step from their origins."""
    for stream in run.streams:
        own = stream.role.is_pipe and stream.beside is None
        if stream.place == place and own and run.single_steps:
            return stream.processor
    return None


def edge_rows(edges: Iterable[Edge], run: Run, names: RunNames) -> Iterator[Rows]:
    """The relations of an answer, event by event."""
    by_stream: dict[str, list[Edge]] = {}
    for edge in edges:
        by_stream.setdefault(edge.output[0], []).append(edge)
    for stream, some in by_stream.items():
        yield from Relations(run, names, stream).edges(some)

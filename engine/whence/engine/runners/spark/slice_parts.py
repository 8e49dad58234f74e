"""The two halves of a Slice on several tasks, as Spark's workers do them.

First every partition of keys runs P over its events (`Inside`) and gives pieces: what it has to say
of one part of the record. Then the pieces of a part meet in one task: those of inner streams become
the part (`gathered`), and the notes on slices become the outputs of the whole chain (`Together`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from whence.engine.interpreter.pending import Pending, summed
from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Column, Ints, from_arrow, records
from whence.engine.kernels.slice_apart import Notes, SliceInside, SliceTogether
from whence.engine.kernels.trails.encoding import Widths, blocks_of
from whence.engine.kernels.trails.entries import ASKED, Entries, Names
from whence.engine.kernels.trails.trail import Nothing, Spans, Trail
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.block import Associations, Block
from whence.engine.record.compact import compact_table, from_compact_table
from whence.engine.record.manifest import StreamInfo, StreamRole
from whence.engine.runners.kernel_parts import KernelParts, PartWriter
from whence.engine.runners.local_kernels import kernel_work, told_where
from whence.engine.runners.options import RunOptions
from whence.engine.values.limits import limited

__all__ = ["Inside", "LogShape", "Piece", "Together", "gathered"]

NOTES = StreamInfo.new("", "", 0, StreamRole.INNER, 1)
"""The stream of notes: no processor is called so."""

_INSIDE = (StreamRole.INNER, StreamRole.HEADS)
"""What the tasks of the first half write."""


class LogShape(NamedTuple):
    """What tasks must know of a log: its columns with their kinds, and whether they are events."""

    columns: Mapping[str, str]
    plain: bool
    length: int


class Piece(NamedTuple):
    """What one partition says of one part of a stream.

    Attributes:
        stream: as the manifest lists it; its name is empty for notes on slices.
        part: the number of the part.
        events: its outputs or its notes; ``None`` if there are none.
        associations: what these are derived from; ``None`` if nothing.
        tracked: how many of them have associations.
    """

    stream: StreamInfo
    part: int
    events: pa.Table | None
    associations: pa.Table | None
    tracked: int


class _Pieces:
    """Takes parts as a run's writer does, and keeps them as pieces."""

    def __init__(self) -> None:
        self.streams: dict[str, StreamInfo] = {}
        self.pieces: list[Piece] = []

    def add_stream(self, stream: StreamInfo) -> None:
        self.streams.setdefault(stream.name, stream)

    def add(
        self, stream: str, part: int, events: pa.Table | None, rows: Associations, tracked: int = 0
    ) -> None:
        said = compact_table(rows) if any(len(block) for block in rows.blocks) else None
        if said is not None or (events is not None and events.num_rows):
            self.pieces.append(Piece(self.streams[stream], part, events, said, tracked))


class Inside:
    """P at work on the events of some keys.

    Args:
        chain: the whole chain, of which only the Slice at its head is run.
        log: the shape of its log.
        options: what to keep and how.
    """

    def __init__(self, chain: Chain, log: LogShape, options: RunOptions) -> None:
        self.log = log
        self.work = kernel_work(chain, options)
        self.kernel = SliceInside(self.work.kernels.steps[0].kernel.place)
        self.parts = KernelParts(self.work, None, options.chunk)
        self.chunk = options.chunk
        self.sink = _Pieces()
        self.notes: dict[int, list[Notes]] = {}

    def feed(self, table: pa.Table) -> Iterator[Piece]:
        """Take events in order; give the pieces that are complete."""
        work = self.work
        positions = table.column("position").to_numpy()
        (target,) = work.targets
        trail: Trail = Nothing(len(positions))
        if work.run.tracked:
            trail = Spans(target, ASKED, positions, positions)
        values = _values(table, self.log, work)
        work.run.lengths[target] = int(positions[-1]) + 1
        batch = Batch(values, positions, None, trail, trail, None)
        with limited(work.budget):
            self.kernel.feed(Front((batch,), positions, None), work.born_now())
        self._note(self.kernel.note(positions))
        yield from self._ready(int(positions[-1]) // self.chunk)

    def finish(self) -> Iterator[Piece]:
        """The pieces that are left."""
        yield from self._ready(None)

    def pending(self) -> Pending:
        """What its slices have pending."""
        if self.work.run.closed:
            return {}
        return {self.kernel.place.name: self.kernel.pending()}

    def _note(self, notes: Notes) -> None:
        none = notes.began[:0]
        for part in np.unique(notes.began // self.chunk).tolist():
            here = notes.began[notes.began // self.chunk == part]
            self.notes.setdefault(part, []).append(Notes(here, none, none, none > 0, none))
        for part in np.unique(notes.at // self.chunk).tolist():
            some = notes.at // self.chunk == part
            of_part = Notes(
                none, notes.at[some], notes.slot[some], notes.decides[some], notes.head[some]
            )
            self.notes.setdefault(part, []).append(of_part)

    def _ready(self, reached: int | None) -> Iterator[Piece]:
        self.parts.take()
        self.parts.write(self.sink, last=reached is None)
        yield from (p for p in self.sink.pieces if p.stream.role in _INSIDE)
        self.sink.pieces.clear()
        for part in sorted(self.notes):
            if reached is None or part < reached:
                notes = self.notes.pop(part)
                yield Piece(NOTES, part, _notes_table(notes), None, 0)


def _values(table: pa.Table, log: LogShape, work: KernelWork) -> Column:
    texts = work.run.texts
    columns = {
        name: from_arrow(table.column(f"c{number}"), kind, texts)
        for number, (name, kind) in enumerate(log.columns.items())
    }
    return columns["value"] if log.plain else records(columns, table.num_rows, texts)


def _notes_table(notes: Sequence[Notes]) -> pa.Table:
    """Notes as one table: of a slice that began only the place."""
    joined = Notes(*(np.concatenate(arrays) for arrays in zip(*notes, strict=True)))
    count = len(joined.began)
    none = np.full(count, -1)
    return pa.table(
        {
            "at": np.concatenate([joined.began, joined.at]),
            "slot": np.concatenate([none, joined.slot]),
            "decides": np.concatenate([none >= 0, joined.decides]),
            "head": np.concatenate([none, joined.head]),
        }
    )


def notes_of(table: pa.Table | None) -> Notes:
    """What `_notes_table` wrote."""
    if table is None:
        none = np.empty(0, np.int64)
        return Notes(none, none, none, none > 0, none)
    at, slot, decides, head = (
        table.column(name).to_numpy() for name in ("at", "slot", "decides", "head")
    )
    began = slot < 0
    return Notes(at[began], at[~began], slot[~began], decides[~began], head[~began])


class Together:
    """The whole chain at work, from the notes on its slices.

    Args:
        chain: the whole chain.
        log: the shape of its log.
        options: what to keep and how.
        writer: takes the parts.
        partitions: how many partitions give notes.
    """

    def __init__(
        self,
        chain: Chain,
        log: LogShape,
        options: RunOptions,
        writer: PartWriter,
        partitions: int,
    ) -> None:
        self.log = log
        self.chunk = options.chunk
        self.writer = writer
        self.partitions = partitions
        self.work = kernel_work(chain, options)
        at = self.work.kernels.steps[0]
        self.kernel = at.kernel = SliceTogether(at.kernel.place)
        self.parts = KernelParts(self.work, told_where(options), options.chunk)
        self.reached = 0

    def feed(self, part: int, pieces: Mapping[int, pa.Table | None]) -> None:
        """Take the notes of all partitions on one part; parts come in order, some are left out."""
        while self.reached < part:
            self._feed(self.reached, {})
        self._feed(part, pieces)

    def _feed(self, part: int, pieces: Mapping[int, pa.Table | None]) -> None:
        first = part * self.chunk
        count = min(first + self.chunk, self.log.length) - first
        self.kernel.expect(first, [notes_of(pieces.get(n)) for n in range(self.partitions)])
        texts = self.work.run.texts
        column = Column("boolean", np.zeros(count, np.bool_), None, texts)
        (name,) = self.work.chain.inputs
        self.work.feed({name: column})
        self.parts.take()
        self.parts.write(self.writer)
        self.reached = part + 1

    def finish(self, inside: Sequence[Pending] = ()) -> Pending:
        """After the last part: write what is left, say what is pending.

        Args:
            inside: what the partitions have pending.
        """
        while self.reached * self.chunk < self.log.length:
            self._feed(self.reached, {})
        self.work.close()
        self.parts.take()
        self.parts.write(self.writer, last=True)
        return summed([self.work.kernels.pending(), *inside])


def gathered(stream: StreamInfo, pieces: Sequence[Piece]) -> tuple[pa.Table | None, Associations]:
    """The pieces of one part as that part: outputs in order, associations joined."""
    tables = [piece.events for piece in pieces if piece.events is not None]
    events = None
    if tables:
        events = pa.concat_tables(tables)
        order = np.argsort(events.column("position").to_numpy(), kind="stable")
        events = events.take(pa.array(order)).combine_chunks()
    name = stream.name
    alike: dict[object, list[Block]] = {}
    for piece in pieces:
        if piece.associations is not None:
            for block in from_compact_table(piece.associations, name).blocks:
                alike.setdefault(block.key, []).append(block)
    blocks = [b for some in alike.values() for b in _joined(some, stream.w)]
    return events, Associations(name, tuple(blocks))


def _joined(blocks: Sequence[Block], w: int) -> Iterator[Block]:
    """Blocks of one kind as few as can be, in order of their outputs."""
    one = blocks[0]
    if one.kind == "zones":
        arrays = [
            np.concatenate([getattr(block, name) for block in blocks])
            for name in ("outputs", "more", "inputs", "width")
        ]
        order = np.argsort(arrays[0], kind="stable")
        yield one.of(*(array[order] for array in arrays))
        return
    leads = [block.leads() for block in blocks]
    output, lo, hi = (np.concatenate(arrays) for arrays in zip(*leads, strict=True))
    places: Ints
    places, row = np.unique(output, return_inverse=True)
    names = Names()
    target = names.target(one.to)
    code = ASKED if one.copy else names.field_set(_set(one.fields))
    inside = {} if one.to.startswith(LOG_PREFIX) else {target: w}
    entries = Entries(row, np.full(len(row), target), np.full(len(row), code), lo, hi)
    yield from blocks_of(entries.sorted(), places, names, Widths(w, inside), one.relation)


def _set(fields: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if fields is None else frozenset(fields)

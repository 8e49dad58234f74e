"""Cut what kernels keep into the parts of the record, as far as the run has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from whence.engine.kernels.columns.column import Column, Ints
from whence.engine.kernels.columns.lazy_ints import Counted, Numbers, made
from whence.engine.kernels.head_zones import HeadChanges
from whence.engine.kernels.kernel import Kept, Part
from whence.engine.kernels.trails.encoding import Widths, blocks_of, encode
from whence.engine.kernels.work import KernelWork
from whence.engine.lineage.block import Associations, Block
from whence.engine.record.coded import joined
from whence.engine.record.compact import compact_table, from_compact_table
from whence.engine.record.manifest import StreamInfo, StreamRole
from whence.engine.record.output_columns import outputs_table, selected
from whence.engine.values import Value
from whence.engine.values.limits import RunLimits
from whence.engine.values.slice_limits import MapRoom

__all__ = ["KernelParts", "PartWriter"]


class PartWriter(Protocol):
    """What takes the parts of a run."""

    def add_stream(self, stream: StreamInfo) -> None:
        """List one more stream, unless it is listed already."""

    def add(
        self, stream: str, part: int, events: pa.Table | None, rows: Associations, tracked: int = 0
    ) -> None:
        """Take one part of a stream."""


class _Waiting:
    """What a stream has output since its last complete part."""

    def __init__(self, name: str, width: int, limits: RunLimits) -> None:
        self.name = name
        self.width = width
        self.last = -1
        self.tables: dict[int, list[pa.Table]] = {}
        self.blocks: dict[int, list[Block]] = {}
        self.tracked: dict[int, int] = {}
        self.room = MapRoom(name, limits)

    def ready(self, *, last: bool) -> list[int]:
        """The parts that are complete."""
        reached = (self.last + 1) // self.width
        parts = sorted({*self.tables, *self.blocks})
        return [part for part in parts if last or part < reached]

    def take(self, part: int) -> tuple[pa.Table | None, Associations, int]:
        tables = self.tables.pop(part, [])
        events = joined(tables) if tables else None
        blocks = self.blocks.pop(part, [])
        return events, Associations(self.name, tuple(blocks)), self.tracked.pop(part, 0)

    def save(self) -> dict[str, object]:
        return {
            "last": self.last,
            "tables": {part: joined(some) for part, some in self.tables.items()},
            "blocks": {
                part: compact_table(Associations(self.name, tuple(some)))
                for part, some in self.blocks.items()
            },
            "tracked": dict(self.tracked),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.last = state["last"]
        self.tables = {int(part): [table] for part, table in state["tables"].items()}
        self.blocks = {
            int(part): list(from_compact_table(table, self.name).blocks)
            for part, table in state["blocks"].items()
        }
        self.tracked = {int(part): count for part, count in state["tracked"].items()}


class KernelParts:
    """Takes the results of kernels, batch by batch, and writes complete parts.

    A part n of a stream holds the positions n*chunk to (n+1)*chunk - 1; inside a Slice the position
    in the whole stream counts. Batches need not end where parts do.

    Args:
        work: the chain at work.
        where: which outputs are tracked, by their value; all, unless given.
        chunk: positions a part.
    """

    def __init__(self, work: KernelWork, where: Callable[[Value], bool] | None, chunk: int) -> None:
        self.work = work
        self.where = where
        self.chunk = chunk
        self.waiting: dict[str, _Waiting] = {}
        self.zones = {name: HeadChanges(heads) for name, heads in work.run.heads.items()}

    def streams(self) -> Iterator[StreamInfo]:
        """The streams so far, as the manifest lists them."""
        run = self.work.run
        for kept in run.kept.values():
            yield StreamInfo.new(kept.name, kept.processor, kept.pipe, kept.role, kept.w)
        for heads in run.heads.values():
            yield StreamInfo.new(heads.name, heads.processor, 0, StreamRole.HEADS, 1)
        for name in self.work.chain.outputs:
            yield StreamInfo.new(f"{name}/end", name, 0, StreamRole.END, 1)

    def take(self) -> None:
        """Take the results of the kernels since the last call."""
        run = self.work.run
        widths = {kept.target: kept.w for kept in run.kept.values() if kept.w > 1}
        for kept in run.kept.values():
            waiting = self._waiting(kept.name, kept.w)
            parts, kept.parts = kept.parts, []
            for part in parts:
                self._take(kept, part, waiting, Widths(kept.w, widths))
        for name, zones in self.zones.items():
            waiting = self._waiting(name, 1)
            for number, block in zones.take(self.work.run.names, self.chunk):
                waiting.blocks.setdefault(number, []).append(block)
            waiting.last = max(waiting.last, zones.last - 1)

    def _waiting(self, name: str, w: int) -> _Waiting:
        found = self.waiting.get(name)
        if found is None:
            found = self.waiting[name] = _Waiting(name, self.chunk * w, self.work.budget.limits)
        return found

    def _take(self, kept: Kept, part: Part, waiting: _Waiting, widths: Widths) -> None:
        for number, start, stop in _cuts(part.positions, waiting.width):
            rows = np.arange(start, stop)
            values = None if part.values is None else part.values.slice(start, stop)
            table = outputs_table(part.positions[rows], part.moments[rows], values, waiting.room)
            waiting.tables.setdefault(number, []).append(table)
            if not self.work.run.tracked:
                continue
            told = self._told(kept, values, rows)
            waiting.tracked[number] = waiting.tracked.get(number, 0) + len(told)
            names = self.work.run.names
            blocks = encode(part.why, part.sup, part.positions, names, widths, told)
            waiting.blocks.setdefault(number, []).extend(blocks)
        if len(part.positions):
            # Inside a Slice there may be more at the same position, so the last is not over yet.
            last = int(part.positions[-1])
            waiting.last = last if kept.w == 1 else (last // kept.w) * kept.w - 1

    def _told(self, kept: Kept, values: Column | None, rows: Ints) -> Ints:
        if not kept.role.is_output or self.where is None or values is None:
            return rows
        return rows[selected(values, self.where)]

    def write(self, writer: PartWriter, *, last: bool = False) -> bool:
        """Write every part that is complete, at the end all; say whether there was any."""
        for stream in self.streams():
            writer.add_stream(stream)
        wrote = False
        for name, waiting in self.waiting.items():
            for part in waiting.ready(last=last):
                events, associations, tracked = waiting.take(part)
                writer.add(name, part, events, associations, tracked)
                wrote = True
        if last and self.work.run.tracked:
            for number, name in enumerate(self.work.chain.outputs):
                writer.add(f"{name}/end", 0, None, self._end(number, f"{name}/end"))
        return wrote

    def _end(self, number: int, stream: str) -> Associations:
        run = self.work.run
        entries = self.work.end(number)
        none = np.zeros(len(entries.row), np.int64)
        entries = entries.rows(none).sorted()
        if not len(entries.row):
            return Associations(stream)
        widths = Widths(1, {kept.target: kept.w for kept in run.kept.values()})
        at = np.zeros(1, np.int64)
        return Associations(stream, tuple(blocks_of(entries, at, run.names, widths, "supports")))

    def save(self) -> dict[str, object]:
        """What is not written yet."""
        return {
            "waiting": {name: waiting.save() for name, waiting in self.waiting.items()},
            "zones": {name: zones.save() for name, zones in self.zones.items()},
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Resume from what `save` returned."""
        widths = {kept.name: kept.w for kept in self.work.run.kept.values()}
        for name, told in state["waiting"].items():
            self._waiting(name, widths.get(name, 1)).load(told)
        for name, told in state["zones"].items():
            self.zones[name].load(told)


def _cuts(positions: Numbers, width: int) -> Iterator[tuple[int, int, int]]:
    """Where rows in order belong to different parts: part, first row, row after the last."""
    if not len(positions):
        return
    first, last = int(positions[0]) // width, int(positions[-1]) // width
    if first == last:
        yield first, 0, len(positions)
        return
    if isinstance(positions, Counted):
        begin = positions.first
        for number in range(first, last + 1):
            start = max(number * width - begin, 0)
            yield number, start, min((number + 1) * width - begin, len(positions))
        return
    numbers = made(positions) // width
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(numbers)], strict=True):
        yield int(numbers[start]), start, stop

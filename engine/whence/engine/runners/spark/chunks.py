"""A chain whose outputs depend on few neighbouring events, on several of Spark's tasks.

Every task reads a range of positions, and as many events beyond its end as its last outputs need
(the halo). Ranges end where parts of the record do, so that every part has one writer.

Where the chain ends in a G or F, an output waits for the next event that decides it, however far
away that is. So every range is first looked through for one. A task reads on until its outputs are
decided. After the last range that has such an event nothing is: its task reads to the end of the
log, for what waits there, and the ranges after it have no outputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whence.engine.errors import WhenceError
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.lineage.block import Associations
from whence.engine.record.logs import LogRecord
from whence.engine.record.place import place_of
from whence.engine.record.staged import StagedParts
from whence.engine.runners.kernel_parts import KernelParts
from whence.engine.runners.local_kernels import kernel_work, told_where
from whence.engine.runners.log_batches import read_batches
from whence.engine.runners.options import RunOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["ChunkTasks", "told_by_chunks"]

_TOLD = pa.schema([("told", pa.string())])


class _Until(StagedParts):
    """Leaves out what belongs to the next task; what the end depends on is reported by the last."""

    def __init__(self, folder: Path, stop: int | None) -> None:
        super().__init__(folder)
        self.stop = stop

    def add(
        self, stream: str, part: int, events: pa.Table | None, rows: Any, tracked: int = 0
    ) -> None:
        ends = self._streams[stream].role.is_end
        if self.stop is None or (part < self.stop and not ends):
            assert isinstance(rows, Associations)
            super().add(stream, part, events, rows, tracked)


@dataclass(frozen=True)
class ChunkTasks:
    """What the tasks of one run must know.

    Attributes:
        folder: the run's, as the workers see it.
        log: the log's folder, as the workers see it.
        chain: what to run.
        options: what to keep and how.
        tasks: how many work at the same time.
        halo: how many events each reads beyond its end.
        reads_on: whether each reads on from there until its outputs are decided.
        final: the number of the last that has outputs.
    """

    folder: str
    log: str
    chain: Chain
    options: RunOptions
    tasks: int
    halo: int
    reads_on: bool = False
    final: int | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in [n for batch in list(batches) for n in batch.column(0).to_pylist()]:
            told = json.dumps(self.do(number))
            yield pa.RecordBatch.from_pydict({"told": [told]}, schema=_TOLD)

    def look(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Say which of the ranges whose numbers come decide anything."""
        for number in [n for batch in list(batches) for n in batch.column(0).to_pylist()]:
            told = json.dumps(number if self.decides(number) else -1)
            yield pa.RecordBatch.from_pydict({"told": [told]}, schema=_TOLD)

    def _range(self, number: int) -> tuple[LogRecord, int, int]:
        """The log, the first part of a range, and the part after its last."""
        log = LogRecord.open(place_of(self.log))
        parts = -(-log.length // self.options.chunk)
        return log, parts * number // self.tasks, parts * (number + 1) // self.tasks

    def _begun(self, first: int, options: RunOptions) -> KernelWork:
        """The chain, about to read from a part on."""
        work = kernel_work(self.chain, options)
        (target,) = work.targets
        work.run.lengths[target] = first * options.chunk
        work.last = first * options.chunk - 1
        for kept in work.run.kept.values():
            kept.count = first * options.chunk
        return work

    def decides(self, number: int) -> bool:
        """Whether any output is decided inside a range; reads as far as to the first."""
        log, first, stop = self._range(number)
        chunk = self.options.chunk
        work = self._begun(first, replace(self.options, tracked=False, closed=False))
        (name,) = self.chain.inputs
        try:
            for columns in read_batches({name: log}, work.run.texts, chunk, first):
                work.feed(columns)
                if _spoken(work) > first * chunk:
                    return True
                if work.last + 1 >= stop * chunk + self.halo:
                    return False
        except WhenceError:
            return True  # its caller reports it
        return False

    def do(self, number: int) -> dict[str, Any]:
        """One range; what was written, or what was wrong."""
        log, first, stop = self._range(number)
        chunk = self.options.chunk
        last = number == (self.tasks - 1 if self.final is None else self.final)
        writer = _Until(place_of(self.folder), None if last else stop)
        work = self._begun(first, self.options)
        (name,) = self.chain.inputs
        written = KernelParts(work, told_where(self.options), chunk)
        end = log.length if last else stop * chunk + self.halo
        try:
            for columns in read_batches({name: log}, work.run.texts, chunk, first):
                work.feed(columns)
                written.take()
                written.write(writer)
                decided = last or not self.reads_on or _spoken(work) >= stop * chunk
                if work.last + 1 >= end and decided:
                    break
            work.close()
            written.take()
            written.write(writer, last=True)
        except WhenceError as fault:
            return {**writer.told(), "error": str(fault)}
        return {**writer.told(), "pending": work.kernels.pending() if last else {}}


def _spoken(work: KernelWork) -> int:
    """How far all outputs have come."""
    return min(kept.count for kept in work.run.kept.values() if kept.role.is_output)


def told_by_chunks(session: SparkSession, tasks: ChunkTasks) -> list[dict[str, Any]]:
    """Let Spark do it; return what every task reports."""

    def told(count: int, do: Callable[..., Iterator[pa.RecordBatch]]) -> list[Any]:
        ranges = session.range(0, count, 1, count)
        return [json.loads(row["told"]) for row in ranges.mapInArrow(do, "told string").collect()]

    if tasks.reads_on:
        tasks = replace(tasks, final=max(0, *told(tasks.tasks, tasks.look)))
    return told(tasks.tasks if tasks.final is None else tasks.final + 1, tasks)

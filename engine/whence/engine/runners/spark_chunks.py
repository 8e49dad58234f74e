"""A chain whose outputs depend on few neighbouring events, on several of Spark's tasks.

Every task reads a range of positions, and as many events beyond its end as its last outputs need
(the halo). Ranges end where parts of the record do, so that every part has one writer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whence.engine.chain import Chain
from whence.engine.compact import Associations
from whence.engine.errors import WhenceError
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
    """Leaves out what belongs to the next task."""

    def __init__(self, folder: Path, stop: int) -> None:
        super().__init__(folder)
        self.stop = stop

    def add(
        self, stream: str, part: int, events: pa.Table | None, rows: Any, tracked: int = 0
    ) -> None:
        if part < self.stop:
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
    """

    folder: str
    log: str
    chain: Chain
    options: RunOptions
    tasks: int
    halo: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Do the ranges whose numbers come."""
        for number in [n for batch in list(batches) for n in batch.column(0).to_pylist()]:
            told = json.dumps(self.do(number))
            yield pa.RecordBatch.from_pydict({"told": [told]}, schema=_TOLD)

    def do(self, number: int) -> dict[str, Any]:
        """One range; what was written, or what was wrong."""
        log, chunk = LogRecord.open(place_of(self.log)), self.options.chunk
        parts = -(-log.length // chunk)
        first, stop = parts * number // self.tasks, parts * (number + 1) // self.tasks
        last = number == self.tasks - 1
        writer = _Until(place_of(self.folder), parts + 1 if last else stop)
        work = kernel_work(self.chain, self.options)
        (name,), (target,) = self.chain.inputs, work.targets
        work.run.lengths[target] = first * chunk
        work.last = first * chunk - 1
        for kept in work.run.kept.values():
            kept.count = first * chunk
        written = KernelParts(work, told_where(self.options), chunk)
        end = log.length if last else stop * chunk + self.halo
        try:
            for columns in read_batches({name: log}, work.run.texts, chunk, first):
                work.feed(columns)
                written.take()
                written.write(writer)
                if work.last + 1 >= end:
                    break
            work.close()
            written.take()
            written.write(writer, last=True)
        except WhenceError as fault:
            return {**writer.told(), "error": str(fault)}
        return {**writer.told(), "pending": work.kernels.pending() if last else {}}


def told_by_chunks(session: SparkSession, tasks: ChunkTasks) -> list[dict[str, Any]]:
    """Let Spark do it; return what every task tells."""
    ranges = session.range(0, tasks.tasks, 1, tasks.tasks)
    return [json.loads(row["told"]) for row in ranges.mapInArrow(tasks, "told string").collect()]

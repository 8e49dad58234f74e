"""A Slice at the head of a chain on several of Spark's tasks, exactly.

The events are sent about by their keys and put in order within each partition; P runs there. What
the partitions say of each part of the record meets in a second round of tasks, which write it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whence.engine.errors import WhenceError
from whence.engine.interpreter.pending import Pending
from whence.engine.kernels.expressions.expression import RowFault
from whence.engine.language.chain import Chain
from whence.engine.record.logs import LogRecord
from whence.engine.record.manifest import StreamInfo
from whence.engine.record.on_spark import read_parquet
from whence.engine.record.place import place_of
from whence.engine.record.staged import StagedParts
from whence.engine.runners.local_kernels import BATCH
from whence.engine.runners.options import RunOptions
from whence.engine.runners.spark.slice_parts import (
    NOTES,
    Inside,
    LogShape,
    Piece,
    Together,
    gathered,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SliceTasks", "told_by_slices"]

_PIECES = pa.schema(
    [
        ("to", pa.int32()),
        ("part", pa.int64()),
        ("stream", pa.string()),
        ("piece", pa.int32()),
        ("events", pa.binary()),
        ("associations", pa.binary()),
        ("tracked", pa.int64()),
        ("error", pa.string()),
    ]
)
_LAST, _PENDING = 2**62, "pending"
"""The part, behind all others, and the stream of what a partition has pending."""
_TOLD = pa.schema([("told", pa.string())])


@dataclass(frozen=True)
class SliceTasks:
    """What the tasks of one run must know.

    Attributes:
        folder: the run's, as the workers see it.
        chain: what to run.
        log: the shape of its log.
        options: what to keep and how.
        tasks: how many work at the same time.
        batch: events a batch.
    """

    folder: str
    chain: Chain
    log: LogShape
    options: RunOptions
    tasks: int
    batch: int = BATCH

    def inside(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """P over the events of one partition, which come in order."""
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        error: str | None = None
        work = Inside(self.chain, self.log, self.options)
        for table in _larger(batches, self.batch):
            if error is not None:
                continue  # a worker whose input is not read to its end is lost
            try:
                for piece in work.feed(table):
                    yield self._row(piece, number)
            except (WhenceError, RowFault) as fault:
                error = str(fault)
        if error is None:
            for piece in work.finish():
                yield self._row(piece, number)
            pending = json.dumps(work.pending())
            yield _batch(_PIECES, [0, _LAST, _PENDING, number, None, None, 0, pending])
        else:
            yield _batch(_PIECES, [0, -1, "", number, None, None, 0, error])

    def _row(self, piece: Piece, number: int) -> pa.RecordBatch:
        notes = piece.stream is NOTES
        to = 0 if notes else 1 + piece.part % self.tasks
        stream = "" if notes else json.dumps(piece.stream.json(), sort_keys=True)
        tables = (_to_bytes(piece.events), _to_bytes(piece.associations))
        return _batch(_PIECES, [to, piece.part, stream, number, *tables, piece.tracked, None])

    def gather(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The pieces of some parts, in order of part and stream, as parts of the record."""
        rows = (row for batch in batches for row in batch.to_pylist())
        staged = StagedParts(place_of(self.folder))
        together: Together | None = None
        told: dict[str, Any] = {}
        pending: list[Pending] = []
        for (part, stream), some in groupby(rows, lambda row: (row["part"], row["stream"])):
            pieces = list(some)
            if part < 0 or "error" in told:
                told["error"] = told.get("error") or pieces[0]["error"]
            elif stream == _PENDING:
                pending = [json.loads(row["error"]) for row in pieces]
            elif stream:
                _write(staged, StreamInfo.read(json.loads(stream)), part, pieces)
            else:
                together = together or self._together(staged)
                try:
                    together.feed(part, {row["piece"]: _table(row["events"]) for row in pieces})
                except WhenceError as fault:
                    told["error"] = str(fault)
        if together is not None and "error" not in told:
            try:
                told["pending"] = together.finish(pending)
            except WhenceError as fault:
                told["error"] = str(fault)
        yield _batch(_TOLD, [json.dumps({**staged.told(), **told})])

    def _together(self, staged: StagedParts) -> Together:
        return Together(self.chain, self.log, self.options, staged, self.tasks)


def _write(staged: StagedParts, stream: StreamInfo, part: int, rows: list[Any]) -> None:
    pieces = [
        Piece(stream, part, _table(row["events"]), _table(row["associations"]), row["tracked"])
        for row in rows
    ]
    staged.add_stream(stream)
    events, associations = gathered(stream, pieces)
    staged.add(stream.name, part, events, associations, sum(p.tracked for p in pieces))


def told_by_slices(
    session: SparkSession, tasks: SliceTasks, log: LogRecord, key: str
) -> list[dict[str, Any]]:
    """Let Spark do it; return what every task of the second round reports.

    Args:
        session: where.
        tasks: what they must know.
        log: the log in the record.
        key: the column of the key.
    """
    from pyspark.sql import functions as f

    number = list(log.columns).index(key)
    pieces = (
        read_log(session, log)
        .repartition(tasks.tasks, f"c{number}")
        .sortWithinPartitions("position")
        .mapInArrow(tasks.inside, _ddl(_PIECES))
    )
    gathered_ = (
        pieces.repartitionById(tasks.tasks + 1, f.col("to"))
        .sortWithinPartitions("part", "stream", "piece")
        .mapInArrow(tasks.gather, _ddl(_TOLD))
    )
    return [json.loads(row["told"]) for row in gathered_.collect()]


def read_log(session: SparkSession, log: LogRecord) -> DataFrame:
    """A log of the record as Spark reads it: positions, and the columns by number."""
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    kinds: dict[str, t.DataType] = {
        "boolean": t.BooleanType(),
        "integer": t.LongType(),
        "float": t.DoubleType(),
        "instant": t.TimestampType(),
        "duration": t.LongType(),
    }
    fields = [t.StructField("position", t.LongType()), t.StructField("row", t.LongType())]
    for name, kind in log.columns.items():
        fields.append(t.StructField(name, kinds.get(kind, t.StringType())))
    paths = [log.folder / f"part-{n:05d}.parquet" for n in range(log.manifest.parts)]
    columns = [
        f.col(f"`{column.replace('`', '``')}`").alias(f"c{number}")
        for number, column in enumerate(log.columns)
    ]
    return read_parquet(session, paths, t.StructType(fields)).select("position", *columns)


def _larger(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Spark's batches as tables of about this size; every call of a kernel costs something."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        while rows >= size:
            table = pa.Table.from_batches(held)
            yield table.slice(0, size)
            rest = table.slice(size)
            held, rows = rest.to_batches(), rest.num_rows
    if rows:
        yield pa.Table.from_batches(held)


def _ddl(schema: pa.Schema) -> str:
    names = {"int32": "int", "int64": "long", "string": "string", "binary": "binary"}
    return ", ".join(f"`{field.name}` {names[str(field.type)]}" for field in schema)


def _batch(schema: pa.Schema, row: list[Any]) -> pa.RecordBatch:
    columns = [pa.array([value], field.type) for value, field in zip(row, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _to_bytes(table: pa.Table | None) -> bytes | None:
    if table is None:
        return None
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _table(data: bytes | None) -> pa.Table | None:
    return None if data is None else pa.ipc.open_stream(pa.py_buffer(data)).read_all()

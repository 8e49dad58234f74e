"""Run a chain on Spark: its events pass through one task, in order, and leave a record.

The log was put in order once, into Parquet with positions. Spark reads it, sorts it by position
into one partition, and the interpreter runs inside ``mapInArrow``. The task writes the record part
by part; a part that is written again is the same, so that a task started again does no harm.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whence.engine.chain import Chain
from whence.engine.definition import chain_from_tree
from whence.engine.errors import EventError, RunnerError, WhenceError
from whence.engine.record.logs import LogRecord
from whence.engine.record.runs import RunRecord, new_run_id
from whence.engine.record.schema import from_canonical
from whence.engine.runners.local import Arrivals, run_recorded
from whence.engine.runners.options import RunOptions
from whence.engine.runners.spark_session import spark_session
from whence.engine.values import Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["run_on_spark"]

_SUMMARY = "run string, error string"


def run_on_spark(
    root: Path,
    chain: Chain,
    logs: Mapping[str, LogRecord],
    options: RunOptions | None = None,
    *,
    session: SparkSession | None = None,
    master: str = "local[*]",
    run_id: str | None = None,
) -> RunRecord:
    """Run a chain over logs of the record on Spark.

    Args:
        root: the record's place; the workers must see it under the same name.
        chain: what to run.
        logs: the record's logs, by their names in the chain.
        options: what to keep and how.
        session: a Spark session; else one is found or started.
        master: where a session is started.
        run_id: the new run's id, if it is known already.
    """
    session = session or spark_session(master)
    run_id = run_id or new_run_id()
    task = _Task(str(root.absolute()), json.dumps(chain.tree()), _ids(logs), options, run_id)
    try:
        frame = _in_order(session, chain, logs)
        errors = [row["error"] for row in frame.mapInArrow(task, _SUMMARY).collect()]
    except Exception as fault:
        raise _broken(run_id, fault) from fault
    if not errors:
        # Spark starts no task where there is no event at all.
        errors = [batch.column("error")[0].as_py() for batch in task(iter(()))]
    if errors[0] is not None:
        raise EventError(errors[0])
    return RunRecord(root, run_id)


def _broken(run_id: str, fault: Exception) -> RunnerError:
    """Spark's own faults, which may be pages long, in one line."""
    told = str(getattr(fault, "java_exception", None) or fault)
    said = [line.strip() for line in told.splitlines() if line.strip()]
    causes = [line for line in said if "worker exited" in line or line.startswith("Caused by:")]
    what = (causes or said or [type(fault).__name__])[0][:300]
    return RunnerError(
        f"run {run_id}: expected Spark to bring it to its end; got: {what}; "
        "try the same command again: it goes on with this run"
    )


def _ids(logs: Mapping[str, LogRecord]) -> dict[str, str]:
    return {name: log.id for name, log in logs.items()}


def _in_order(session: SparkSession, chain: Chain, logs: Mapping[str, LogRecord]) -> DataFrame:
    """All events in one partition, by position and then by the chain's order of logs."""
    from pyspark.sql import functions as f

    frames = []
    for number, name in enumerate(chain.inputs):
        log = logs[name]
        columns = [
            f.col(f"`{column.replace('`', '``')}`").alias(f"c{number}_{n}")
            for n, column in enumerate(log.columns)
        ]
        files = sorted(str(path.absolute()) for path in log.folder.glob("part-*.parquet"))
        read = session.read.schema(_read_schema(log)).parquet(*files)
        frames.append(read.select("position", f.lit(number).alias("log"), *columns))
    union = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), frames)
    return union.repartition(1).sortWithinPartitions("position", "log")


def _read_schema(log: LogRecord) -> Any:
    """The types by name: Spark has no word in them."""
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
    return t.StructType(fields)


class _Task:
    """What runs inside Spark's worker: the interpreter over the batches of the only partition."""

    def __init__(
        self, root: str, tree: str, logs: dict[str, str], options: RunOptions | None, run_id: str
    ) -> None:
        self.root = root
        self.tree = tree
        self.logs = logs
        self.options = options
        self.run_id = run_id

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        root = Path(self.root)
        chain = chain_from_tree(json.loads(self.tree))
        logs = {name: LogRecord.open(root / "logs" / id) for name, id in self.logs.items()}
        error: str | None = None
        try:
            run_recorded(
                root,
                chain,
                logs,
                self.options,
                runner="spark",
                run_id=self.run_id,
                events=_arrivals(batches, chain, logs),
            )
        except WhenceError as fault:
            error = str(fault)
        for _ in batches:
            pass  # a worker whose input is not read to its end is lost
        yield pa.RecordBatch.from_pydict({"run": [self.run_id], "error": [error]}, _schema())


def _schema() -> pa.Schema:
    return pa.schema([("run", pa.string()), ("error", pa.string())])


def _arrivals(
    batches: Iterator[pa.RecordBatch], chain: Chain, logs: Mapping[str, LogRecord]
) -> Arrivals:
    readers = [_reader(number, logs[name]) for number, name in enumerate(chain.inputs)]
    for batch in batches:
        numbers = batch.column("log").to_pylist()
        places = batch.column("position").to_pylist()
        columns = {name: batch.column(name).to_pylist() for name in batch.schema.names}
        for row, (number, place) in enumerate(zip(numbers, places, strict=True)):
            yield place, chain.inputs[number], readers[number](columns, row)


def _reader(number: int, log: LogRecord) -> Callable[[Mapping[str, list[Any]], int], Value]:
    """From the columns of a batch and a row to the event."""
    cells = [
        (f"c{number}_{n}", name, _cell(kind)) for n, (name, kind) in enumerate(log.columns.items())
    ]
    if log.manifest["plain"]:
        ((column, _, convert),) = cells
        return lambda columns, row: convert(columns[column][row])
    return lambda columns, row: {
        name: convert(columns[column][row]) for column, name, convert in cells
    }


def _cell(kind: str) -> Callable[[Any], Value]:
    if kind in ("boolean", "integer", "float", "text"):
        return lambda value: value
    if kind == "instant":
        return lambda value: None if value is None else _aware(value)
    if kind == "duration":
        return lambda value: None if value is None else timedelta(microseconds=value)
    return lambda value: None if value is None else from_canonical(value)


def _aware(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

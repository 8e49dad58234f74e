"""Spark, two local cores: what tracking costs, and the same lineage by hand in Spark SQL.

All write their outputs to Parquet. Speeds are events per second and core. Before anything is timed
both ways are run on a short log, and have to say the same of every output: its value, and every
position that explains it; of the conjunction over all cases, too.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from bench import Bench
from bench.harness import ROUNDS, BenchError, quick
from bench.suites._queries import QUERIES
from bench.suites._sql import SQL
from whence.engine import ApplyFunction, Chain
from whence.engine.language.log import Log
from whence.engine.lineage.positions import positions
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.record.logs import LOG_CHUNK
from whence.engine.record.manifest import StreamInfo
from whence.engine.record.reaching import Reaching
from whence.engine.runners import CHUNK, RunOptions
from whence.engine.runners.spark.batch import run_on_spark
from whence.engine.runners.spark_session import spark_session
from whence.engine.sources import open_source

__all__ = ["bench", "difference", "record_columns", "written"]

EVENTS = 1_000_000 if quick() else 10_000_000
SHORT = 1_500
SELDOM = 41
"""Of the outputs that every case explains, one in this many is compared: each takes all of them."""
CORES = 2


class Place(NamedTuple):
    session: Any
    root: Path
    logs: dict[str, LogRecord]


def chain_of(query: str) -> Chain:
    """The query on records, as a log has them."""
    own = QUERIES[query].own()
    return ApplyFunction("x", "value") | own if query == "window" else own


def written(
    root: Path,
    query: str,
    count: int,
    *,
    chunk: int = LOG_CHUNK,
    declared: Log | None = None,
    seed: int | None = None,
) -> LogRecord:
    """A log in the record, in order; of the cases one goes wrong half-way, and another before."""
    drawn = QUERIES[query].log(count) if seed is None else QUERIES[query].log(count, seed)
    arrays = record_columns(query, drawn, count)
    file = root / f"{query}-{count}.parquet"
    root.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(arrays), file)
    log = ingest(root, "log", open_source(file), declared=declared, chunk=chunk)
    file.unlink()
    return log


def record_columns(query: str, log: Mapping[str, Any], count: int) -> dict[str, pa.Array]:
    """The columns of a query's log as the record has them, some cases broken."""
    arrays = {name: _array(values) for name, values in log.items()}
    if query == "lifecycle":
        activity = arrays["activity"].to_pylist()
        for at in (count // 2, count // 3):
            activity[at] = "a" if activity[at] != "a" else "d"
        arrays["activity"] = pa.array(activity, pa.string())
    return arrays


def _array(values: Any) -> pa.Array:
    array = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values)
    if pa.types.is_dictionary(array.type):
        array = array.cast(pa.string())
    return array


def files_of(log: LogRecord) -> str:
    """The log as Spark reads it."""
    return str(log.folder / "part-*.parquet")


def difference(session: Any, root: Path, query: str, count: int = SHORT) -> str | None:
    """The first output on which the two ways differ; ``None`` if there is none."""
    log = written(root, query, count)
    run = run_on_spark(root, chain_of(query), {"log": log}, session=session)
    SQL[query](session, files_of(log), root / "sql")
    theirs = session.read.parquet(str(root / "sql" / "outputs")).orderBy("position").collect()
    (stream,) = run.manifest.outputs
    ours = _values(run, stream)
    if ours != [row["value"] for row in theirs]:
        return f"{query}: other values"
    reaching = Reaching(run)
    lineage = _of_cases if query == "lifecycle" else _of_rows
    for position, wanted in enumerate(lineage(session, root, theirs)):
        if query == "lifecycle" and ours[position] and position % SELDOM:
            continue
        found = reaching.up(stream.name, position).get("log", ())
        if set(positions(found)) != wanted:
            return f"{query}: output {position} is explained by {found}, by hand by {wanted}"
    return None


def _values(run: RunRecord, stream: StreamInfo) -> list[bool]:
    tables = [run.outputs(stream.name, part) for part in stream.outputs.numbers]
    return [text == "true" for table in tables for text in table.column("value").to_pylist()]


def _of_rows(session: Any, root: Path, rows: list[Any]) -> Iterator[set[int]]:
    for row in rows:
        yield set(row["lineage"])


def _of_cases(session: Any, root: Path, rows: list[Any]) -> Iterator[set[int]]:
    """Of false the head of the case that is picked; of true the heads of all cases."""
    inner = session.read.parquet(str(root / "sql" / "inner")).orderBy("position").collect()
    lineage = {row["position"]: set(row["lineage"]) for row in inner}
    case_of = {row["position"]: row["case"] for row in inner}
    heads: dict[str, int] = {}
    for row in rows:
        heads[case_of[row["position"]]] = row["position"]
        if row["value"]:
            yield set().union(*(lineage[head] for head in heads.values()))
        else:
            yield lineage[row["head"]]


@contextmanager
def _place() -> Iterator[Place]:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = spark_session(f"local[{CORES}]")
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for query in QUERIES:
            told = difference(session, root / "short", query)
            if told is not None:
                msg = f"expected both ways to say the same; got {told}; try the tests"
                raise BenchError(msg)
        yield Place(session, root, {query: written(root, query, EVENTS) for query in QUERIES})


bench = Bench(f"Spark, local[{CORES}], {EVENTS:,} events, to Parquet", prepare=_place)


def ours(place: Place, query: str, *, tracked: bool) -> float:
    """Events per second and core of a run that leaves a record."""
    options = RunOptions(tracked=tracked, chunk=CHUNK)
    started = time.perf_counter()
    run = run_on_spark(
        place.root, chain_of(query), {"log": place.logs[query]}, options, session=place.session
    )
    speed = EVENTS / (time.perf_counter() - started) / CORES
    shutil.rmtree(run.folder)
    return speed


def by_hand(place: Place, query: str) -> float:
    """Events per second and core of the query in SQL."""
    started = time.perf_counter()
    SQL[query](place.session, files_of(place.logs[query]), place.root / "sql")
    return EVENTS / (time.perf_counter() - started) / CORES


def _declare(query: str) -> None:
    unit = "events/s"
    bench.variant(f"{query}.events_per_s_core", unit)(lambda p: ours(p, query, tracked=True))
    bench.variant(f"{query}.untracked", unit)(lambda p: ours(p, query, tracked=False))
    # All that it warms up was run when the two ways were compared.
    bench.variant(f"{query}.sql", unit, rounds=ROUNDS)(lambda p: by_hand(p, query))
    tracked = f"{query}.events_per_s_core"
    bench.ratio(f"{query}.tracked_over_untracked", f"{query}.untracked", tracked, "lower")
    bench.ratio(f"{query}.vs_sql", tracked, f"{query}.sql")


for _query in QUERIES:
    _declare(_query)

"""A chain on Spark leaves the same record as in this process."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.random_chains import TAGS, random_case
from tests.engine.runners._support.kernel_records import check, even, logs_of
from tests.engine.runners.test_slice_parts import CHAINS, log_of
from whence.engine.errors import EventError, WhenceError
from whence.engine.interpreter import RunResult, interpret
from whence.engine.interpreter.extract import Detail
from whence.engine.language.chain import Chain, Log
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.processors import ApplyFunction, Cumulate, Passthrough, Slice
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.spark.batch import Job, run_each, run_on_spark
from whence.engine.values import Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

BIG = tuple(TAGS)
"""Chains of all processors: fewer, but larger, than those that kernels are held to one by one."""


def content(run: RunRecord) -> dict[str, Any]:
    """Everything a run has but its id, its times and who ran it."""
    told = run.manifest.json()
    for name in ("id", "started", "ended", "runner"):
        del told[name]
    told["events"] = {
        (stream.name, part): run.outputs(stream.name, part).to_pylist()
        for stream in run.manifest.streams
        for part in stream.outputs.numbers
    }
    told["rows"] = list(run.rows())
    return told


def test_random_chains_say_the_same_as_the_interpreter(tmp_path: Path, spark: SparkSession) -> None:
    """All of them in one Spark job, cut into other batches and other parts each."""
    expected: list[RunResult | str] = []
    jobs: list[Job] = []
    for seed in range(16):
        case = random_case(seed, BIG)
        root = tmp_path / str(seed)
        logs = even(root, case)
        try:
            expected.append(
                interpret(case.chain(), logs, tracker=MemoryTracker(), closed=case.closed)
            )
        except WhenceError as error:
            expected.append(str(error))
        kept = {n: log.id for n, log in logs_of(root, case.chain(), logs, 1 + seed % 7).items()}
        detail: Detail = "steps" if seed % 3 == 0 else "ends"
        options = RunOptions(detail=detail, closed=case.closed, chunk=(3, 10, 100)[seed % 3])
        jobs.append(Job(str(root), case.chain(), kept, options, "run", 1 + seed % 5, 0.0))
    errors = run_each(jobs, spark, tasks=3)
    for job, wanted, told in zip(jobs, expected, errors, strict=True):
        if isinstance(wanted, str):
            assert told == wanted
        else:
            assert told is None
            check(RunRecord(Path(job.root), "run"), wanted)
    assert sum(isinstance(wanted, str) for wanted in expected) < 8


def test_values_of_every_kind_come_through_spark(tmp_path: Path, spark: SparkSession) -> None:
    kinds = {
        "b": "boolean",
        "i": "integer",
        "f": "float",
        "t": "text",
        "at": "instant",
        "d": "duration",
        "l": "list",
        "odd `name`": "text",
    }
    full: dict[str, Value] = {
        "b": True,
        "i": -(2**63),
        "f": 0.1,
        "t": "NA",
        "at": datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC),
        "d": timedelta(microseconds=7),
        "l": [1, None, "x"],
        "odd `name`": "y",
    }
    events: list[Value] = [full, dict.fromkeys(full), full]
    log = ingest(tmp_path, "log", events, declared=Log(columns=kinds))
    chain = Chain.of(Passthrough("same"))
    local = run_kernels(tmp_path, chain, {"log": log}, RunOptions())
    remote = run_on_spark(tmp_path, chain, {"log": log}, RunOptions(), session=spark)
    assert content(remote) == content(local)
    assert list(log.read()) == events


def test_a_bad_event_is_one_clear_line(tmp_path: Path, spark: SparkSession) -> None:
    log = ingest(tmp_path, "log", [1, 2, 2**63 - 1])
    with pytest.raises(EventError, match="total, position 2: expected an integer of 64 bits"):
        run_on_spark(tmp_path, Chain.of(Cumulate("total", "add")), {"log": log}, session=spark)
    assert RunRecord(tmp_path, "latest").manifest.status == "failed"


def test_an_empty_log_gives_an_empty_run(tmp_path: Path, spark: SparkSession) -> None:
    log = ingest(tmp_path, "log", [], declared=Log(columns={"x": "integer"}))
    chain = Chain.of(ApplyFunction("ok", "x > 0"))
    run = run_on_spark(tmp_path, chain, {"log": log}, session=spark)
    assert run.manifest.status == "complete"
    assert run.manifest.streams[0].length == 0


@pytest.mark.parametrize(
    ("name", "partitions", "batch"), [("machine", 3, 9), ("longer", 2, 1000), ("silent", 5, 40)]
)
def test_a_slice_at_the_head_says_the_same_on_any_partitions(
    tmp_path: Path, spark: SparkSession, name: str, partitions: int, batch: int
) -> None:
    log = ingest(tmp_path, "log", [event for seed in range(8) for event in log_of(seed)], chunk=7)
    chain = Chain.of(CHAINS[name]())
    run = run_on_spark(
        tmp_path,
        chain,
        {"log": log},
        RunOptions(chunk=20),
        session=spark,
        batch=batch,
        partitions=partitions,
    )
    cut = run.manifest.plan
    assert cut is not None
    assert (cut.kind, cut.tasks) == ("slices", partitions)
    assert {path.name for path in run.folder.iterdir()} == {
        *("manifest.json", "outputs", "associations")
    }
    check(run, interpret(chain, {"log": list(log.read())}, tracker=MemoryTracker()))


def test_of_several_bad_events_on_several_partitions_the_first_is_told(
    tmp_path: Path, spark: SparkSession
) -> None:
    chain = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "8 / x > 1"), combine="and"))
    events = [{"case": f"case {n % 5}", "x": 0 if n in (11, 12, 13, 29) else 1} for n in range(40)]
    log = ingest(tmp_path, "log", events)
    with pytest.raises(EventError, match="all/ok, position 11: expected a divisor"):
        run_on_spark(tmp_path, chain, {"log": log}, session=spark, partitions=3)
    run = RunRecord(tmp_path, "latest")
    assert run.manifest.status == "failed"
    assert "position 11" in str(run.manifest.error)
    assert not (run.folder / ".tasks").exists()

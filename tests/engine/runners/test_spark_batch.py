"""A chain on Spark leaves the same record as in this process."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.random_chains import random_case
from whence.engine.chain import Chain, Log
from whence.engine.errors import EventError, WhenceError
from whence.engine.processors import ApplyFunction, Cumulate, Passthrough
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.runners.spark_batch import run_on_spark
from whence.engine.values import Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def content(run: RunRecord) -> dict[str, Any]:
    """Everything a run has but its id, its times and who ran it."""
    manifest = run.manifest
    for name in ("id", "started", "ended", "runner"):
        del manifest[name]
    manifest["events"] = {
        (stream["name"], part["part"]): run.outputs(stream["name"], part["part"]).to_pylist()
        for stream in manifest["streams"]
        for part in stream["outputs"]
    }
    manifest["rows"] = list(run.rows())
    return manifest


@pytest.mark.parametrize("seed", range(4))
def test_the_record_is_that_of_the_local_run(
    tmp_path: Path, spark: SparkSession, seed: int
) -> None:
    case = random_case(seed)
    chain = case.chain()
    options = RunOptions(closed=case.closed, chunk=4, detail="steps")
    logs = {name: ingest(tmp_path, name, case.logs[name], chunk=3) for name in chain.inputs}
    try:
        local = run_recorded(tmp_path, chain, logs, options)
    except WhenceError as error:
        with pytest.raises(WhenceError, match=str(error)[:20]):
            run_on_spark(tmp_path, chain, logs, options, session=spark)
        return
    assert content(run_on_spark(tmp_path, chain, logs, options, session=spark)) == content(local)


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
    local = run_recorded(tmp_path, chain, {"log": log}, RunOptions())
    remote = run_on_spark(tmp_path, chain, {"log": log}, RunOptions(), session=spark)
    assert content(remote) == content(local)
    assert list(log.read()) == events


def test_a_bad_event_is_one_clear_line(tmp_path: Path, spark: SparkSession) -> None:
    log = ingest(tmp_path, "log", [1, 2, 2**63 - 1])
    with pytest.raises(EventError, match="total, position 2: expected an integer of 64 bits"):
        run_on_spark(tmp_path, Chain.of(Cumulate("total", "add")), {"log": log}, session=spark)
    assert RunRecord(tmp_path, "latest").manifest["status"] == "failed"


def test_an_empty_log_gives_an_empty_run(tmp_path: Path, spark: SparkSession) -> None:
    log = ingest(tmp_path, "log", [], declared=Log(columns={"x": "integer"}))
    chain = Chain.of(ApplyFunction("ok", "x > 0"))
    run = run_on_spark(tmp_path, chain, {"log": log}, session=spark)
    assert run.manifest["status"] == "complete"
    assert run.manifest["streams"][0]["length"] == 0

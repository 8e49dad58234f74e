"""Workers and drivers of Spark, killed at named points: the same again leaves the same record."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pyarrow.parquet as pq
import pytest

from tests.engine.runners._support.stopped_runs import CHAINS
from tests.kills import Tell, counted
from whence.engine import Chain
from whence.engine.errors import RunnerError
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.spark.batch import Job, run_each, run_on_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.fault]

EVENTS = 16_000
OPTIONS = RunOptions(chunk=1_000)

REACHED: dict[str, Callable[[Path], bool]] = {
    "before a part": lambda run: (run / "manifest.json").exists(),
    "after a part": lambda run: any(run.glob("outputs/*/part-*.parquet")),
    "between batches": lambda run: (run / "state.arrow").exists(),
    # Not the very first, of the manifest: before that one there is no run.
    "inside a commit": lambda run: (run / "manifest.json").exists() and any(run.rglob(".*.part")),
    "before the commit": lambda run: any(run.glob(".tasks/*/outputs/*/*.parquet")),
}
QUICK = {"between batches", "before the commit"}


def logged(root: Path) -> LogRecord:
    events = (
        {"case": f"case {n * 7 % 997}", "act": "abbcab"[n * n % 6], "x": n * 5 % 11 - 3}
        for n in range(EVENTS)
    )
    return ingest(root, "log", events, chunk=5_000)


def whole(run: RunRecord) -> dict[str, Any]:
    """What a run says: every output, and every association as it was written."""
    assert run.manifest.status == "complete"
    assert not list(run.folder.rglob(".*"))
    return {
        str(path.relative_to(run.folder)): pq.read_table(path).to_pydict()
        for path in sorted(run.folder.rglob("*.parquet"))
    }


def job(root: Path, log: LogRecord, run_id: str) -> Job:
    seconds = 60.0 if run_id == "whole" else 0.0
    chain = Chain.of(CHAINS["lifecycle"]())
    return Job(str(root), chain, {"log": log.id}, OPTIONS, run_id, 400, seconds)


def workers(of: psutil.Process) -> Iterator[psutil.Process]:
    """The Python workers of a driver: those that Spark's daemons have started."""
    for process in of.children(recursive=True):
        with suppress(psutil.Error):
            if (
                "pyspark.daemon" in process.cmdline()
                and "pyspark.daemon" in (process.parent() or process).cmdline()
            ):
                yield process


def killing(folder: Path, point: str, hits: Counter[str]) -> threading.Thread:
    """Kill the workers of this process as soon as the point is reached; count them."""

    def watch() -> None:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with suppress(OSError):
                if REACHED[point](folder):
                    for process in workers(psutil.Process()):
                        process.kill()
                        hits[point] += 1
                    return
            time.sleep(0.002)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


FULL = pytest.mark.full


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(name, marks=() if name in QUICK else FULL)
        for name in REACHED
        if name != "before the commit"
    ],
)
def test_a_worker_of_one_task_is_killed(
    tmp_path: Path, spark: SparkSession, point: str, record_property: Tell
) -> None:
    log, hits = logged(tmp_path), Counter[str]()
    assert run_each([job(tmp_path, log, "whole")], spark) == [None]
    thread = killing(tmp_path / "runs" / "killed", point, hits)
    with pytest.raises(RunnerError, match="try the same command"):
        run_each([job(tmp_path, log, "killed")], spark)
    thread.join()
    assert RunRecord(tmp_path, "killed").manifest.status == "interrupted"
    assert run_each([job(tmp_path, log, "killed")], spark) == [None]
    assert whole(RunRecord(tmp_path, "killed")) == whole(RunRecord(tmp_path, "whole"))
    counted(record_property, "batch, worker", hits)
    assert hits[point]


def test_a_worker_of_several_tasks_is_killed_before_the_commit(
    tmp_path: Path, spark: SparkSession, record_property: Tell
) -> None:
    log, hits = logged(tmp_path), Counter[str]()
    chain = Chain.of(CHAINS["lifecycle"]())

    def run(run_id: str) -> RunRecord:
        return run_on_spark(
            tmp_path, chain, {"log": log}, OPTIONS, session=spark, run_id=run_id, partitions=2
        )

    expected = whole(run("whole"))
    point = "before the commit"
    thread = killing(tmp_path / "runs" / "killed", point, hits)
    with pytest.raises(RunnerError, match="try the same command"):
        run("killed")
    thread.join()
    killed = RunRecord(tmp_path, "killed")
    assert killed.manifest.status == "interrupted"
    assert killed.manifest.streams == ()
    assert whole(run("killed")) == expected
    counted(record_property, "batch, worker", hits)
    assert hits[point]


DRIVER = """
import sys
from pathlib import Path
from tests.engine.runners.test_spark_killed import job
from whence.engine.record.logs import LogRecord
from whence.engine.runners.spark.batch import run_each
from whence.engine.runners.spark_session import spark_session

root = Path(sys.argv[1])
log = LogRecord.open(next((root / "logs").glob("*/manifest.json")).parent)
run_each([job(root, log, "killed")], spark_session("local[1]"))
"""


@pytest.mark.parametrize(
    "point", [pytest.param("after a part", marks=FULL), pytest.param("between batches")]
)
def test_a_driver_is_killed(
    tmp_path: Path, spark: SparkSession, point: str, record_property: Tell
) -> None:
    log = logged(tmp_path)
    assert run_each([job(tmp_path, log, "whole")], spark) == [None]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path)], env=environment)
    folder = tmp_path / "runs" / "killed"
    try:
        until = time.monotonic() + 200
        while not REACHED[point](folder) and time.monotonic() < until:
            assert driver.poll() is None, "the driver ended before it could be killed"
            time.sleep(0.002)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    # Whoever goes on waits until the worker that wrote has noticed.
    assert run_each([job(tmp_path, log, "killed")], spark) == [None]
    assert whole(RunRecord(tmp_path, "killed")) == whole(RunRecord(tmp_path, "whole"))
    counted(record_property, "batch, driver", Counter({point: 1}))

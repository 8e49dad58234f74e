"""A worker of Spark needs no more memory for a longer log, if no more cases are open at a time."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.engine.runners.test_spark_killed import workers
from whence.engine import Chain, Slice
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.record import LogRecord, ingest
from whence.engine.runners import CHUNK, RunOptions
from whence.engine.runners.plans import plan_run
from whence.engine.runners.spark.batch import run_on_spark
from whence.engine.sources import open_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = int(os.environ.get("WHENCE_TEST_EVENTS", "3000000"))
"""A worker of a shorter log ends before it has taken all that it keeps from then on."""
CASES = 1_000
TIMES = 4
MOST = 1.2
"""A worker of the longer log may be so many times as large: what Arrow holds goes up and down."""


def _machine() -> Chain:
    """Does every case say a, b, a, b, …? One does not."""
    machine = MooreMachine(
        "turns",
        initial="0",
        states={"0": True, "1": True, "lost": False},
        transitions=[("0", "activity = 'a'", "1"), ("1", "activity = 'b'", "0")],
        otherwise=dict.fromkeys(("0", "1", "lost"), "lost"),
    )
    return Chain.of(Slice("per-case", by="case", of=machine, combine="and"))


def _log(root: Path, count: int) -> LogRecord:
    nth = np.arange(count)
    case = [f"case {number}" for number in range(CASES)]
    signs = np.array(["a", "b"])[nth // CASES % 2]
    signs[count // 2] = "c"
    texts = pa.DictionaryArray.from_arrays(nth % CASES, pa.array(case)).cast(pa.string())
    file = root / f"{count}.parquet"
    pq.write_table(pa.table({"case": texts, "activity": signs}), file)
    return ingest(root, "log", open_source(file), chunk=CHUNK)


def _largest(run: threading.Thread) -> int:
    """How large a worker was at most, in bytes, while something ran."""
    most = 0
    run.start()
    while run.is_alive():
        for process in workers(psutil.Process()):
            with suppress(psutil.Error):
                most = max(most, process.memory_info().rss)
        run.join(0.02)
    return most


@pytest.mark.full
@pytest.mark.spark
@pytest.mark.parametrize(("tasks", "plan"), [(1, "one task"), (2, "slices")])
def test_a_longer_log_needs_no_larger_worker(
    tmp_path: Path, spark: SparkSession, tasks: int, plan: str
) -> None:
    def largest(log: LogRecord) -> int:
        def run() -> None:
            options, logs = RunOptions(chunk=CHUNK), {"log": log}
            assert plan_run(_machine(), logs, options, cores=2, partitions=tasks).kind == plan
            run_on_spark(tmp_path, _machine(), logs, options, session=spark, partitions=tasks)

        return _largest(threading.Thread(target=run))

    short, long = _log(tmp_path, EVENTS), _log(tmp_path, TIMES * EVENTS)
    largest(short)  # what is loaded and compiled is loaded now
    few, many = largest(short), largest(long)
    print(f"\n{plan}: {few / 1e6:.0f} MB; of a log {TIMES} times as long {many / 1e6:.0f} MB")
    assert 0 < many < MOST * few

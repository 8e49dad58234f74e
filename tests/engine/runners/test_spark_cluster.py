"""On a cluster, where executors are other processes: the same record."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SHORT_LIVED
from tests.engine.runners.kernel_records import check
from whence.engine import ApplyFunction, Chain, Cumulate, MemoryTracker, Slice, interpret
from whence.engine.record import RunRecord, ingest

JOB = """
import sys
from pathlib import Path
from whence.engine import ApplyFunction, Chain, Cumulate, Slice
from whence.engine.record.logs import LogRecord
from whence.engine.runners import RunOptions
from whence.engine.runners.spark_batch import run_on_spark
from whence.engine.runners.spark_session import spark_session

root = Path(sys.argv[1])
session = spark_session("local-cluster[2,1,1024]")
log = LogRecord.open(next((root / "logs").glob("*/manifest.json")).parent)
options = RunOptions(chunk=50)
slices = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "x > -3"), combine="and"))
run_on_spark(root, slices, {"log": log}, options, session=session, run_id="slices", partitions=2)
one = ApplyFunction("x", "x") | Cumulate("total", "add")
run_on_spark(root, one, {"log": log}, options, session=session, run_id="one", batch=30)
session.stop()
"""


@pytest.mark.spark
def test_on_a_cluster_the_record_is_the_same(tmp_path: Path) -> None:
    events = [{"case": f"c{n % 7}", "x": n * 5 % 9 - 4} for n in range(300)]
    log = ingest(tmp_path, "log", events, chunk=100)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SPARK_SUBMIT_OPTS": SHORT_LIVED,
    }
    done = subprocess.run(
        [sys.executable, "-c", JOB, str(tmp_path)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    slices = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "x > -3"), combine="and"))
    one = ApplyFunction("x", "x") | Cumulate("total", "add")
    for name, chain in (("slices", slices), ("one", one)):
        run = RunRecord(tmp_path, name)
        check(run, interpret(chain, {"log": list(log.read())}, tracker=MemoryTracker()))
    assert RunRecord(tmp_path, "slices").manifest["plan"]["tasks"] == 2

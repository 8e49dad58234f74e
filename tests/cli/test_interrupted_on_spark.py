"""Ctrl-C while Spark works on a run: one line, no traceback of others, and the run goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Cli
from whence.engine.record import RunRecord, list_runs
from whence.engine.sources.generate import payment_log, write_log

pytestmark = [pytest.mark.spark, pytest.mark.fault]

CHAIN = """
logs: {log: {columns: {amount: float, time: instant}}}
id: audited
slice:
  by: case
  combine: and
  of:
    id: rule
    formula: G (activity = 'pay' and amount > 5000 -> X activity = 'audit')
"""
LINE = "whence: interrupted; finished work is in the record; re-run the same command to resume"


# On two cores the run is cut into tasks, on one it is a single task: both are waited for in Java.
@pytest.mark.parametrize("master", [pytest.param("local[1]", marks=pytest.mark.full), "local[2]"])
def test_ctrl_c_on_spark_is_one_line_and_the_run_goes_on(
    cli: Cli, tmp_path: Path, master: str
) -> None:
    write_log(payment_log(60_000), tmp_path / "payments.csv")
    (tmp_path / "audit.yaml").write_text(CHAIN, encoding="utf-8")
    words = ["run", str(tmp_path / "audit.yaml"), "--log", str(tmp_path / "payments.csv")]
    words += ["--master", master, "--record", str(tmp_path / "record"), "--limit", "1"]
    # With every alternative the interpreter runs inside the worker: it takes seconds, not a moment.
    words += ["--track", "--witnesses", "all", "--no-load"]
    process = subprocess.Popen(
        [sys.executable, "-m", "whence", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        while not list(tmp_path.glob("record/runs/*/manifest.json")):
            assert process.poll() is None, process.stderr and process.stderr.read()
            time.sleep(0.05)
        time.sleep(1)  # until Spark is at it, and the driver waits for its answer
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: Java hears it too
        out, said = process.communicate(timeout=300)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, ""), said
    assert "Traceback" not in said
    assert "ERROR" not in said
    assert said.splitlines()[-1] == LINE
    run = RunRecord(tmp_path / "record", "latest")
    assert run.manifest.status == "interrupted"
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    assert run.manifest.status == "complete"
    assert list_runs(tmp_path / "record") == [run.id]

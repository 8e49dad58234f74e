"""Attempts at a task that fail, or are too slow: they leave nothing in the record."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.runners._support.spark_clusters import drive, python_of_workers, standalone
from tests.engine.runners.test_spark_cluster import BEGIN
from whence.engine.record import RunRecord, ingest
from whence.engine.record.verifying import verify_run

pytestmark = [pytest.mark.spark, pytest.mark.fault, pytest.mark.full]

FALTERING = """
import os
import time

def slow(x):
    return once(x, 33, "slow", lambda: time.sleep(120))

def lost(x):
    return once(x, 133, "lost", lambda: os._exit(1))

def once(x, at, name, falter):
    if x == at:
        with open(f"{WHERE}/{name}", "a") as file:
            file.write("x")
            first = file.tell() == 1
        if first:
            falter()
    return x
"""

SPECULATION = """
spark.speculation                    true
spark.speculation.interval           200ms
spark.speculation.quantile           0.4
spark.speculation.minTaskRuntime     1s
"""

ATTEMPTS = (
    BEGIN
    + """
import faltering
for name in ("slow", "lost"):
    chain = Chain.of(ApplyFunction(name, call(function(getattr(faltering, name)), field.x)))
    run(name, chain, partitions=2)
    run(name + "-again", chain, partitions=2)
"""
)


def test_slow_and_lost_attempts_leave_nothing(tmp_path: Path) -> None:
    """A task that falls asleep and is done elsewhere; one whose worker is lost after two parts."""
    python = python_of_workers(tmp_path / "workers")
    ingest(tmp_path, "log", [{"x": n} for n in range(300)], chunk=100)
    (tmp_path / "faltering.py").write_text(f"WHERE = {str(tmp_path)!r}\n" + FALTERING)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(SPECULATION)
    (tmp_path / "cluster").mkdir()
    with standalone(tmp_path / "cluster", "127.0.0.1", "127.0.0.2") as master:
        conf = str(tmp_path / "conf")
        done = drive(
            ATTEMPTS, str(tmp_path), master, python=python, cwd=tmp_path, SPARK_CONF_DIR=conf
        )
    assert done.returncode == 0, done.stderr[-3000:]
    for name in ("slow", "lost"):
        assert (tmp_path / name).read_text() == "xxx"  # the first, the second, and once again
        faltered, calm = (RunRecord(tmp_path, id) for id in (name, f"{name}-again"))
        cut = faltered.manifest.plan
        assert cut is not None
        assert cut.tasks == 2
        assert faltered.manifest.streams == calm.manifest.streams
        assert files(faltered) == files(calm)
        assert verify_run(faltered).problems == ()


def files(run: RunRecord) -> list[str]:
    return sorted(str(path.relative_to(run.folder)) for path in run.folder.rglob("*"))

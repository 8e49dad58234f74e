"""A run that was killed goes on, and leaves the very same record."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.engine.runners._support.stopped_runs import CHAINS, OPTIONS, events, run
from whence.engine import Chain
from whence.engine.errors import WhenceError
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.runners.local_kernels import resume, run_kernels

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
MOMENTS = range(2, 90) if FULL else (3, 8, 13, 18, 27)


def whole(run: RunRecord) -> dict[str, Any]:
    """Everything that a record holds, but for the time of day."""
    found: dict[str, Any] = {}
    for path in sorted(p for p in run.folder.rglob("*") if p.is_file()):
        name = str(path.relative_to(run.folder))
        found[name] = pq.read_table(path).to_pydict() if path.suffix == ".parquet" else None
    manifest = run.manifest.json()
    for changing in ("started", "ended"):
        assert manifest.pop(changing) is not None
    found["manifest.json"] = manifest
    return found


@pytest.mark.parametrize("name", CHAINS)
def test_a_run_that_was_killed_leaves_the_same_record(tmp_path: Path, name: str) -> None:
    expected = whole(run(tmp_path / "whole", name))
    assert set(expected) >= {"manifest.json"}
    moments = [str(n) for n in MOMENTS]
    command = [
        sys.executable,
        "-m",
        "tests.engine.runners._support.batch_killed",
        str(tmp_path),
        name,
    ]
    told = subprocess.run([*command, *moments], capture_output=True, text=True, check=True)
    ends = dict(line.split() for line in told.stdout.splitlines())
    assert set(ends) == set(moments)
    killed = [moment for moment, end in ends.items() if end == "killed"]
    assert len(killed) >= 3  # a chain with a processor of one's own puts fewer files in place
    for moment in killed:
        root = tmp_path / moment
        assert RunRecord(root, "the-run").manifest.status == "interrupted"
        assert whole(resume(root, "the-run", seconds=0.0)) == expected


def test_the_state_is_gone_when_the_run_is_complete(tmp_path: Path) -> None:
    done = run(tmp_path, "lifecycle")
    assert {path.name for path in done.folder.iterdir()} == {
        "manifest.json",
        "outputs",
        "associations",
    }


def test_a_run_that_is_complete_is_not_gone_on_with(tmp_path: Path) -> None:
    run(tmp_path, "rule")
    with pytest.raises(WhenceError, match="got one that is complete"):
        resume(tmp_path, "latest")


def test_a_run_of_another_runner_is_not_gone_on_with(tmp_path: Path) -> None:
    chain = Chain.of(CHAINS["sums"]())
    log = ingest(tmp_path, "log", events("sums"))
    run_recorded(tmp_path, chain, {chain.inputs[0]: log}, OPTIONS)
    with pytest.raises(WhenceError, match="got one of interpreter"):
        resume(tmp_path, "latest")


def test_a_run_that_is_running_is_not_gone_on_with(tmp_path: Path) -> None:
    chain = Chain.of(CHAINS["sums"]())
    log = ingest(tmp_path, "log", events("sums"))
    refused: list[str] = []

    def meanwhile(record: RunRecord) -> None:
        with pytest.raises(WhenceError, match="got one that is running") as error:
            resume(tmp_path, record.id)
        refused.append(str(error.value))

    run_kernels(tmp_path, chain, {chain.inputs[0]: log}, OPTIONS, began=meanwhile)
    assert len(refused) == 1


def test_every_alternative_is_the_interpreters(tmp_path: Path) -> None:
    chain = Chain.of(CHAINS["sums"]())
    log = ingest(tmp_path, "log", events("sums"))
    said: list[str] = []
    options = RunOptions(witnesses="all")
    record = run_kernels(tmp_path, chain, {chain.inputs[0]: log}, options, say=said.append)
    assert record.manifest.runner == "interpreter"
    assert said == ["--witnesses all is only supported by the interpreter; using it"]

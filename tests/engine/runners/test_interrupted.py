"""A run whose process is gone is interrupted, whatever its manifest says; it is taken up again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from whence.api import run
from whence.engine import Cumulate
from whence.engine.errors import LogError
from whence.engine.record import RunRecord, RunWriter, interrupted_run, list_runs
from whence.engine.record.writing import LOCK, WritingLock, is_being_written
from whence.engine.runners import RunOptions

WRITER = """
import sys, time
from pathlib import Path
from whence.engine.record import RunWriter

manifest = {"chain_digest": "d", "logs": {}, "options": {}, "chunk": 5, "streams": []}
RunWriter(Path(sys.argv[1]), "held", manifest)
print("held", flush=True)
time.sleep(600)
"""
SAME = {"chain_digest": "d", "logs": {}, "options": {}, "chunk": 5, "streams": []}


def held(root: Path) -> subprocess.Popen[str]:
    """A process that has begun a run and does not go on."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def killed(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.fault
def test_a_run_is_running_while_its_process_lives_and_interrupted_when_it_was_killed(
    tmp_path: Path,
) -> None:
    process = held(tmp_path)
    try:
        assert RunRecord(tmp_path, "held").manifest.status == "running"
        assert interrupted_run(tmp_path, {"chain_digest": "d"}) is None
        with pytest.raises(LogError, match="run held: expected to be the only one to write it"):
            WritingLock(tmp_path / "runs" / "held", wait=0.1)
        assert RunRecord(tmp_path, "held").manifest.status == "running"
    finally:
        killed(process)
    assert RunRecord(tmp_path, "held").manifest.status == "interrupted"
    assert interrupted_run(tmp_path, {"chain_digest": "d"}) == "held"
    assert interrupted_run(tmp_path, {"chain_digest": "other"}) is None
    again = RunWriter(tmp_path, "held", SAME)
    assert RunRecord(tmp_path, "held").manifest.status == "running"
    again.finish("complete")
    assert RunRecord(tmp_path, "held").manifest.status == "complete"
    assert not (again.folder / LOCK).exists()


def test_a_run_that_is_complete_or_another_one_is_not_written_over(tmp_path: Path) -> None:
    RunWriter(tmp_path, "one", SAME).finish("complete")
    with pytest.raises(LogError, match="run one: expected a new id; got one that is complete"):
        RunWriter(tmp_path, "one", SAME)
    RunWriter(tmp_path, "two", SAME).finish("failed")
    other = {**SAME, "chain_digest": "e"}
    with pytest.raises(LogError, match="expected a new id; got one with another chain digest"):
        RunWriter(tmp_path, "two", other)
    for name in ("one", "two"):
        assert not is_being_written(tmp_path / "runs" / name)
    assert RunRecord(tmp_path, "one").manifest.status == "complete"


def half_a_run(root: Path) -> RunRecord:
    """What a killed process leaves: parts, a manifest that says running, a lock that nobody has."""
    begun = run(
        Cumulate("sum", "add"),
        list(range(40)),
        runner="interpreter",
        record=root,
        options=RunOptions(chunk=10),
    )
    text = (begun.record.folder / "manifest.json").read_text(encoding="utf-8")
    running = text.replace('"status": "complete"', '"status": "running"')
    assert running != text
    (begun.record.folder / "manifest.json").write_text(running, encoding="utf-8")
    (begun.record.folder / LOCK).touch()
    assert begun.record.manifest.status == "interrupted"
    return begun.record


def test_the_same_again_goes_on_with_the_interrupted_run(tmp_path: Path) -> None:
    before = half_a_run(tmp_path)
    options = RunOptions(chunk=10)
    chain, log = Cumulate("sum", "add"), list(range(40))
    other = run(chain, log, runner="interpreter", record=tmp_path, options=RunOptions(chunk=20))
    assert (other.again, other.id == before.id) == (False, False)
    again = run(chain, log, runner="interpreter", record=tmp_path, options=options)
    assert (again.again, again.id) == (True, before.id)
    assert again.record.manifest.status == "complete"
    assert [value for _, value in again.outputs()][-1] == sum(range(40))
    fresh = run(chain, log, runner="interpreter", record=tmp_path, options=options)
    assert (fresh.again, len(list_runs(tmp_path))) == (False, 3)


def test_what_an_earlier_attempt_wrote_has_to_come_out_the_same(tmp_path: Path) -> None:
    before = half_a_run(tmp_path)
    part = before.folder / "outputs" / "sum" / "part-00001.parquet"
    part.write_bytes((part.parent / "part-00002.parquet").read_bytes())
    chain, log = Cumulate("sum", "add"), list(range(40))
    with pytest.raises(LogError, match="expected part 1 of sum as an earlier attempt wrote it"):
        run(chain, log, runner="interpreter", record=tmp_path, options=RunOptions(chunk=10))
    assert before.manifest.status == "failed"
    fresh = run(chain, log, runner="interpreter", record=tmp_path, options=RunOptions(chunk=10))
    assert fresh.id != before.id

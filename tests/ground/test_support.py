"""What makes tests quick makes no difference: forked commands, and archives of Java's classes."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests._support import commands, quick_java
from tests._support.commands import Commands

CHAIN = "line: [{id: a, apply: x}, {id: b, cumulate: add}]\n"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were processes from the start."""
    seen: list[list[str]] = []
    real = subprocess.run

    def run(words: list[str], **how: Any) -> subprocess.CompletedProcess[str]:
        seen.append(words[3:])
        return real(words, **how)

    monkeypatch.setattr(subprocess, "run", run)
    return seen


def test_a_forked_command_does_what_one_from_the_start_does(
    tmp_path: Path, started: list[list[str]]
) -> None:
    (tmp_path / "chain.yaml").write_text(CHAIN)
    (tmp_path / "log.csv").write_text("x\n1\n2\n")
    told = ("--log", "log.csv", "--type", "x=integer", "--runner", "interpreter")
    run, check = ("run", "chain.yaml", *told), ("check", "chain.yaml")
    with commands.commands() as fresh:
        for words in (run, (*run, "--json"), check, ("check", "none.yaml"), ("check",)):
            fresh.started.clear()
            first = fresh.run(words, tmp_path, os.environ, 120)
            again = fresh.run(words, tmp_path, os.environ, 120)
            assert again.returncode == first.returncode
            assert (again.stdout, again.stderr) == (first.stdout, first.stderr)
            assert first.stdout + first.stderr
            assert started.pop() == list(words)
            assert started == []


def test_a_forked_command_has_the_environment_and_the_end_that_it_is_given(
    tmp_path: Path, command_processes: Commands, started: list[list[str]]
) -> None:
    where = {**os.environ, "WHENCE_RECORD": str(tmp_path / "there")}
    for _ in range(2):
        done = command_processes.run(("runs", "list", "--json"), tmp_path, where, 120)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert len(started) <= 1
    with pytest.raises(subprocess.TimeoutExpired):
        command_processes.run(("runs", "list"), tmp_path, where, 0.0001)
    done = command_processes.run(("runs", "list", "--json"), tmp_path, where, 120)
    assert done.returncode == 0, "one that took too long leaves nothing to the next"
    before = len(started)
    for name in ("PYTHONWARNINGS", "FORCE_COLOR"):
        command_processes.run(("runs", "list"), tmp_path, {**where, name: "1"}, 120)
    assert len(started) == before + 2, "what is read at the start needs a start"


def test_an_archive_is_made_once_for_each_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def run(program: list[str], *, env: dict[str, str], timeout: float) -> Any:
        made.append(program[-1])
        option = env["SPARK_SUBMIT_OPTS"].rpartition("-XX:ArchiveClassesAtExit=")[2]
        Path(option).write_text(str(len(made)))
        return subprocess.CompletedProcess(program, 0, "", "")

    monkeypatch.setattr(quick_java, "ARCHIVES", tmp_path)
    monkeypatch.setattr(quick_java, "run", run)
    for _ in range(2):
        quick_java.make_archive("spark")
    (archive,) = tmp_path.glob("spark-*.jsa")
    assert (made, archive.read_text()) == (["tests._support.archive_spark"], "1")
    archive.with_suffix(".java").write_text("another Java")
    with (tmp_path / "spark.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        quick_java.make_archive("spark")
        assert archive.read_text() == "1", "nobody waits for who makes it"
    quick_java.make_archive("spark")
    assert archive.read_text() == "2"
    assert [path.name for path in tmp_path.glob("*.part")] == []

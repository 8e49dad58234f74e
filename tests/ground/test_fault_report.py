"""What ``make faults`` counts: every fault was survived, and there are as many as promised."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fault_report import LEAST
from tests.ground.surroundings import ROOT, run

MARKERS = "[pytest]\nmarkers =\n    fault: breaks something\n"
FAULTS = """
import pytest

@pytest.mark.fault("server killed")
@pytest.mark.parametrize("nth", range({many}))
def test_killed(nth):
    pass

@pytest.mark.fault
def test_worker_is_killed():
    {worker}
"""


def reported(
    folder: Path, *arguments: str, many: int = 2, worker: str = "pass", profile: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run some faults of a file of their own, and what is reported of them."""
    (folder / "pytest.ini").write_text(MARKERS)
    (folder / "test_faults.py").write_text(FAULTS.format(many=many, worker=worker))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**kept, "PYTHONPATH": str(ROOT), "WHENCE_TEST_PROFILE": profile}
    command = [sys.executable, "-m", "pytest", "-p", "tests.fault_report", "-m", "fault"]
    own = [f"--rootdir={folder}", "-p", "no:cacheprovider", f"--basetemp={folder / 'temporary'}"]
    return run([*command, *own, *arguments], cwd=folder, env=environment)


def test_each_fault_is_named_with_how_often_it_was_survived(tmp_path: Path) -> None:
    done = reported(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 3 faults survived " in done.stdout
    assert re.search(r"^ +2  server killed$", done.stdout, re.MULTILINE)
    assert re.search(r"^ +1  test worker is killed$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("worker", ["pytest.skip('no worker')", "pytest.xfail('not yet')"])
def test_a_fault_that_no_test_survived_fails_what_else_passes(tmp_path: Path, worker: str) -> None:
    done = reported(tmp_path, worker=worker)
    assert done.returncode == 1
    assert re.search(r"^ +0  test worker is killed$", done.stdout, re.MULTILINE)
    assert "test worker is killed: survived by no test" in done.stdout


def test_the_large_profile_has_to_survive_as_many_as_are_promised(tmp_path: Path) -> None:
    done = reported(tmp_path, profile="full", many=LEAST - 2)
    assert done.returncode == 1
    assert f"expected at least {LEAST} faults; got {LEAST - 1}" in done.stdout
    assert reported(tmp_path, profile="full", many=LEAST - 1).returncode == 0
    chosen = reported(tmp_path, "-k", "worker", profile="full")
    assert chosen.returncode == 0, chosen.stdout


def test_the_faults_of_each_test_run_and_of_all_are_as_many_as_promised() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (places,) = re.findall(r"^FAULTY := (.*)$", makefile, re.MULTILINE)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    own = {**kept, "WHENCE_TEST_PROFILE": "full"}
    done = run([*command, "-m", "fault", *places.split()], env=own)
    assert done.returncode == 0, done.stdout + done.stderr
    assert _collected(done.stdout) >= LEAST
    done = run([*command, "-m", "fault and not full", *places.split()], env=kept)
    assert done.returncode == 0, done.stdout + done.stderr
    assert _collected(done.stdout) >= 15


def _collected(said: str) -> int:
    return sum("::" in line for line in said.splitlines())

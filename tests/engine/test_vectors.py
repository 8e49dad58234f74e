"""The worked cases: outputs, explanations, alternatives and supports as the rules give them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whence.engine.vectors import check_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VECTORS = Path(__file__).parent.parent / "vectors"


@pytest.mark.parametrize("runner", ["interpreter", "local"])
@pytest.mark.parametrize(("name", "cases"), [("chains.json", 363), ("nested.json", 200)])
def test_every_worked_case_passes(name: str, cases: int, runner: str) -> None:
    report = check_file(str(VECTORS / name), runner)
    assert report.failures == []
    assert report.passed == cases


@pytest.mark.parametrize("runner", ["interpreter", "local"])
def test_supports_and_open_inputs_are_exactly_those_of_the_rules(runner: str) -> None:
    report = check_file(str(VECTORS / "nested.json"), runner)
    assert (report.extra, report.fewer, report.extra_open, report.fewer_open) == (0, 0, 0, 0)


@pytest.mark.spark
@pytest.mark.parametrize(("name", "cases"), [("chains.json", 363), ("nested.json", 200)])
def test_every_worked_case_passes_on_spark(name: str, cases: int, spark: SparkSession) -> None:
    report = check_file(str(VECTORS / name), "spark")
    assert report.failures == []
    assert report.passed == cases
    assert (report.extra, report.fewer, report.extra_open, report.fewer_open) == (0, 0, 0, 0)


def check(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "whence.engine.vectors", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_counts_what_passed() -> None:
    done = check(VECTORS / "nested.json")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "200 passed, 0 failed"


@pytest.mark.parametrize("key", ["outputs", "explains", "alternatives", "needed", "supports"])
def test_a_wrong_expectation_is_noticed(key: str, tmp_path: Path) -> None:
    cases = json.loads((VECTORS / "nested.json").read_text())["cases"]
    case = next(c for c in cases if c["id"] == "and/alternatives")
    other = {
        "outputs": [True, True, False, False],
        "explains": [[["p", 0]], [["q", 1]], [["p", 2]], [["p", 3]]],
        "alternatives": [[[["p", 0], ["q", 0]]], [[["q", 1]]], [[["p", 2]]], [[["p", 3]]]],
        "needed": [[["p", 0], ["q", 0]], [["p", 1]], [["p", 2]], []],
        "supports": [[], [], [], []],
    }
    case[key] = other[key]
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps({"cases": [case]}))
    done = check(file)
    if key == "supports":
        # More than the rules give is lost precision, counted and not an error.
        assert done.stdout.startswith("support: 5 events more than the rules give")
    else:
        assert done.returncode == 1
        assert done.stdout.splitlines()[-1] == "0 passed, 1 failed"
        assert "and/alternatives" in done.stdout


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = check(tmp_path / "absent.json")
    assert done.returncode == 1
    assert done.stderr.startswith("whence: ")
    assert len(done.stderr.splitlines()) == 1

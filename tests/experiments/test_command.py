"""``python -m experiments`` from the first cell to what is committed."""

from __future__ import annotations

from pathlib import Path

import pytest

import experiments.__main__ as command
from experiments.plan import Experiment
from experiments.report import PAGE
from experiments.store import CSV, PARQUET
from tests.ground.surroundings import ROOT, run

TINY: dict[str, list[object]] = {"query": ["window"], "tracking": ["off", "objects"], "length": [5]}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own, in which one small experiment is declared."""
    monkeypatch.setattr(command, "HERE", tmp_path / "experiments")
    monkeypatch.setattr(command, "RESULTS", tmp_path / "experiments" / "results")
    monkeypatch.setattr(command, "QUICK", tmp_path / "experiments" / "results-quick")
    monkeypatch.setattr(command, "PAGE", tmp_path / "evaluation.md")
    declare(monkeypatch, TINY)
    return tmp_path


def declare(monkeypatch: pytest.MonkeyPatch, vary: dict[str, list[object]]) -> None:
    told = (7, [Experiment("objects", "?", "interpreter", 1, vary)])
    monkeypatch.setattr(command, "declared", lambda **_: told)


def test_what_was_measured_and_committed_passes_the_check_in_a_fresh_clone(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([]) == 0
    results, page = place / "experiments" / "results", (place / "evaluation.md").read_text()
    assert "Every number of ours" in page
    # A clone has the tables and the page, and not the lines.
    (results / "cells.jsonl").unlink()
    tables = {name: (results / name).read_bytes() for name in (CSV, PARQUET)}
    assert command.main(["--check"]) == 0
    capsys.readouterr()
    assert command.main([]) == 0
    assert "measured" not in capsys.readouterr().err
    assert {name: (results / name).read_bytes() for name in tables} == tables
    assert (place / "evaluation.md").read_text() == page


def test_a_short_look_leaves_page_and_results_alone(place: Path) -> None:
    assert command.main(["--quick"]) == 0
    assert not (place / "evaluation.md").exists()
    assert not (place / "experiments" / "results").exists()
    assert "**A short look**" in (command.QUICK / "evaluation.md").read_text()


def test_a_failed_cell_makes_the_command_fail_and_the_page_is_written(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(monkeypatch, {**TINY, "query": ["wind", "window"]})
    assert command.main([]) == 1
    assert "expected a measurement; got exit code 1" in capsys.readouterr().err
    assert "## One event at a time" in (place / "evaluation.md").read_text()
    assert command.main(["--check"]) == 0


def test_git_keeps_tables_page_and_pictures_and_nothing_else() -> None:
    results = command.RESULTS.relative_to(ROOT)
    kept = [results / CSV, results / PARQUET, PAGE.relative_to(ROOT)]
    kept.append(PAGE.relative_to(ROOT).with_suffix("") / "memory.svg")
    left = [results / "cells.jsonl", results / "logs" / "any"]
    left.append(command.QUICK.relative_to(ROOT) / CSV)
    done = run(["git", "check-ignore", *map(str, [*kept, *left])])
    assert done.stdout.splitlines() == [str(path) for path in left]

"""Cells are measured once, each in its own process, and kept whole; a kill loses none of them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pyarrow.csv as pa_csv
import pytest

from experiments import running
from experiments.plan import Cell, PlanError
from experiments.running import Sitting, run_cells
from experiments.settings import same_setting
from experiments.store import Results, read_rows, write_tables
from tests.experiments.made_up import ABOUT
from tests.ground.surroundings import ROOT


def cell(length: int, measure: str = "interpreter", **more: object) -> Cell:
    parameters = {"query": "window", "tracking": "objects", "length": length, **more}
    return Cell("objects", measure, parameters, 0, 7)


def test_a_cell_is_measured_once_and_kept(tmp_path: Path) -> None:
    heard: list[str] = []
    results = Results(tmp_path)
    run_cells([cell(20)], results, {"commit": "abc"}, lambda _c, how: heard.append(how))
    again = Results(tmp_path)
    run_cells([cell(20)], again, {"commit": "def"}, lambda _c, how: heard.append(how))
    assert heard == ["measured", "kept"]
    (row,) = again.rows
    assert (row["length"], row["seed"], row["commit"]) == (20, 7, "abc")
    assert row["seconds"] > 0
    assert row["cell_seconds"] > row["seconds"]
    assert 0 <= row["busy_before"] <= 100


def test_half_a_line_that_a_kill_left_is_cut_off(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add({"key": "one", "seconds": 1.0})
    with (tmp_path / "cells.jsonl").open("a") as file:
        file.write('{"key": "two", "sec')
    opened = Results(tmp_path)
    assert opened.keys == {"one"}
    opened.add({"key": "two", "seconds": 2.0})
    assert Results(tmp_path).keys == {"one", "two"}


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from tests.experiments.test_running import cell\n"
        "from experiments.running import run_cells; from experiments.store import Results\n"
        f"run_cells([cell(n) for n in (5, 6, 7)], Results(Path({str(tmp_path)!r})), {{}})"
    )
    program = [sys.executable, "-c", code]
    portions = ("engine", "store", "exporters", "app")
    path = os.pathsep.join([str(ROOT), *(str(ROOT / portion) for portion in portions)])
    environment = {**os.environ, "PYTHONPATH": path}
    process = subprocess.Popen(program, cwd=ROOT, env=environment)
    while not Results(tmp_path).keys and process.poll() is None:
        time.sleep(0.05)
    at_work = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # The cell that was at work ends by itself: it would disturb what is measured next.
    assert psutil.wait_procs(at_work, timeout=60)[1] == []
    before = Results(tmp_path).rows
    assert before
    run_cells([cell(n) for n in (5, 6, 7)], Results(tmp_path), {})
    after = Results(tmp_path).rows
    assert after[: len(before)] == before
    assert sorted(row["length"] for row in after) == [5, 6, 7]


def test_a_sitting_begins_no_cell_that_would_end_too_late(tmp_path: Path) -> None:
    heard: list[str] = []
    long = replace(cell(6), foretold=1000.0)
    results = Results(tmp_path)
    sitting = run_cells(
        [cell(5), long], results, {}, lambda _c, how: heard.append(how), seconds=500.0
    )
    assert sitting == Sitting(0, 1)
    assert heard == ["measured", "waits"]
    assert [row["length"] for row in results.rows] == [5]


def test_a_fresh_clone_goes_on_from_the_tables_that_were_committed(tmp_path: Path) -> None:
    rows = [{"key": k, "experiment": e, "seconds": 1.5} for k, e in (("a", "one"), ("b", "two"))]
    write_tables(tmp_path, rows)
    results = Results(tmp_path)
    assert results.rows == rows
    results.add({"key": "c", "experiment": "two", "seconds": 2.5})
    assert Results(tmp_path).keys == {"a", "b", "c"}


def test_one_experiment_can_be_forgotten_and_all(tmp_path: Path) -> None:
    rows = [{"key": k, "experiment": e} for k, e in (("a", "one"), ("b", "two"))]
    write_tables(tmp_path, rows)
    Results(tmp_path).forget(["two"])
    assert Results(tmp_path).keys == {"a"}
    Results(tmp_path).forget()
    assert Results(tmp_path).keys == set()
    assert read_rows(tmp_path) == []


def test_an_experiment_is_not_continued_on_another_machine_unknowingly() -> None:
    rows = [{"experiment": "one", **ABOUT}, {"experiment": "two", **ABOUT, "cores": "64"}]
    same_setting(rows, {**ABOUT, "commit": "another"}, ["one"])
    with pytest.raises(PlanError, match="two: expected cores 64, as in the rows that are kept; "):
        same_setting(rows, ABOUT, ["one", "two"])
    with pytest.raises(PlanError, match=r"got 4\.3; try --fresh one to measure it anew"):
        same_setting(rows, {**ABOUT, "pyspark": "4.3"}, ["one"])


def test_a_log_that_is_not_there_is_left_out_and_told(tmp_path: Path) -> None:
    heard: list[str] = []
    absent = Cell("real", "real", {"log": "no-such.csv", "tracking": "off"}, 0, 7)
    sitting = run_cells([absent], Results(tmp_path), {}, lambda _c, how: heard.append(how))
    assert sitting == Sitting(1, 0)
    assert heard == [
        "left out: needs the real log no-such.csv in ../shared/logs, beside the project"
    ]


def test_a_cell_that_fails_is_named_and_the_others_are_measured(tmp_path: Path) -> None:
    heard: list[str] = []
    todo = [cell(5, query="wind"), cell(6)]
    sitting = run_cells(todo, Results(tmp_path), {}, lambda _c, how: heard.append(how))
    (line,) = sitting.failed
    assert re.search(r"expected a measurement; got exit code 1.*'wind'", line)
    assert heard == [f"failed: {line}", "measured"]
    # It has no row: the same command tries it again.
    assert [row["length"] for row in Results(tmp_path).rows] == [6]


def test_a_cell_that_hangs_is_ended_and_the_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SPARE", 0.05)
    hanging = replace(cell(5), foretold=0.0)
    before = psutil.Process().children()  # such as the servers that tests share
    sitting = run_cells([hanging, replace(cell(6), foretold=60.0)], Results(tmp_path), {})
    (line,) = sitting.failed
    assert line == (
        f"{hanging.key}: expected a measurement; got none within 0 s; "
        "try python -m experiments objects"
    )
    assert [row["length"] for row in Results(tmp_path).rows] == [6]
    assert psutil.Process().children() == before


def test_tables_hold_the_rows_in_both_formats(tmp_path: Path) -> None:
    rows = [
        {"key": "b", "length": 10, "seconds": 2, "query": "ltl"},
        {"key": "a", "length": 20, "seconds": 0.5, "peak_bytes": 7},
    ]
    write_tables(tmp_path, rows)
    assert read_rows(tmp_path) == [rows[1], {**rows[0], "seconds": 2.0}]
    table = pa_csv.read_csv(tmp_path / "results.csv")
    assert json.loads(json.dumps(table.column("key").to_pylist())) == ["a", "b"]
    assert table.column("seconds").to_pylist() == [0.5, 2.0]

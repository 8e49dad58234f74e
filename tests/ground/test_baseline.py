"""What became worse since the baseline is named; times of another machine are left alone."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import bench.__main__ as command
from bench import Bench, Result
from bench.baseline import BASELINE, COMPARED, against, keep, told
from bench.report import write

MACHINE, VERSIONS = {"cores": 2}, {"python": "3.11", "commit": "abc"}
BEFORE = [
    Result("window", "events/s", (100.0,)),
    Result("window.vs_sql", "ratio", (2.0, 4.0, 3.0), "higher"),
    Result("window.slowdown", "ratio", (1.0,)),
    Result("window.bytes_per_event", "bytes", (0.20,)),
    Result("window.peak_mb", "MB", (0.0,)),
    Result("gone.slowdown", "ratio", (1.0,)),
]


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    write(tmp_path / "results" / "spark.json", "spark", MACHINE, VERSIONS, BEFORE)
    keep(tmp_path / "results" / "spark.json", tmp_path / "baseline")
    return tmp_path / "baseline"


def named(baseline: Path, *now: Result) -> list[str]:
    return [change.id for change in against("spark", now, baseline) or () if change.regression]


def test_every_bench_that_can_be_compared_has_its_baseline_with_every_result() -> None:
    for name in command.names():
        bench = command.load(name)
        wanted = {id for id, unit in bench.units.items() if unit in COMPARED}
        file = BASELINE / f"{bench.into or name}.json"
        assert not wanted or file.exists(), f"make bench NAME={name}, make baseline NAME={name}"
        kept = json.loads(file.read_text(encoding="utf-8"))["results"] if wanted else []
        assert wanted <= {each["id"] for each in kept}


def test_the_baseline_keeps_ratios_and_sizes_with_their_machine(baseline: Path) -> None:
    kept: dict[str, Any] = json.loads((baseline / "spark.json").read_text())
    assert (kept["machine"], kept["versions"]) == (MACHINE, VERSIONS)
    assert [each["id"] for each in kept["results"]] == [r.id for r in BEFORE if r.id != "window"]
    assert kept["results"][0]["runs"] == [2.0, 4.0, 3.0]


@pytest.mark.parametrize(
    ("id", "unit", "better", "same", "worse"),
    [
        ("window.vs_sql", "ratio", "higher", 2.61, 2.60),
        ("window.slowdown", "ratio", "lower", 1.15, 1.16),
        ("window.bytes_per_event", "bytes", "lower", 0.229, 0.231),
        ("window.peak_mb", "MB", "lower", 0.0, 0.1),
    ],
)
def test_only_what_is_worse_by_more_than_15_percent_is_a_regression(
    baseline: Path, id: str, unit: str, better: Any, same: float, worse: float
) -> None:
    assert named(baseline, Result(id, unit, (same,), better)) == []
    assert named(baseline, Result(id, unit, (worse,), better)) == [id]


def test_the_median_counts_and_not_the_worst_run(baseline: Path) -> None:
    assert named(baseline, Result("window.slowdown", "ratio", (1.0, 1.1, 9.0))) == []


def test_times_and_what_was_not_there_before_are_not_compared(baseline: Path) -> None:
    now = (
        Result("window", "events/s", (1.0,), "higher"),
        Result("fresh.slowdown", "ratio", (99.0,)),
        Result("window.slowdown", "MB", (99.0,)),
    )
    assert against("spark", now, baseline) == []


def test_times_alone_need_no_baseline(tmp_path: Path) -> None:
    changes = against("none", [Result("window", "events/s", (1.0,), "higher")], tmp_path)
    assert changes == []
    assert list(told("none", changes)) == ["none: nothing that could be compared with a baseline"]
    ratio = [Result("window.slowdown", "ratio", (1.0,))]
    assert against("none", ratio, tmp_path) is None


def test_the_worst_is_told_first_and_which_way_is_better(baseline: Path) -> None:
    now = (
        Result("window.slowdown", "ratio", (1.5,)),
        Result("window.vs_sql", "ratio", (1.0,), "higher"),
        Result("window.bytes_per_event", "bytes", (0.1,)),
    )
    assert list(told("spark", against("spark", now, baseline))) == [
        "spark: 3 ratios and sizes compared with the baseline, 2 worse by more than 15%",
        "regression: window.vs_sql: 1 ratio, was 3: worse by 200% (higher is better)",
        "regression: window.slowdown: 1.5 ratio, was 1: worse by 50% (lower is better)",
    ]


def test_without_a_baseline_it_says_how_to_keep_one(baseline: Path) -> None:
    assert list(told("store", against("store", BEFORE, baseline))) == [
        "store: no baseline yet: make baseline NAME=store keeps this one"
    ]


def slower(times: float) -> Bench:
    made = Bench("made up")
    made.variant("ours")(lambda _: times)
    made.variant("theirs")(lambda _: 1.0)
    made.ratio("ours.vs_theirs", "ours", "theirs")
    return made


def test_measured_kept_and_measured_again_the_command_names_what_became_worse(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("BENCH_QUICK", raising=False)
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(command, "BASELINE", tmp_path / "baseline")
    assert command.main(["--baseline"]) == 1
    assert capsys.readouterr().err == (
        "bench: expected results to keep; got none; try make bench\n"
    )
    monkeypatch.setattr(command, "load", lambda _: slower(2.0))
    assert command.main(["imports"]) == 0
    assert "no baseline yet" in capsys.readouterr().out
    assert command.main(["--baseline", "imports"]) == 0
    monkeypatch.setattr(command, "load", lambda _: slower(3.0))
    said = io.StringIO()
    command.measure("imports", Console(file=said, width=200))
    assert "regression: ours.vs_theirs: 3 ratio, was 2: worse by 50%" in said.getvalue()
    monkeypatch.setenv("BENCH_QUICK", "1")
    command.measure("imports", Console(file=(short := io.StringIO()), width=200))
    assert "regression" not in short.getvalue()


@pytest.mark.parametrize(
    ("name", "id", "better"),
    [
        ("imports", "engine.vs_python", "lower"),
        ("logs", "xes.vs_expat", "higher"),
        ("kernels", "ltl.tracked_over_untracked", "lower"),
        ("kernels", "ltl.rows_over_untracked", "lower"),
        ("kernels", "ltl.vs_interpreter", "higher"),
        ("kernels", "ltl.growth_1e6_1e7", "lower"),
        ("kernels", "stateless.compact_vs_hand", "lower"),
        ("spark", "ltl.tracked_over_untracked", "lower"),
        ("spark", "ltl.vs_sql", "higher"),
        ("store", "ltl.vs_importer", "higher"),
        ("export", "nquads.vs_prov", "higher"),
        ("export", "nquads.vs_rdflib", "higher"),
        ("export", "nquads.peak_ratio_1e6_1e5", "lower"),
    ],
)
def test_a_ratio_says_which_way_is_better(name: str, id: str, better: str) -> None:
    assert command.load(name)._ratios[id][2] == better

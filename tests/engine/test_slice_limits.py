"""Maps over all slices have a size beyond which they are refused, on every runner."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Cli
from whence.api import run
from whence.engine import (
    ApplyFunction,
    Chain,
    CountDecimate,
    Filter,
    Group,
    Slice,
    Stutter,
    Trim,
    Window,
    interpret,
)
from whence.engine.analysis.advice import check_maps, map_keys, warnings_of
from whence.engine.errors import EventError, ParameterError
from whence.engine.formula import formula
from whence.engine.language.processor import Processor
from whence.engine.values.limits import VARIABLE, RunLimits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from whence.api import Runner

RUNNERS = ["interpreter", "local", pytest.param("spark", marks=pytest.mark.spark)]
LATEST = Chain.of(Slice("latest", by="case", of=ApplyFunction("x", "x")))


def _log(cases: int, events: int = 0) -> list[dict[str, object]]:
    return [{"case": f"c{n % cases}", "x": n} for n in range(events or cases)]


@pytest.mark.parametrize("runner", RUNNERS)
def test_more_keys_than_the_limit_are_refused_at_the_position_where_they_appear(
    runner: Runner, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    session: SparkSession | None = request.getfixturevalue("spark") if runner == "spark" else None
    few = LATEST | CountDecimate("few", n=20_000)  # even of maps that nothing reads
    with pytest.raises(EventError) as caught:
        run(few, _log(10_002), runner=runner, record=tmp_path, session=session)
    assert str(caught.value).startswith(
        "latest, position 10000: expected at most 10,000 keys in a map over all slices (the limit "
        "'map_keys'); got 10,001; try `combine: count` (or and, or, add, min, max) to output one "
        "value, or a Filter before the Slice, or --run-limit map_keys=20000 "
    )
    assert "\n" not in str(caught.value)


def test_a_map_of_few_keys_but_large_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "value=5_000")
    log = [{"case": n, "x": "t" * 1_000} for n in range(6)]
    with pytest.raises(EventError, match="position 4: expected at most 5,000 bytes in one value"):
        interpret(LATEST, log)


@pytest.mark.parametrize("runner", ["interpreter", "local"])
def test_all_maps_of_a_run_have_a_limit_together(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "maps=1_000_000")
    with pytest.raises(EventError, match="latest: expected at most 1,000,000 bytes in the maps"):
        run(LATEST, _log(1_000), runner=runner, record=tmp_path)
    more = RunLimits(maps=1 << 30)  # raised for this run alone, whatever the environment says
    raised = run(LATEST, _log(1_000), runner=runner, record=tmp_path, limits=more)
    assert raised.record.manifest.status == "complete"
    # What is not written does not count.
    few = LATEST | CountDecimate("few", n=900)
    result = run(few, _log(1_000), runner=runner, record=tmp_path)
    assert [len(value) for _, value in result.outputs()] == [1, 901]  # type: ignore[arg-type]


def test_a_limit_is_raised_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "map_keys=10_003 texts=900")
    assert len(interpret(LATEST, _log(10_002)).values[-1]) == 10_002  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="the run limit map_keys: expected a whole number"):
        RunLimits.stated(["map_keys=all"])


def test_what_needed_12_gb_is_refused_within_one(tmp_path: Path) -> None:
    """35,000 events with 10,000 cases, in a process that is given 3 GB of addresses."""
    (tmp_path / "log.csv").write_text(
        "case,x\n" + "".join(f"c{n * 7919 % 10_000},{n}\n" for n in range(35_000))
    )
    (tmp_path / "chain.yaml").write_text("id: latest\nslice: {by: case, of: {id: x, apply: x}}\n")
    command = [sys.executable, "-m", "whence", "run", "chain.yaml", "--log", "log.csv"]
    done = subprocess.run(
        [*command, "--runner", "local", "--record", "record"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30)),
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "whence: latest: expected at most 1,073,741,824 bytes in the maps over all slices that a "
        "run writes (the limit 'maps'); got more"
    )
    assert "Traceback" not in done.stderr


def test_check_counts_the_keys_of_a_log(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text("id: latest\nslice: {by: case, of: {id: x, apply: x}}\n")
    (tmp_path / "log.csv").write_text("case,x\n" + "".join(f"c{n},1\n" for n in range(10_001)))
    done = cli("check", "chain.yaml", "--log", "log.csv")
    assert done.returncode == 1
    assert "Slice 'latest': expected at most 10,000 keys in a map" in done.stderr
    raised = cli("check", "chain.yaml", "--log", "log.csv", "--run-limit", "map_keys=10001")
    assert raised.returncode == 0, raised.stderr
    (tmp_path / "count.yaml").write_text(
        "id: latest\nslice: {by: case, of: {id: x, apply: x}, combine: count}\n"
    )
    assert cli("check", "count.yaml", "--log", "log.csv").returncode == 0


def test_check_warns_of_maps_that_are_too_large_together(cli: Cli, tmp_path: Path) -> None:
    text = "id: latest\nslice: {by: case, of: {id: x, apply: x}}\n"
    (tmp_path / "chain.yaml").write_text(text)
    (tmp_path / "few.yaml").write_text(
        f"line: [{{{text.replace(chr(10), ', ', 1).strip()}}}, {{id: few, decimate: 900}}]\n"
    )
    (tmp_path / "log.csv").write_text("case,x\n" + "".join(f"c{n},1\n" for n in range(1_000)))
    limited = ("--log", "log.csv", "--run-limit", "maps=1_000_000")
    done = cli("check", "chain.yaml", *limited)
    assert done.returncode == 0, done.stderr
    assert "warning: latest: a run that writes a map over all slices after every" in done.stderr
    assert "`combine: count`" in done.stderr
    assert cli("run", "chain.yaml", *limited, "--runner", "local").returncode == 1
    for fine in (("few.yaml", *limited), ("chain.yaml", "--log", "log.csv")):
        assert "warning" not in cli("check", *fine).stderr


def test_check_refuses_no_map_that_a_run_would_output(cli: Cli, tmp_path: Path) -> None:
    """Slices that stay silent are in no map; lists of keys are not keys."""
    (tmp_path / "chain.yaml").write_text(
        "id: few\nslice: {by: case, of: {line: [{id: kept, filter: {where: x = 2}}, "
        "{id: x, apply: x}]}}\n"
    )
    (tmp_path / "log.csv").write_text("case,x\n" + "".join(f"c{n},1\n" for n in range(10_001)))
    for command in (("check",), ("run", "--runner", "local", "--limit", "1", "--no-load")):
        done = cli(
            command[0], "chain.yaml", "--log", "log.csv", "--type", "x=integer", *command[1:]
        )
        assert done.returncode == 0, done.stderr
    (tmp_path / "keys.yaml").write_text("id: n\nslice: {by: k, of: {id: one, apply: '1'}}\n")
    lists = "".join(f'{{"k": ["{n // 150}", "{n % 150}"]}}\n' for n in range(10_001))
    (tmp_path / "log.jsonl").write_text(lists)
    done = cli("check", "keys.yaml", "--log", "log.jsonl")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("inner", "counted"),
    [
        (ApplyFunction("x", "x") | Stutter("twice", n=2), True),
        (Trim("later", n=1), False),
        (Window("two", n=2, of=ApplyFunction("x", "x")), False),
        (Filter("kept", where="x > 1"), False),
        (Group("g", chain=Chain.of(Filter("kept", where="x > 1"))), False),
        (formula("X (x > 1)", id="rule"), False),
    ],
)
def test_keys_are_counted_where_no_slice_is_silent(inner: Processor | Chain, counted: bool) -> None:
    of = inner if isinstance(inner, Chain) else Chain.of(inner)
    assert bool(list(map_keys(Chain.of(Slice("latest", by="case", of=of))))) is counted


def test_only_maps_by_a_field_of_a_log_are_counted() -> None:
    assert list(map_keys(LATEST)) == [("latest", "log", "case")]
    inner = ApplyFunction("x", "x")
    assert not list(map_keys(Chain.of(Slice("n", by="case", of=inner, combine="count"))))
    assert not list(map_keys(Chain.of(Slice("n", by="lower(case)", of=inner))))
    assert check_maps("latest", "case", []) is None


def test_a_temporal_formula_in_a_slice_is_warned_of_unless_it_takes_the_first() -> None:
    rule = formula("G (a -> F b)", id="rule")
    (line,) = warnings_of(Chain.of(Slice("paid", by="case", of=rule, combine="and")))
    assert line.startswith("paid: its temporal formula has a verdict for every suffix")
    assert "`take: first`" in line
    first = Slice("paid", by="case", of=rule, combine="and", take="first")
    assert warnings_of(Chain.of(first)) == []
    assert warnings_of(LATEST) == []
    nested = Slice("outer", by="k", of=Slice("paid", by="case", of=rule), take="first")
    assert [line.partition(":")[0] for line in warnings_of(Chain.of(nested))] == ["outer/paid"]


def test_check_and_run_warn_in_one_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("case,a\nA,x\n")
    (tmp_path / "chain.yaml").write_text(
        "id: paid\nslice: {by: case, combine: and, of: {id: rule, formula: \"G (a = 'x')\"}}\n"
    )
    for command in (("check",), ("run", "--runner", "interpreter"), ("run", "--runner", "local")):
        done = cli(command[0], "chain.yaml", "--log", "log.csv", *command[1:])
        assert done.returncode == 0, done.stderr
        lines = [each for each in done.stderr.splitlines() if "warning" in each]
        assert len(lines) == 1
        assert lines[0].startswith("warning: paid: its temporal formula has a verdict for every")

"""``whence run`` over logs of all kinds: what is declared by options, in the file and in Python."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.conftest import Cli
from whence.api import run as run_in_python
from whence.cli.app import app
from whence.engine.errors import ChainError, LogError
from whence.engine.language.log import Log
from whence.engine.sources.generate import payment_log, write_log

LOG = "case;what;When;p\nA;x;02.03.2026;1\nB;y;01.03.2026;2\nA;z;01.03.2026;three\nB;w;;4\n"
OPTIONS = ("--delimiter", ";", "--type", "When=instant(%d.%m.%Y)", "--time", "When")
DECLARED = """
logs:
  log:
    delimiter: ";"
    columns: {When: instant(%d.%m.%Y)}
    time: When
    order: time
    missing: last
id: what
apply: what
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run ``whence run`` with the interpreter, in this process, in a folder with a log."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(LOG, encoding="utf-8")
    (tmp_path / "what.yaml").write_text("{id: what, apply: what}")
    (tmp_path / "p.yaml").write_text("{id: p, apply: p}")
    (tmp_path / "declared.yaml").write_text(DECLARED)

    def run(chain: str, *arguments: str) -> CompletedProcess[str]:
        words = ("run", chain, "--log", "log.csv", "--runner", "interpreter", "--json", *arguments)
        done = CliRunner().invoke(app, words)
        return CompletedProcess(words, done.exit_code, done.stdout, done.stderr)

    return run


def values(done: CompletedProcess[str]) -> list[Any]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["value"] for line in done.stdout.splitlines()[:-1]]


def test_file_order_is_the_default_and_another_can_be_stated(here: Cli) -> None:
    assert values(here("what.yaml", *OPTIONS)) == ["x", "y", "z", "w"]
    refused = here("what.yaml", *OPTIONS, "--order", "time")
    assert refused.returncode == 1
    assert refused.stderr.startswith("whence: log.csv, row 4, column 'When': expected a value, to")
    for place, expected in (("first", ["w", "y", "z", "x"]), ("last", ["y", "z", "x", "w"])):
        done = here("what.yaml", *OPTIONS, "--order", "time", "--missing", place)
        assert values(done) == expected
    assert values(here("what.yaml", *OPTIONS, "--order", "case,what")) == ["x", "z", "w", "y"]


def test_the_chain_file_says_the_same_and_options_override_it(here: Cli) -> None:
    assert values(here("declared.yaml")) == ["y", "z", "x", "w"]
    assert values(here("declared.yaml", "--missing", "first")) == ["w", "y", "z", "x"]
    assert values(here("declared.yaml", "--order", "file")) == ["x", "y", "z", "w"]


def test_python_says_the_same(here: Cli, tmp_path: Path) -> None:
    declared = Log({"When": "instant(%d.%m.%Y)"}, time="When", order="time", delimiter=";")

    def ran(log: Any, **more: Any) -> list[Any]:
        result = run_in_python(
            tmp_path / "what.yaml", log, runner="interpreter", record=tmp_path / "record", **more
        )
        return [value for _, value in result.outputs()]

    stated = Log(missing="last").over(declared)
    assert ran("log.csv", declare=stated) == ["y", "z", "x", "w"]
    assert ran({"log": tmp_path / "log.csv"}, declare={"log": stated}) == ["y", "z", "x", "w"]
    assert ran([tmp_path / "log.csv"], declare=stated) == ["y", "z", "x", "w"]
    events = [{"what": "b", "at": 2}, {"what": "a", "at": 1}]
    assert ran(events, declare=Log(order="at")) == ["a", "b"]
    with pytest.raises(ChainError, match="declare: expected one of log; got 'lag'; try 'log'"):
        ran("log.csv", declare={"lag": stated})
    with pytest.raises(LogError):
        ran("log.csv", declare=declared)


def test_times_that_are_text_are_never_put_in_order_as_text(here: Cli) -> None:
    done = here("what.yaml", "--delimiter", ";", "--time", "When", "--order", "time")
    assert done.returncode == 1
    assert done.stderr == (
        "whence: log.csv: expected the column 'When' to hold instants, to order by; got text; "
        "try --type 'When=instant(%d.%m.%Y)' or --type 'When=instant(%m.%d.%Y)', whichever it is: "
        "both fit\n"
    )
    done = here("what.yaml", "--delimiter", ";", "--order", "time")
    assert done.stderr.startswith("whence: log.csv: expected a column to order by; got 'time'; try")


def test_rows_that_do_not_fit_are_refused_dropped_or_kept_and_told(here: Cli) -> None:
    arguments = ("p.yaml", *OPTIONS, "--type", "p=integer")
    refused = here(*arguments)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "log.csv, row 3 (line 4), column 'p': expected an integer; got 'three'" in refused.stderr
    dropped = here(*arguments, "--on-bad", "drop")
    assert values(dropped) == [1, 2, 4]
    assert "log.csv: 4 rows read, 1 dropped:\n  log.csv, row 3 (line 4)" in dropped.stderr
    kept = here(*arguments, "--on-bad", "keep")
    assert values(kept) == [1, 2, None, 4]
    assert "log.csv: 4 rows read, 1 value left empty:" in kept.stderr


def test_a_mapping_that_was_guessed_is_told_and_kept_and_one_that_is_stated_counts(
    here: Cli, tmp_path: Path
) -> None:
    write_log(payment_log(200), "payments.csv")
    result = run_in_python(
        tmp_path / "p.yaml",
        tmp_path / "log.csv",
        declare=Log(delimiter=";", activity="what", case=""),
        runner="interpreter",
        record=tmp_path / "record",
    )
    manifest = result.record.log("log").manifest
    assert (manifest.case, manifest.activity, manifest.time) == (None, "what", None)
    chain = tmp_path / "amount.yaml"
    chain.write_text("{id: amount, apply: amount}")
    result = run_in_python(chain, "payments.csv", runner="interpreter", record=tmp_path / "record")
    manifest = result.record.log("log").manifest
    assert (manifest.case, manifest.activity, manifest.time) == (
        "case",
        "activity",
        "time",
    )


def test_what_the_format_says_can_be_denied(here: Cli, tmp_path: Path) -> None:
    write_log(payment_log(200), "payments.xes")
    chain = tmp_path / "amount.yaml"
    chain.write_text("{id: amount, apply: amount}")
    for stated, expected in ((None, "case:concept:name"), ("", None), ("amount", "amount")):
        result = run_in_python(
            chain,
            "payments.xes",
            declare=Log(case=stated),
            runner="interpreter",
            record=tmp_path / "record",
        )
        assert result.record.log("log").manifest.case == expected


@pytest.mark.parametrize("ending", [".jsonl", ".parquet", ".xes", ".xes.gz", ".csv.gz"])
def test_every_format_can_be_run_over(here: Cli, tmp_path: Path, ending: str) -> None:
    log = payment_log(200)
    file = tmp_path / f"payments{ending}"
    write_log(log, file)
    column = '"concept:name"' if "xes" in ending else "activity"
    time = "time:timestamp" if "xes" in ending else "time"
    (tmp_path / "chain.yaml").write_text(f"{{id: what, apply: '{column}'}}")
    words = ("run", "chain.yaml", "--log", str(file), "--runner", "interpreter", "--json", "-q")
    done = CliRunner().invoke(app, [*words, "--order", "time", "--type", f"{time}=instant"])
    assert done.exit_code == 0, done.stderr
    found = [json.loads(line)["value"] for line in done.stdout.splitlines()[:-1]]
    expected = log.table()["activity"].to_pylist()
    assert sorted(found) == sorted(expected)
    if "xes" not in ending:  # which goes case by case, so that ties stand in another order
        assert found == expected


def test_several_logs_have_their_own_kinds(here: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text(
        "{graph: {inputs: [a, b], nodes: {sum: {from: [a, b], is: {apply: $0.x + $1.y}}}}}"
    )
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "b.jsonl").write_text('{"y": "5", "z": 1}\n')
    words = ["run", "chain.yaml", "--log", "a=a.csv", "--log", "b=b.jsonl", "--runner"]
    words += ["interpreter", "--json", "-q", "--type", "x=integer", "--type", "y=integer"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["value"] == 6
    unknown = CliRunner().invoke(app, [*words, "--type", "zz=integer"])
    assert unknown.exit_code == 1
    assert "--type: expected a column of a, b; got 'zz'; try 'z' (did you mean" in unknown.stderr

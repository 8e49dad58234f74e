"""What a person would want to know before the result: typing errors, empty logs, repeated ids."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.conftest import Cli
from whence.cli.app import app

LOG = "case,activity,clerk\nA,register,ann\nA,approve,bob\nA,pay,ann\nB,register,\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run ``whence`` in this process, in a folder with a log and a record of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHENCE_RECORD", str(tmp_path / "record"))
    (tmp_path / "claims.csv").write_text(LOG)

    def run(*arguments: str) -> CompletedProcess[str]:
        done = CliRunner().invoke(app, arguments)
        return CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    return run


def warnings_of(done: CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    return [line.removeprefix("warning: ") for line in lines if line.startswith("warning: ")]


@pytest.mark.parametrize(
    "chain",
    [
        "apply: activity = 'aprove'",
        "apply: activity != 'register' and 'aprove' = activity",
        "apply: activity in ('pay', 'aprove')",
        "filter: {where: activity = 'aprove'}",
        "formula: G (activity = 'aprove' -> F activity = 'pay')",
        "slice: {by: case, of: {id: one, apply: activity = 'aprove'}}",
        "window: {n: 2, of: {line: [{id: kept, filter: {where: case = 'A'}}, "
        "{id: one, apply: activity = 'aprove'}]}}",
        "moore: {initial: a, states: {a: 1, b: 2}, transitions: "
        "[[a, \"activity = 'aprove'\", b]], otherwise: {a: a, b: b}}",
    ],
)
@pytest.mark.parametrize("command", [("run", "--runner", "local"), ("check",)])
def test_a_text_that_no_event_has_is_warned_of_with_the_one_that_was_meant(
    here: Cli, tmp_path: Path, chain: str, command: tuple[str, ...]
) -> None:
    (tmp_path / "chain.yaml").write_text(f"id: rule\n{chain}\n")
    done = here(command[0], "chain.yaml", "--log", "claims.csv", *command[1:])
    how = "!=" if "!= 'aprove'" in chain else "="
    assert warnings_of(done) == [
        f"activity {how} 'aprove': no event of claims.csv has this activity; "
        "did you mean 'approve'?"
    ]


def test_every_runner_of_this_process_warns(here: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text("id: rule\napply: activity = 'APPROVE '\n")
    for runner in ("interpreter", "local"):
        done = here("run", "chain.yaml", "--log", "claims.csv", "--runner", runner)
        (line,) = warnings_of(done)
        assert line.endswith("did you mean 'approve'?")
        quiet = here("run", "chain.yaml", "--log", "claims.csv", "--runner", runner, "--quiet")
        assert "warning" not in quiet.stderr


def test_where_nothing_is_near_the_most_frequent_are_named(here: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text("id: rule\napply: activity = 'xyz' or clerk != 'xyz'\n")
    done = here("check", "chain.yaml", "--log", "claims.csv")
    assert warnings_of(done) == [
        "activity = 'xyz': no event of claims.csv has this activity; "
        "there are 'register', 'approve', 'pay'",
        "clerk != 'xyz': no event of claims.csv has this clerk; there are 'ann', 'bob'",
    ]


def test_texts_that_occur_are_not_warned_of_nor_those_of_what_the_chain_computes(
    here: Cli, tmp_path: Path
) -> None:
    (tmp_path / "chain.yaml").write_text(
        "line:\n- {id: named, apply: \"if activity = 'pay' then 'yes' else 'no'\"}\n"
        "- {id: said, apply: value = 'maybe'}\n"
    )
    assert warnings_of(here("run", "chain.yaml", "--log", "claims.csv", "--runner", "local")) == []
    assert warnings_of(here("check", "chain.yaml", "--log", "claims.csv")) == []


def test_what_a_log_says_is_shown_on_one_line(here: Cli, tmp_path: Path) -> None:
    (tmp_path / "claims.csv").write_text('case,activity\nA,"[red]app\x1b[31m\nrove"\n')
    (tmp_path / "chain.yaml").write_text("id: rule\napply: activity = '[red]app rove'\n")
    (line,) = warnings_of(here("check", "chain.yaml", "--log", "claims.csv"))
    assert line.endswith(r"did you mean '[red]app\x1b[31m\nrove'?")


EMPTY = {
    "empty.csv": b"case,activity\n",
    "empty.jsonl": b"",
    "empty.xes": b'<log xes.version="1.0"></log>',
    "empty.log": b"",
}


@pytest.mark.parametrize("runner", ["interpreter", "local"])
@pytest.mark.parametrize("name", [*EMPTY, "empty.parquet"])
def test_an_empty_log_is_said_to_be_empty(
    here: Cli, tmp_path: Path, name: str, runner: str
) -> None:
    if name in EMPTY:
        (tmp_path / name).write_bytes(EMPTY[name])
    else:
        pq.write_table(pa.table({"activity": pa.array([], pa.string())}), tmp_path / name)
    (tmp_path / "chain.yaml").write_text("id: all\npassthrough: {}\n")
    done = here("run", "chain.yaml", "--log", name, "--runner", runner)
    assert warnings_of(done) == [f"{name} is empty: 0 events, so the chain has nothing to read"]
    assert "0 outputs" in done.stdout + done.stderr


def test_a_csv_without_even_a_header_is_refused(here: Cli, tmp_path: Path) -> None:
    (tmp_path / "zero.csv").write_bytes(b"")
    (tmp_path / "chain.yaml").write_text("id: rule\napply: activity = 'pay'\n")
    done = here("run", "chain.yaml", "--log", "zero.csv", "--runner", "local")
    assert done.returncode == 1
    assert "expected a header with the columns' names; got nothing" in done.stderr


@pytest.mark.parametrize("runner", ["interpreter", "local"])
def test_declared_ids_that_repeat_are_refused_with_their_rows(
    here: Cli, tmp_path: Path, runner: str
) -> None:
    (tmp_path / "log.csv").write_text("event id,activity\n1,a\n2,b\n,c\n,d\n2,e\n1,f\n")
    (tmp_path / "chain.yaml").write_text("id: rule\napply: activity = 'a'\n")
    run = ("run", "chain.yaml", "--log", "log.csv", "--runner", runner)
    done = here(*run, "--id", "event id")
    assert done.returncode == 1
    assert done.stderr.endswith(
        "whence: log.csv, rows 2 and 5, column 'event id': expected an id of its own for each "
        "event; got '2' in both, and 1 more such event; try another --id COLUMN, or --id '' if "
        "no column names the events\n"
    )
    assert done.stdout == ""
    guessed = here(*run)  # by its name alone nobody declared it
    assert guessed.returncode == 0
    none = here(*run, "--id", "")
    assert none.returncode == 0

"""``whence run`` as it is without further words: on Spark, with a record, and with a graph."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from whence.api import run
from whence.cli.app import app
from whence.engine.errors import LogError
from whence.engine.language.log import Log
from whence.engine.record import RunRecord
from whence.store import Connection
from whence.store.server import Status

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CHAIN = """
logs: {log: {columns: {p: integer}}}
graph:
  inputs: [log]
  nodes:
    low: {from: [log], is: {apply: p < 0}}
    sum: {from: [log], is: {apply: p + 1}}
"""
ROWS = [-1, 2, 3, -4, 5, 6, 7, 8, 9, 10, 11, 12]
Whence = Callable[..., Result]


@pytest.fixture
def whence(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Whence:
    """Run a command in this process, where Spark runs already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHENCE_RECORD", str(tmp_path / "record"))
    (tmp_path / "chain.yaml").write_text(CHAIN, encoding="utf-8")
    (tmp_path / "log.csv").write_text("p\n" + "".join(f"{n}\n" for n in ROWS), encoding="utf-8")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    return run


RUN = ("run", "chain.yaml", "--log", "log.csv")


def test_a_person_sees_the_first_outputs_a_summary_and_what_is_next(
    whence: Whence, tmp_path: Path
) -> None:
    done = whence(*RUN)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["pipe", "position", "moment", "value"]
    assert [line.split() for line in lines[1:4]] == [
        ["low", "0", "0", "true"],
        ["sum", "0", "0", "0"],
        ["low", "1", "1", "false"],
    ]
    record = RunRecord(tmp_path / "record", "latest")
    assert lines[11:] == [
        "24 outputs, the first 10 shown",
        "  low: false (10 times), true (2 times)",
        "  sum: 12 different values, each once",
        f"run {record.id}",
        f"  record: {record.folder}",
        "  not tracked: --track stores what explains each output",
    ]
    assert record.manifest.runner == "spark"


def test_programs_read_the_same_lines_as_from_the_interpreter(whence: Whence) -> None:
    here = whence(*RUN, "--runner", "interpreter", "--json")
    there = whence(*RUN, "--json")
    assert (here.exit_code, there.exit_code) == (0, 0), there.stderr
    *outputs, end = [json.loads(line) for line in there.stdout.splitlines()]
    *expected, ending = [json.loads(line) for line in here.stdout.splitlines()]
    assert outputs == expected
    told: dict[str, Any] = end["end"]
    assert ending["end"].items() <= told.items()
    assert set(told) - set(ending["end"]) == {
        *("run", "record", "tracked", "loaded", "events", "relationships", "not_loaded"),
        *("root", "key", "stamped"),
    }
    rows = [whence(*RUN, "--csv", "--limit", "3", *way).stdout for way in ((), ("-q",))]
    assert rows[0] == rows[1]
    assert rows[0] == whence(*RUN, "--runner", "interpreter", "--csv", "--limit", "3").stdout
    assert [row["value"] for row in csv.DictReader(StringIO(rows[0]))] == ["true", "0", "false"]


@pytest.mark.neo4j
def test_without_a_server_the_run_finishes_and_says_how_to_load_it(
    whence: Whence,
    tmp_path: Path,
    graph: Connection,
    neo4j_server: Status,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(neo4j_server.home / "password"))
    away = ("--uri", "bolt://127.0.0.1:9", "--limit", "0")
    done = whence(*RUN, "--track", *away)
    assert done.exit_code == 0, done.stderr
    record = RunRecord(tmp_path / "record", "latest")
    assert record.manifest.status == "complete"
    *_, reason, hint = done.stdout.splitlines()
    assert reason.startswith("  not in Neo4j: expected a Neo4j server at bolt://127.0.0.1:9")
    assert hint == f"load it: whence load {record.id}"
    there = ("--uri", str(neo4j_server.uri), "--quiet")
    assert whence("load", record.id, *there).exit_code == 0
    asked = whence("explain", record.id, "low@3", *there)
    assert "low@3 is true (after input 3), explained by 1 input event" in asked.stdout
    loaded = whence(*RUN, "--track", "--limit", "0", "--uri", str(neo4j_server.uri))
    *_, wrote, ask = loaded.stdout.splitlines()
    assert "  in Neo4j: 24 events and 24 relationships written" in wrote
    assert ask.startswith("ask: whence explain ")


def test_a_bad_event_is_one_line_and_prints_no_output(whence: Whence, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text(
        "logs: {log: {columns: {p: integer}}}\nline: [{id: p, apply: p}, {id: t, cumulate: add}]\n",
        encoding="utf-8",
    )
    (tmp_path / "log.csv").write_text(f"p\n1\n{2**63 - 1}\n", encoding="utf-8")
    done = whence(*RUN)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("whence: t, position 1: expected an integer of")
    assert RunRecord(tmp_path / "record", "latest").manifest.status == "failed"


def test_a_plan_says_how_the_run_would_be_cut_and_runs_nothing(
    whence: Whence, tmp_path: Path
) -> None:
    done = whence(*RUN, "--plan", "--master", "local[8]")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == [
        "one task, from the first event to the last",
        "  because every output depends on one event alone; but 12 events are too few for that to "
        "pay",
    ]
    told = json.loads(whence(*RUN, "--plan", "--master", "local[8]", "--json").stdout)
    assert (told["kind"], told["tasks"]) == ("one task", 1)
    assert list((tmp_path / "record").glob("runs/*")) == []
    for way in (("--plan",), ("--partitions", "3")):
        refused = whence(*RUN, "--runner", "local", *way)
        assert refused.exit_code == 2
        assert "expected --runner spark; got local" in refused.stderr


def test_an_empty_log_and_a_text_that_no_event_has_are_warned_of(
    whence: Whence, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text("p,activity\n")
    empty = whence(*RUN)
    assert empty.exit_code == 0, empty.stderr
    assert "warning: log.csv is empty: 0 events" in empty.stderr
    assert "0 outputs" in empty.stdout
    (tmp_path / "log.csv").write_text("p,activity\n1,approve\n")
    (tmp_path / "chain.yaml").write_text("id: rule\napply: activity = 'aprove'\n")
    mistyped = whence(*RUN)
    assert mistyped.exit_code == 0, mistyped.stderr
    assert "no event of log.csv has this activity; did you mean 'approve'?" in mistyped.stderr


def test_declared_ids_that_repeat_are_refused_and_leave_no_run(
    whence: Whence, tmp_path: Path, spark: SparkSession
) -> None:
    first = whence("run", "chain.yaml", "--log", "log.csv", "--id", "p")
    assert first.exit_code == 0, first.stderr
    (tmp_path / "log.csv").write_text("p\n1\n2\n1\n")
    refused = whence("run", "chain.yaml", "--log", "log.csv", "--id", "p")
    assert refused.exit_code == 1
    assert "log.csv, rows 1 and 3, column 'p': expected an id of its own" in refused.stderr
    assert len(list((tmp_path / "record" / "runs").iterdir())) == 1
    frame = spark.createDataFrame([("a", 1), ("b", 2), ("a", 3)], "name string, p long")
    declared = Log(id="name", order=("p",))
    with pytest.raises(
        LogError, match=r"column .name.: expected an id of its own .* got .a. in both"
    ):
        run(CHAIN, frame, declare=declared, session=spark, record=tmp_path / "record")

"""The commands that load and ask, as a user runs them."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.engine.examples import lifecycle
from whence.cli.app import app
from whence.engine import Slice
from whence.engine.language.chain import Chain, Log
from whence.engine.record import ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.store import Connection, associate
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ask-questions.md"
Whence = Callable[..., Any]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Case B pays before anybody approves."""
    rows = ["A create", "B create", "A approve", "B pay", "A pay", "A approve"]
    events = [dict(zip(("case", "action"), row.split(), strict=True)) for row in rows]
    root = tmp_path / "record"
    log = ingest(root, "log", events, declared=Log(None, "case", "action"))
    chain = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
    run_recorded(root, chain, {"log": log}, RunOptions())
    return root


@pytest.fixture
def whence(graph: Connection, neo4j_server: Status, record: Path) -> Whence:
    """Run a command on the shared server, in this process: a new one each time takes long."""
    environment = {
        "NEO4J_URI": neo4j_server.settings().uri,
        "NEO4J_PASSWORD_FILE": str(neo4j_server.home / "password"),
        "WHENCE_RECORD": str(record),
    }

    def run(*arguments: str, code: int = 0) -> str:
        done = CliRunner(env=environment).invoke(app, [*arguments, "--quiet"])
        assert done.exit_code == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if code == 0 else done.stderr

    return run


def test_load_then_ask(whence: Whence, record: Path, tmp_path: Path) -> None:
    assert "4 of 4 parts written (18 events" in whence("load", "latest")
    assert "all 4 parts were there" in whence("load", "latest")
    shown = whence("explain", "latest", "3")
    assert "per-case@3 is false (after input 3), explained by 2 input events" in shown
    assert "log@3" in shown
    assert "coverage: all 6 outputs tracked" in shown
    matters = whence("never-matters", "latest")
    assert "certain" in matters
    touched = json.loads(whence("impact", "latest", "--inputs", "log:4-5", "--json"))
    counts = {row["answer"]: row["count"] for row in touched["answers"]}
    assert counts == {"unaffected": 6, "possibly": 0, "explained": 0}
    prov = tmp_path / "why.json"
    whence("explain", "latest", "3", "--prov", str(prov))
    assert json.loads(prov.read_text())["bundle"]


def test_an_answer_says_that_the_reason_is_in_another_case(whence: Whence) -> None:
    whence("load", "latest")
    asked = ("explain", "latest", "--where", "verdict = false", "--json", "--case")
    (other,) = json.loads(whence(*asked, "A"))["answers"]
    assert {event["case"] for event in other["events"]} == {"B"}
    assert other["not_of_case"] == "A"
    (own,) = json.loads(whence(*asked, "B"))["answers"]
    assert {event["case"] for event in own["events"]} == {"B"}
    assert "not_of_case" not in own
    told = whence("explain", "latest", "--where", "verdict = false", "--case", "A")
    assert "appeared with an event of case A, but no event that explains it is of that" in told


def test_a_job_that_told_rows_is_loaded_and_asked(whence: Whence, record: Path) -> None:
    rows = [("totals", 0, 0, "orders", 0), ("totals", 0, 0, "orders", 2)]
    job = associate(rows, record=record)
    whence("load", job.id)
    shown = whence("explain", job.id, "totals@0")
    assert "totals@0 is missing, explained by 2 input events" in shown
    assert [line for line in shown.splitlines() if "orders@" in line] == ["orders@0", "orders@2"]


def test_ids_and_counts_stay_when_the_record_is_gone(whence: Whence, record: Path) -> None:
    whence("load", "latest")
    questions = (
        ("explain", "latest", "3", "--support", "--json"),
        ("impact", "latest", "--case", "B", "--keys-corrupt", "--json"),
        ("never-matters", "latest", "--by", "field", "--list", "--json"),
        ("explain", "latest", "--where", "verdict = false", "--first", "2", "--json"),
    )
    before = [json.loads(whence(*question)) for question in questions]
    assert before[0]["events"][0]["value"] == {"action": "create"}
    record.rename(record.with_name("moved"))
    after = [json.loads(whence(*question)) for question in questions]
    for told in (before, after):
        for event in (*told[0]["events"], *(e for a in told[-1]["answers"] for e in a["events"])):
            event.pop("value")
    assert after == before


def test_the_page_shows_what_is_printed(whence: Whence) -> None:
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n\$ whence (.*?)\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) == 8
    for command, printed in blocks:
        said = [line.rstrip() for line in whence(*shlex.split(command)).splitlines()]
        if printed:
            assert said == printed.splitlines(), command


def test_the_page_asks_from_python(
    whence: Whence, neo4j_server: Status, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whence("load", "latest")
    monkeypatch.setenv("NEO4J_URI", neo4j_server.settings().uri)
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(neo4j_server.home / "password"))
    monkeypatch.setenv("WHENCE_RECORD", str(record))
    (text,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    told: dict[str, Any] = {}
    exec(text, told)
    assert (told["why"].count, told["why"].output.value) == (2, False)


def test_csv_is_rows(whence: Whence) -> None:
    whence("load", "latest")
    rows = list(csv.DictReader(io.StringIO(whence("explain", "latest", "3", "--csv"))))
    assert [(row["log"], row["position"], row["case"]) for row in rows] == [
        ("log", "1", "B"),
        ("log", "3", "B"),
    ]
    rows = list(csv.DictReader(io.StringIO(whence("impact", "latest", "--inputs", "3", "--csv"))))
    assert {row["answer"] for row in rows} == {"unaffected", "possibly", "explained"}
    assert "certain" in whence("never-matters", "latest", "--csv")


def test_refusals_are_one_line(whence: Whence) -> None:
    assert "expected one that is in the graph" in whence("explain", "latest", "3", code=1)
    whence("load", "latest")
    for arguments, words in (
        (("explain", "latest", "99"), "expected a position, 0 to 5; got 99"),
        (("explain", "latest", "nobody@1"), "expected one of per-case, per-case/order"),
        (("impact", "latest", "--inputs", "x"), "expected positions; got 'x'"),
        (("impact", "latest", "--inputs", "6"), "expected positions of log, 0 to 5; got 6"),
        (("impact", "latest", "--inputs", "other:1"), "expected one of log; got 'other'"),
        (("load", "nothing"), "got 'nothing'"),
    ):
        said = whence(*arguments, code=1)
        assert words in said
        assert said.count("\n") == 1
    for command in (("impact", "latest"), ("explain", "latest")):
        assert "Usage" in whence(*command, code=2)


def test_an_explanation_is_drawn(whence: Whence, tmp_path: Path) -> None:
    whence("load", "latest")
    printed = whence("explain", "latest", "3", "--graph", "mermaid")
    assert printed.startswith("flowchart TD")
    whence("explain", "latest", "3", "--graph", str(tmp_path / "why.svg"))
    assert "per-case/order@3" in (tmp_path / "why.svg").read_text()
    refused = whence("explain", "latest", "3", "--graph", str(tmp_path / "why.png"), code=1)
    assert "expected a file .svg, .mmd or .dot" in refused

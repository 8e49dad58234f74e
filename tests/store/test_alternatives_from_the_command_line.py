"""Every alternative of an explanation, as a person and as programs read it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.store._support.runs_in_neo4j import record_of
from whence.cli.app import app
from whence.engine import ApplyFunction, Cumulate
from whence.engine.language.chain import Chain
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.loading import load
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

LOG = [{"p": True}, {"p": False}, {"p": True}, {"p": False}, {"p": False}]
Whence = Callable[..., str]


@pytest.fixture
def whence(
    graph: Connection, neo4j_server: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Whence:
    """Ask about a rule that was broken three times."""
    chain = Chain.of(ApplyFunction("ok", "p") | Cumulate("always", "and"))
    options = RunOptions(witnesses="all", chunk=2)
    run = record_of(tmp_path, chain, {"log": LOG}, options)
    load(tmp_path, run.id, graph)
    monkeypatch.setenv("WHENCE_RECORD", str(tmp_path))
    monkeypatch.setenv("NEO4J_URI", str(neo4j_server.uri))
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(neo4j_server.home / "password"))

    def ask(*arguments: str) -> str:
        done = CliRunner().invoke(app, [*arguments, "--quiet"])
        assert done.exit_code == 0, done.stderr
        return done.stdout

    return ask


def test_a_person_reads_the_first_witness_and_then_the_others(whence: Whence) -> None:
    assert [line.rstrip() for line in whence("explain", "latest", "4").splitlines()] == [
        "always@4 is false (after input 4), explained by 1 input event",
        "input  fields  value",
        "log@1  p       p=false",
        "or else by log@3",
        "or else by log@4",
        "coverage: all 5 outputs tracked (inputs only, no intermediate steps); witnesses all",
    ]


def test_programs_read_every_witness_the_first_one_first(whence: Whence) -> None:
    document = json.loads(whence("explain", "latest", "4", "--json"))
    assert document["alternatives"] == [[{"log": "log", "lo": n, "hi": n}] for n in (1, 3, 4)]
    assert document["more_alternatives"] is False
    rows = list(csv.DictReader(StringIO(whence("explain", "latest", "4", "--csv"))))
    assert [(row["witness"], row["position"]) for row in rows] == [
        ("0", "1"),
        ("1", "3"),
        ("2", "4"),
    ]
    assert [row["value"] for row in rows] == ['{"p": false}'] * 3


def test_an_output_stands_as_long_as_one_alternative_is_untouched(whence: Whence) -> None:
    def possibly(inputs: str) -> list[list[int]]:
        answer = json.loads(whence("impact", "latest", "--inputs", inputs, "--json"))
        (row,) = [row for row in answer["answers"] if row["answer"] == "possibly"]
        return list(row["ranges"])

    assert possibly("1") == [[1, 2]]
    assert possibly("1,3") == [[1, 3]]
    assert possibly("1,3,4") == [[1, 4]]
    assert possibly("3,4") == []

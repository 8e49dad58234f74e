"""Correct and compare: as a user runs it, and as the graph keeps it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.store.test_asking_from_the_command_line import Whence, record, whence
from whence.engine.record import RunRecord, list_runs
from whence.store import Connection
from whence.store.loading import load

pytestmark = pytest.mark.neo4j

__all__ = ["record", "whence"]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "correct-and-compare.md"
FIRST, SECOND = "20260301-093000-a1b2c3", "20260301-094500-d4e5f6"
"""How the page calls the first run and the one that is kept beside it."""


def test_the_page_shows_what_is_printed(whence: Whence, record: Path) -> None:
    (first,) = list_runs(record)
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n\$ whence (.*?)\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) >= 3
    for command, printed in blocks:
        for shown, real in _names(record, first).items():
            command = command.replace(shown, real)
        said = whence(*shlex.split(command))
        for shown, real in _names(record, first).items():
            said = said.replace(real, shown)
        if printed:
            lines = [line.rstrip() for line in said.splitlines()]
            assert lines == printed.splitlines(), command


def _names(record: Path, first: str) -> dict[str, str]:
    """The runs as the page calls them."""
    others = [run for run in list_runs(record) if run != first]
    names: dict[str, str] = dict(zip((FIRST, SECOND), (first, *others), strict=False))
    if others:
        names["LOG-ID"] = RunRecord(record, others[0]).log("log").id
    return names


def test_a_run_that_is_kept_reads_a_revision(
    whence: Whence, graph: Connection, record: Path, tmp_path: Path
) -> None:
    told = tmp_path / "corrections.txt"
    told.write_text("# B was approved\nlog@3.action=approve\n", encoding="utf-8")
    (first,) = list_runs(record)
    load(record, first, graph)
    answer = json.loads(whence("what-if", first, "--from", str(told), "--keep", "--json"))
    assert answer["more"] == 0
    assert [row["after"] for row in answer["differences"]] == [True] * 3
    assert answer["corrections"][0]["before"] == "pay"
    load(record, answer["kept"], graph)
    found = graph.read("MATCH (new)-[:wasRevisionOf]->(old) RETURN new.id AS new, old.id AS old")
    new, old = (RunRecord(record, run).log("log").id for run in (answer["kept"], first))
    assert found == [{"new": new, "old": old}]


def test_refusals_of_a_correction_are_one_line(whence: Whence) -> None:
    for arguments, words in (
        (("--set", "log@3.actoin=pay"), "try action (did you mean that?)"),
        (("--set", "log@99.action=pay"), "expected a position, 0 to 5; got 99"),
        (("--from", "nowhere.txt"), "got nowhere.txt"),
    ):
        said = whence("what-if", "latest", *arguments, code=1)
        assert words in said
        assert said.count("\n") == 1
    assert "expected a correction" in whence("what-if", "latest", code=2)
    rows = whence("what-if", "latest", "--set", "3.action=approve", "--csv").splitlines()
    assert rows[:2] == ["output,position,how,before,after", "per-case,3,changed,false,true"]

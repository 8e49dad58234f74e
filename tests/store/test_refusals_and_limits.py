"""Whatever is asked wrongly is one clear line, and no answer is cut without saying so."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.examples import lifecycle
from tests.store.test_asking_from_the_command_line import Whence, record, whence
from whence.engine import Chain, Slice
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.store import Connection

pytestmark = pytest.mark.neo4j

__all__ = ["record", "whence"]

ASKED = {
    "explain": ("explain", "RUN", "0"),
    "explain by value": ("explain", "RUN", "--where", "verdict = true"),
    "never-matters": ("never-matters", "RUN"),
    "never-matters by field": ("never-matters", "RUN", "--by", "field"),
    "impact": ("impact", "RUN", "--inputs", "0"),
    "contribution": ("contribution", "RUN"),
    "responsibility": ("contribution", "RUN", "--output", "0"),
    "compare": ("compare", "RUN", "latest"),
    "compare with": ("compare", "latest", "RUN"),
    "trace": ("trace", "log@0", "--run", "RUN"),
}
PROMISES = [name for name in ASKED if name.split()[0] in ("never-matters", "impact", "compare")]
PROMISES.append("contribution")
"""They need the whole run."""


def _asked(name: str, run: str) -> list[str]:
    return [run if word == "RUN" else word for word in ASKED[name]]


def _one_line(said: str) -> str:
    assert said.count("\n") == 1, said
    assert all(words in said for words in ("expected", "; got", "; try")), said
    return said


def _another_run(root: Path, options: RunOptions) -> RunRecord:
    log = ingest(root, "log", [{"case": "A", "action": "create"}] * 5, chunk=options.chunk)
    chain = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
    return run_recorded(root, chain, {"log": log}, options)


def test_every_question_refuses_in_one_line(
    whence: Whence, graph: Connection, record: Path
) -> None:
    latest = RunRecord(record, "latest").id
    whence("load", latest)
    for name in ASKED:
        said = _one_line(whence(*_asked(name, "nobody"), code=1))
        assert "expected one that is in the graph; got 'nobody'" in said
    assert "got 'nobody'" in _one_line(whence("search", "nobody", "--value", "true", code=1))
    assert "got 'nobody'" in _one_line(whence("what-if", "nobody", "--set", "log@1.case=A", code=1))
    untracked = _another_run(record, RunOptions(tracked=False))
    whence("load", untracked.id)
    for name in ASKED:
        said = _one_line(whence(*_asked(name, untracked.id), code=1))
        assert "expected a tracked" in said, name
    half = _another_run(record, RunOptions(chunk=2))
    whence("load", half.id)
    graph.write("MATCH (c:Chunk {id: $id}) DELETE c", id=f"run/{half.id}/per-case/2")
    graph.write("MATCH (r:Run {id: $id}) SET r.loaded = false", id=half.id)
    for name in PROMISES:
        said = _one_line(whence(*_asked(name, half.id), code=1))
        assert f"got 4 of 5 outputs of per-case; try whence load {half.id}" in said, name


WRONG = [
    (("explain", "RUN", "6"), "expected a position, 0 to 5; got 6"),
    (("contribution", "RUN", "--output", "6"), "expected a position, 0 to 5; got 6"),
    (("trace", "log@6", "--run", "RUN"), "0 to 5; got 6"),
    (("explain", "RUN", "--where", "verdit = false"), "got 'verdit'; try verdict"),
    (("explain", "RUN", "--where", "verdict = "), "expected"),
    (("explain", "RUN", "--case", "Z"), "got none by --case 'Z'"),
    (("impact", "RUN", "--case", "Z"), "got none by --case 'Z'"),
    (("impact", "RUN", "--activity", "Z"), "got none by --activity 'Z'"),
    (("impact", "RUN", "--filter", "acton = 'pay'"), "got 'acton'; try"),
    (("impact", "RUN", "--filter", "action = "), "expected"),
    (("impact", "RUN", "--since", "2026-03-01"), "expected a log whose time is mapped"),
    (("search", "RUN", "--case", "Z"), "got none by --case 'Z'"),
    (("ask", "MATCH (n) DELETE n"), "got one that writes"),
]


def test_what_is_not_there_or_mistyped_is_one_line(whence: Whence, record: Path) -> None:
    run = RunRecord(record, "latest").id
    whence("load", run)
    for arguments, words in WRONG:
        said = whence(*(run if word == "RUN" else word for word in arguments), code=1)
        assert words in _one_line(said), arguments
    said = whence("never-matters", run, "--by", "time", code=1)
    assert "expected by case, activity or field" in _one_line(said)
    for usage in (("search", run), ("impact", run)):
        assert "Usage" in whence(*usage, code=2)


CUT: list[tuple[tuple[str, ...], str]] = [
    (("explain", "RUN", "3", "--limit", "1"), "… 1 more"),
    (("explain", "RUN", "--where", "verdict = false"), "--first"),
    (("never-matters", "RUN", "--list", "--limit", "1"), "1 more"),
    (("never-matters", "RUN", "--by", "field", "--limit", "1"), "more"),
    (("contribution", "RUN", "--limit", "1"), "more"),
    (("contribution", "RUN", "--output", "3", "--limit", "1"), "more"),
    (("search", "RUN", "--case", "A", "--limit", "1"), "more"),
    (("search", "RUN", "--value", "false", "--limit", "1"), "more"),
    (("ask", "MATCH (e:Input) RETURN e.key", "--limit", "1"), "more"),
    (("what-if", "RUN", "--set", "log@3.action=approve", "--limit", "1"), "2 more"),
]


def test_what_is_cut_says_so_and_how_to_get_the_rest(whence: Whence, record: Path) -> None:
    run = RunRecord(record, "latest").id
    whence("load", run)
    for arguments, words in CUT:
        shown = whence(*(run if word == "RUN" else word for word in arguments))
        last = "\n".join(shown.splitlines()[-4:])
        assert words in last, (arguments, shown)
        assert "--limit" in last or "--first" in last or "all:" in last, (arguments, shown)
    whole: dict[str, Any] = json.loads(whence("explain", run, "3", "--limit", "1", "--json"))
    assert (whole["count"], len(whole["events"])) == (2, 1)
    rows = list(csv.DictReader(io.StringIO(whence("explain", run, "3", "--csv"))))
    assert len(rows) == 2

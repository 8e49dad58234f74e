"""A chunk that is too much for one transaction comes in pieces: the same graph, each piece once."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from tests.store._support.chains_that_choose import choosing_case
from tests.store._support.runs_in_neo4j import keep, record_of, some_value
from tests.store.loading._support.whole_graph import whole_graph
from whence.engine import Chain, Cumulate, Window
from whence.engine.errors import StoreError
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.care import check
from whence.store.care.removing import remove_from_graph, sweep
from whence.store.loading import load, loader, pieces
from whence.store.loading.chunks import write_chunk
from whence.store.loading.content import ChunkContent
from whence.store.questions import explain

pytestmark = pytest.mark.neo4j

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
Graph = tuple[list[str], list[str]]


class Stopped(StoreError):
    """Raised before a piece is written."""


def without_markers(graph: Connection) -> Graph:
    nodes, edges = whole_graph(graph)
    return [node for node in nodes if not node.startswith('[["Chunk"]')], edges


def markers(graph: Connection) -> int:
    return int(graph.read("MATCH (c:Chunk) RETURN count(c) AS n")[0]["n"])


def loaded(graph: Connection, root: Path, run: str) -> Graph:
    graph.write("MATCH (n) DETACH DELETE n")
    assert load(root, run, graph).complete
    assert check(graph, root).findings == ()
    return without_markers(graph)


@pytest.mark.parametrize("selected", [False, True])
@pytest.mark.parametrize("seed", range(60 if FULL else 8))
def test_the_graph_is_the_same_in_pieces(
    graph: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    selected: bool,
) -> None:
    case = random_case(seed)
    options = RunOptions(detail="steps" if seed % 2 else "ends", closed=case.closed, chunk=100)
    with refusals_skipped():
        run = record_of(tmp_path, case.chain(), case.logs, options)
    if selected:
        where = some_value(run)
        if where is None:
            pytest.skip("no output to select")
        run = record_of(tmp_path, case.chain(), case.logs, replace(options, where=where))
    whole = loaded(graph, tmp_path, run.id)
    monkeypatch.setattr(pieces, "RECORDS_AT_ONCE", 3)
    assert loaded(graph, tmp_path, run.id) == whole
    assert load(tmp_path, run.id, graph).written == 0
    remove_from_graph(graph, run.id)
    sweep(graph)
    assert without_markers(graph)[1] == []
    assert graph.read("MATCH (n:Event) RETURN count(n) AS n") == [{"n": 0}]


@pytest.mark.parametrize("number", range(20 if FULL else 3))
def test_answers_over_alternatives_are_the_same_in_pieces(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(pieces, "RECORDS_AT_ONCE", 4)
    case, _ = choosing_case(number)
    options = RunOptions(detail="steps", witnesses="all", closed=case.closed, chunk=100)
    kept = keep(graph, tmp_path, case.chain(), case.logs, options)
    kept.check_explain()
    kept.check_never_matters()
    assert check(graph, tmp_path).findings == ()


def test_whoever_is_stopped_between_pieces_goes_on_with_the_next(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = Chain.of(Window("wide", n=5, of=Cumulate("sum", "add")))
    run = record_of(tmp_path, chain, {"log": [1] * 40}, RunOptions(chunk=100))
    whole = loaded(graph, tmp_path, run.id)
    monkeypatch.setattr(pieces, "RECORDS_AT_ONCE", 12)
    in_all = loaded(graph, tmp_path, run.id) and markers(graph)
    assert in_all > 6
    graph.write("MATCH (n) DETACH DELETE n")
    written: list[str] = []

    def some_only(connection: Connection, id: str, content: ChunkContent) -> bool:
        if id not in written and len(written) % 3 == 2:
            written.append(id)  # the next time it is let through
            raise Stopped(id)
        fresh = write_chunk(connection, id, content)
        if fresh:
            written.append(id)
        return fresh

    monkeypatch.setattr(loader, "write_chunk", some_only)
    stops, report = 0, None
    while report is None:
        try:
            report = load(tmp_path, run.id, graph)
        except Stopped:
            stops += 1
        known = ("missing", "half") if report is None else ("missing",)  # it is not whole yet
        findings = [each for each in check(graph, tmp_path).findings if each.kind not in known]
        assert findings == []
        there = graph.read("MATCH (e:Output) RETURN collect(e.key % 2^40) AS at")[0]["at"]
        # Whatever is there can be explained, and nothing of it is lacking.
        assert all(explain(graph, run.id, str(int(at))).count == 5 for at in there[::7])
    assert stops > 2
    assert report.complete
    assert without_markers(graph) == whole
    assert markers(graph) == in_all


def test_pieces_keep_to_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "RECORDS_AT_ONCE", 10)
    one = 1 << 40
    content = ChunkContent(
        "outputs",
        [{"key": one + at} for at in range(12)],
        derived=[{"key": one + at, "to": [1, 2, 3], "with": {}} for at in range(12)],
    )
    cut = dict(pieces.with_ids("run/r/p/0", content))
    assert list(cut) == [*(f"run/r/p/0/pieces/{n}" for n in range(5)), "run/r/p/0"]
    assert [len(each.events) + each.edges for each in cut.values()] == [8] * 6
    assert {pieces.without_piece(id) for id in cut} == {"run/r/p/0"}


def test_what_leads_around_stays_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "RECORDS_AT_ONCE", 4)
    one = 1 << 40
    # Each of the first six leads to the next one; the last four stand alone.
    derived = [{"key": one + at, "to": [one + at + 1], "with": {}} for at in range(5)]
    content = ChunkContent("events", [{"key": one + at} for at in range(10)], derived=derived)
    cut = [each for _, each in pieces.with_ids("run/r/p/0", content)]
    assert [len(each.events) for each in cut] == [6, 4]


def test_the_events_of_a_log_are_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "INPUTS_AT_ONCE", 4)
    content = ChunkContent("inputs", [{"key": key} for key in range(10)])
    cut = dict(pieces.with_ids("log/l/0", content))
    assert list(cut) == ["log/l/0/pieces/0", "log/l/0/pieces/1", "log/l/0"]
    assert [key for each in cut.values() for key in each.keys] == list(range(10))
    assert {each.label for each in cut.values()} == {"inputs"}

"""An old graph is brought up to date, a newer one is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.examples import lifecycle
from tests.store._support.runs_in_neo4j import record_of
from tests.store.loading._support.whole_graph import whole_graph
from whence.engine import ApplyFunction, Chain, Cumulate, Filter, Slice, Window
from whence.engine.errors import StoreError
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.care import check
from whence.store.catalog import find_run
from whence.store.loading import load
from whence.store.loading.register import prepare_schema
from whence.store.migrations import VERSION, graph_version
from whence.store.questions import impact, never_matters
from whence.store.verbs import PackedChunks

pytestmark = pytest.mark.neo4j

AS_IN = {
    1: (
        "MATCH (c:Chunk) REMOVE c.owns, c.heads, c.packed, c.bounds "
        "SET c.digest = 'sha256:of another kind'",
        "MATCH (s:Schema) DELETE s",  # it did not say which it was
    ),
    2: (
        "MATCH (c:Chunk) REMOVE c.packed, c.bounds",
        "MATCH (s:Schema) SET s.version = 2",
    ),
}
"""What makes the graph of each older version from one of today."""
HEADS_PACKED = "MATCH (c:Chunk) WHERE c.id CONTAINS '/heads/' SET c.packed = null, c.bounds = null"
"""A head that goes on is told of where it ends as well while loading, afterwards only once."""


@pytest.mark.parametrize("version", range(1, VERSION))
def test_every_older_version_is_brought_up_to_date(
    graph: Connection, tmp_path: Path, version: int
) -> None:
    events = [
        {"case": n % 5, "action": a, "x": n % 2, "y": n % 3} for a in "cap" for n in range(12)
    ]
    slices = Slice("per-case", by="case", of=lifecycle(), combine="and")
    filtered = Chain.graph(
        ["log"],
        [(ApplyFunction("odd", "x = 1"), ["log"]), (Filter("only"), ["log", "odd"])],
    )
    every = RunOptions(witnesses="all", detail="steps", chunk=5)
    either = Chain.of(ApplyFunction("either", "x = 0 or y = 0"))
    runs = [
        record_of(tmp_path, Chain.of(slices), {"log": events}, RunOptions(chunk=5)),
        record_of(tmp_path, filtered, {"log": events}, RunOptions(chunk=5)),
        record_of(tmp_path, either, {"log": events}, every),
        record_of(
            tmp_path,
            Chain.of(Window("wide", n=20, of=Cumulate("sum", "add"))),
            {"log": list(range(40))},
            RunOptions(chunk=25),
        ),
    ]
    for run in runs:
        load(tmp_path, run.id, graph)
    assert graph_version(graph) == VERSION
    answers = [_answers(graph, run.id) for run in runs]
    graph.write(HEADS_PACKED)
    before = whole_graph(graph)
    for statement in AS_IN[version]:
        graph.write(statement)
    assert graph_version(graph) == version
    old = [str(finding) for finding in check(graph, tmp_path).findings]
    assert f"version graph: expected {VERSION}; got {version}; try whence load" in old
    assert [_answers(graph, run.id) for run in runs] == answers  # read from the edges themselves
    load(tmp_path, runs[0].id, graph)
    assert graph_version(graph) == VERSION
    assert check(graph, tmp_path).findings == ()
    assert all(PackedChunks(graph, find_run(graph, run.id)).whole for run in runs)
    assert [_answers(graph, run.id) for run in runs] == answers
    graph.write(HEADS_PACKED)
    assert whole_graph(graph) == before


def _answers(graph: Connection, run: str) -> list[object]:
    never = never_matters(graph, run)
    touched = impact(graph, run, {"log": [(3, 30)]})
    return [never.certain, never.softer, touched.unaffected, touched.explained]


def test_a_newer_graph_is_refused(graph: Connection) -> None:
    assert graph_version(graph) is None
    prepare_schema(graph)
    assert graph_version(graph) == VERSION
    graph.write("MATCH (s:Schema) SET s.version = 99")
    with pytest.raises(StoreError, match=f"expected version {VERSION} or an older one; got 99"):
        prepare_schema(graph)

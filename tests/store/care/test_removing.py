"""Runs leave the graph: with their events, without what others need, also if interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.examples import lifecycle
from tests.store._support.runs_in_neo4j import record_of
from whence.api import run
from whence.engine import ApplyFunction, Chain, Slice
from whence.engine.errors import StoreError
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.care import check
from whence.store.care.removing import is_stored, remove_from_graph, sweep
from whence.store.loading import load

pytestmark = pytest.mark.neo4j

ACTIONS = ("create", "approve", "pay", "pay")
EVENTS = [{"case": n % 7, "action": a} for a in ACTIONS for n in range(10)]
LIFECYCLE = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
PAID = Chain.of(ApplyFunction("paid", "action = 'pay'"))
LABELS = "MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label ORDER BY label"


def count(graph: Connection, label: str) -> int:
    return int(graph.read(f"MATCH (n:{label}) RETURN count(n) AS n")[0]["n"])


def test_a_run_goes_and_a_shared_log_stays(graph: Connection, tmp_path: Path) -> None:
    first = record_of(tmp_path, LIFECYCLE, {"log": EVENTS}, RunOptions(chunk=9))
    second = record_of(tmp_path, PAID, {"log": EVENTS}, RunOptions(chunk=9))
    for each in (first, second):
        load(tmp_path, each.id, graph)
    removed = remove_from_graph(graph, first.id)
    assert removed.logs == ()
    assert removed.kept == (first.manifest.logs["log"],)
    assert not is_stored(graph, first.id)
    # Killed here: what is left is told of, and whoever comes next goes on.
    assert any("removal that was interrupted" in str(f) for f in check(graph, tmp_path).findings)
    assert sweep(graph) > 0
    assert sweep(graph) == 0
    assert check(graph, tmp_path).findings == ()
    assert (count(graph, "Input"), count(graph, "Output")) == (len(EVENTS), len(EVENTS))
    assert (count(graph, "Chain"), count(graph, "Processor")) == (1, 1)
    assert load(tmp_path, first.id, graph).complete  # as if it had never been there
    assert check(graph, tmp_path).findings == ()
    for each in (first, second):
        logs = remove_from_graph(graph, each.id).logs
    assert logs == removed.kept  # nobody reads it any more
    sweep(graph)
    assert [row["label"] for row in graph.read(LABELS)] == ["Counter", "Schema"]
    with pytest.raises(StoreError, match="expected one that is in the graph; got"):
        remove_from_graph(graph, first.id)


def test_what_another_run_reads_is_not_removed(graph: Connection, tmp_path: Path) -> None:
    first = run(PAID, EVENTS, runner="interpreter", record=tmp_path)
    not_paid = Chain.of(ApplyFunction("not", "not value"))
    second = run(not_paid, f"run:{first.id}", runner="interpreter", record=tmp_path)
    load(tmp_path, second.id, graph)
    with pytest.raises(StoreError, match=f"expected no other run that reads .*; got {second.id}"):
        remove_from_graph(graph, first.id)
    assert check(graph, tmp_path).findings == ()
    for each in (second, first):
        remove_from_graph(graph, each.id)
    sweep(graph)
    assert count(graph, "Event") == 0

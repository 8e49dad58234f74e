"""Edges to events close together: the same graph as when each of these events is sought."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from tests.store.loading._support.whole_graph import whole_graph
from whence.engine import ApplyFunction, Chain, Cumulate, Window
from whence.engine.formula import formula
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.store import Connection
from whence.store.care import check
from whence.store.cypher import cypher
from whence.store.loading import chunks, load, near
from whence.store.loading.chunks import write_chunk
from whence.store.loading.content import ChunkContent
from whence.store.loading.near import near_edges
from whence.store.loading.register import prepare_schema

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
FIELDS: dict[str, Any] = {"fields": ["a"]}
OTHERS: dict[str, Any] = {"fields": ["b"], "trigger": True}


def content(*rows: tuple[int, range | list[int], dict[str, Any]], events: int = 4) -> ChunkContent:
    found = [{"key": 100 + n, "moment": n, "value": True} for n in range(events)]
    derived = [{"key": key, "to": to, "with": told} for key, to, told in rows]
    return ChunkContent("outputs", found, derived=derived)


def names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the statements that are looked up from now on."""
    looked_up: list[str] = []

    def told(name: str) -> str:
        looked_up.append(name)
        return cypher(name)

    monkeypatch.setattr(chunks, "cypher", told)
    return looked_up


def test_most_of_one_kind_come_first_and_what_lies_apart_is_left() -> None:
    some = content(
        (100, range(3), FIELDS),
        (101, range(1, 4), FIELDS),
        (102, range(2, 5), dict(FIELDS)),
        (102, range(4, 5), OTHERS),
        (103, range(3, 5), OTHERS),
        (103, [7], FIELDS),
    )
    (most, fewer), left = near_edges(some)
    assert (most.told, most.edges, sorted(most.to)) == (FIELDS, 9, [100, 101, 102])
    assert (fewer.told, fewer.edges) == (OTHERS, 3)
    assert [row["to"] for row in left] == [[7]]
    rows, edges, more = most.rows([100, 101, 103])
    assert rows == [(0, 2), (1, 3), (0, -1)]
    assert (edges, more) == (6, {"lo": 0, "hi": 3, "told": FIELDS})


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([(100, range(3), FIELDS), (101, range(5000, 5003), FIELDS)], "far apart"),
        ([(100, [0, 1], FIELDS), (101, [2], FIELDS), (102, range(2), FIELDS)], "mostly lists"),
        ([(101, range(100, 101), FIELDS)], "to an event of the chunk itself"),
        ([(200, range(3), FIELDS)], "from an event elsewhere"),
        ([], "none"),
    ],
)
def test_all_are_sought_one_by_one_where_they_lead(rows: list[Any], why: str) -> None:
    some = content(*rows)
    assert near_edges(some) == ([], some.derived), why


def test_several_of_a_kind_from_one_event_are_all_there() -> None:
    some = content((100, range(3), FIELDS), (100, range(4, 5), FIELDS), (101, range(6), FIELDS))
    (most,), left = near_edges(some)
    assert most.edges == 9
    assert [row["to"] for row in left] == [range(4, 5)]


@pytest.mark.neo4j
def test_a_range_that_is_not_whole_is_sought_event_by_event(
    graph: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_schema(graph)
    graph.write("UNWIND [0, 1, 3, 4] AS key CREATE (:Event:Input {key: key})")
    some = content(
        (100, range(2), FIELDS), (101, range(3, 5), FIELDS), (102, range(1, 2), OTHERS), events=5
    )
    run = names(monkeypatch)
    assert write_chunk(graph, "run/x/total/0", some)
    assert "write_outputs_near" in run
    assert "write_outputs" in run
    assert not write_chunk(graph, "run/x/total/0", some)
    found = graph.read(
        "MATCH (o:Output) OPTIONAL MATCH (o)-[r:wasDerivedFrom]->(i) "
        "RETURN o.key AS o, i.key AS i, properties(r) AS r ORDER BY o, i"
    )
    edges = [(row["o"], row["i"], row["r"]) for row in found]
    assert edges == [
        (100, 0, FIELDS),
        (100, 1, FIELDS),
        (101, 3, FIELDS),
        (101, 4, FIELDS),
        (102, 1, OTHERS),
        (103, None, None),
        (104, None, None),
    ]


def both_ways(
    graph: Connection, run: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], list[str]]:
    """Load a run with and without; the names of the statements of both."""
    told: list[list[str]] = []
    graphs = []
    for most in (near.MOST_OF, 2.0):  # more than all edges never lie close together
        graph.write("MATCH (n) DETACH DELETE n")
        with monkeypatch.context() as some:
            some.setattr(near, "MOST_OF", most)
            some.setattr(chunks, "ROWS", 5)
            told.append(names(some))
            assert load(run.root, run.id, graph).complete
        assert check(graph, run.root).findings == ()
        graphs.append(whole_graph(graph))
    assert graphs[0] == graphs[1]
    assert not any(name.endswith("_near") for name in told[1])
    return told[0], told[1]


@pytest.mark.neo4j
@pytest.mark.parametrize("chunk", [7, 100])
def test_a_window_and_a_formula_are_written_so(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    sums = ApplyFunction("of", "value") | Window("sums", n=3, of=Cumulate("sum", "add"))
    rule = Chain.of(formula("G(negative -> X(a and X a))"))
    events = [{"value": n % 5 - 1, "negative": n % 3 == 0, "a": n % 7 > 0} for n in range(60)]
    for chain, wanted in (
        (sums, {"write_outputs_near"}),
        (rule, {"write_outputs_near", "write_derived_near"}),
    ):
        log = ingest(tmp_path, "log", events, chunk=chunk)
        run = run_kernels(tmp_path, chain, {"log": log}, RunOptions(chunk=chunk))
        with_near, _ = both_ways(graph, run, monkeypatch)
        assert wanted <= set(with_near)


@pytest.mark.neo4j
@pytest.mark.parametrize("seed", range(700, 780 if FULL else 706))
def test_the_graph_of_a_random_chain_is_the_same(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    case = random_case(seed)
    options = RunOptions(detail="steps" if seed % 2 else "ends", closed=case.closed, chunk=6)
    with refusals_skipped():
        chain = case.chain()
        kept = {name: ingest(tmp_path, name, case.logs[name], chunk=6) for name in chain.inputs}
        run = run_kernels(tmp_path, chain, kept, options, batch=7)
    both_ways(graph, run, monkeypatch)

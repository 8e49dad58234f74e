"""``whence store check``: clean after any load, and no harm goes unseen."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

import pytest

from tests.engine.examples import lifecycle
from tests.engine.random_chains import random_case, refusals_skipped
from tests.store._support.runs_in_neo4j import record_of
from whence.engine import Chain, Cumulate, Slice, Window
from whence.engine.record import ingest
from whence.engine.record.writing import LOADING, WritingLock
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.store import Connection
from whence.store.care import check
from whence.store.loading import load
from whence.store.loading.register import prepare_schema

pytestmark = pytest.mark.neo4j

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
ACTIONS = ("create", "approve", "pay", "pay")
EVENTS = [{"case": n % 7, "action": a, "x": n} for a in ACTIONS for n in range(20)]
LIFECYCLE = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
SUM = Chain.of(Cumulate("sum", "add"))
SEEDS = range(700, 760) if FULL else range(700, 704)
WIDE = Chain.of(Window("wide", n=20, of=Cumulate("sum", "add")))


@pytest.fixture
def whole(graph: Connection, tmp_path: Path) -> Connection:
    """A graph with literal edges, spans and heads."""
    for run in (
        record_of(tmp_path, LIFECYCLE, {"log": EVENTS}, RunOptions(chunk=9)),
        record_of(tmp_path, WIDE, {"log": list(range(60))}, RunOptions(chunk=25)),
    ):
        load(tmp_path, run.id, graph)
    report = check(graph, tmp_path)
    assert report.findings == ()
    assert report.without_record == ()
    assert report.chunks > 20
    assert report.events == graph.read("MATCH (e:Event) RETURN count(e) AS n")[0]["n"]
    edges = "MATCH ()-[r:wasDerivedFrom|wasInfluencedBy]->() RETURN count(r) AS n"
    assert report.edges == graph.read(edges)[0]["n"]
    return graph


FIRST_EDGE = "MATCH (:Output)-[r:wasDerivedFrom]->() WITH r ORDER BY startNode(r).key LIMIT 1 "
INNER = """
MATCH (s:Stream {name: 'per-case/order'})
MATCH (o:Event)-[r:wasDerivedFrom]->(e:Input)
WHERE o.key >= (s.no * 1099511627776) + $part * 9 * s.w
WITH o, r, e ORDER BY o.key LIMIT 1
"""
"""An edge of the first event of a part of the stream inside the Slice."""
CHUNK = r"chunk run/\S+/per-case/order/"
HARM = {
    "an event is gone": (
        "MATCH (e:Input) WITH e ORDER BY e.key LIMIT 1 DETACH DELETE e",
        r"chunk log/\w+/0: expected 9 events; got 8",
    ),
    "an edge is gone": (INNER + "DELETE r", CHUNK + r"1: expected (\d+) relationships; got \d+"),
    "an edge is there twice": (
        INNER + "CREATE (o)-[s:wasDerivedFrom]->(e) SET s = properties(r)",
        CHUNK + r"2: expected (\d+) relationships; got \d+",
    ),
    "an edge leads elsewhere": (
        INNER + "MATCH (other:Input {key: e.key - 1}) "
        "CREATE (o)-[s:wasDerivedFrom]->(other) SET s = properties(r) DELETE r",
        CHUNK + "3: expected the digest of its marker; got another one",
    ),
    "an edge says something else": (
        INNER + "SET r.fields = ['other']",
        CHUNK + "4: expected the digest of its marker; got another one",
    ),
    "a band is another": (
        "MATCH (s:Span)-[r:wasDerivedFrom]->(c:Log) WHERE s.lo < 25 "
        "WITH r LIMIT 1 SET r.a = r.a + 1",
        r"chunk run/\S+/wide/0: expected the digest of its marker; got another one",
    ),
    "a span is gone": (
        "MATCH (s:Span)-[:wasDerivedFrom]->(c:Log) WHERE s.lo >= 25 WITH s LIMIT 1 DETACH DELETE s",
        r"chunk run/\S+/wide/1: expected \d+ spans; got \d+",
    ),
    "a head ends elsewhere": (
        "MATCH (s:Event:Span) WHERE s.hi IS NOT NULL WITH s LIMIT 1 SET s.hi = s.hi + 1",
        r"heads \S+/per-case/heads: expected \d+ heads; got 2 not so, and 1 others",
    ),
    "a head is none any more": (
        "MATCH (s:Event:Span) WHERE s.hi IS NULL WITH s LIMIT 1 REMOVE s:Span",
        r"heads \S+/per-case/heads: expected \d+ heads; got 2 not so, and 1 others",
    ),
    "packed edges say something else": (
        "MATCH (c:Chunk) WHERE c.id ENDS WITH '/per-case/order/5' "
        "MATCH (d:Chunk) WHERE d.id ENDS WITH '/per-case/order/6' "
        "SET c.packed = d.packed, c.bounds = d.bounds",
        r"packed run/\S+/per-case/order/5: expected its edges packed as they are; got others",
    ),
    "packed edges are said to lead elsewhere": (
        "MATCH (c:Chunk) WHERE c.id ENDS WITH '/per-case/order/7' SET c.bounds = c.bounds[..6]",
        r"packed run/\S+/per-case/order/7: expected the bounds of its packed edges; got others",
    ),
    "packed edges are gone": (
        "MATCH (c:Chunk) WHERE c.id ENDS WITH '/per-case/order/8' REMOVE c.packed, c.bounds",
        r"packed run/\S+/per-case/order/8: expected its edges packed; got none; try whence load",
    ),
    "a stray event": (
        "CREATE (:Event {key: 99 * 1099511627776 + 5})",
        r"orphan keys \d+ to \d+: expected a chunk that owns them; got 1 events",
    ),
    "a stray span": (
        "CREATE (:Span {no: 99, lo: 1, hi: 2})",
        r"orphan number 99: expected a stream of that number; got 1 spans",
    ),
    "a stray span of a stream": (
        "MATCH (s:Stream {name: 'wide'}) CREATE (:Span {no: s.no, lo: 1000, hi: 1001})",
        r"orphan number \d+: expected \d+ spans, those of its chunks; got \d+",
    ),
    "a marker is gone": (
        "MATCH (c:Chunk) WHERE c.id ENDS WITH '/per-case/6' DELETE c",
        r"missing run/\S+/per-case/6: expected its chunk, since its run is loaded; got none",
    ),
    "a marker too many": (
        "CREATE (:Chunk {id: 'run/none/x/0', events: 0, spans: 0, edges: 0, digest: ''})",
        r"orphan run/none/x/0: expected its run in the graph; got none",
    ),
    "a log that nobody reads": (
        "CREATE (:Collection:Log {id: 'nobody', no: 98})",
        r"orphan log nobody: expected a run that reads it; got none",
    ),
    "the counter was set back": (
        "MATCH (c:Counter) SET c.last = 1",
        r"counter no: expected numbers up to 1; got 98 in use",
    ),
    "an index is gone": (
        "DROP INDEX span_place",
        r"index span_place: expected this index; got none; try whence load",
    ),
    "a constraint is gone": (
        "DROP CONSTRAINT end_key",
        r"index end_key: expected this constraint; got none; try whence load",
    ),
}
"""What is done to a graph that is whole, each at a place of its own, and the line that tells."""


def test_no_harm_goes_unseen(whole: Connection, tmp_path: Path) -> None:
    parts = iter(range(1, 5))
    for name, (statement, _) in HARM.items():
        part = {"part": next(parts)} if "$part" in statement else {}
        drop = statement.startswith("DROP")
        done = whole.write(statement + ("" if drop else " RETURN 1 AS done"), **part)
        assert drop or done, name
    lines = [str(finding) for finding in check(whole, tmp_path).findings]
    unseen = [n for n, (_, line) in HARM.items() if not any(re.fullmatch(line, x) for x in lines)]
    assert unseen == [], lines
    prepare_schema(whole)
    assert not any(f.kind == "index" for f in check(whole, tmp_path).findings)


def test_heads_that_are_packed_otherwise_are_seen(whole: Connection, tmp_path: Path) -> None:
    whole.write(
        "MATCH (c:Chunk) WHERE c.id CONTAINS '/per-case/heads/' WITH c ORDER BY c.id LIMIT 1 "
        "SET c.packed = null, c.bounds = null"
    )
    lines = [str(finding) for finding in check(whole, tmp_path).findings]
    told = r"packed number \d+: expected \d+ heads as they are packed; got others"
    assert [line for line in lines if re.fullmatch(told, line)], lines


def test_without_its_record_a_run_is_checked_but_for_its_heads(
    whole: Connection, tmp_path: Path
) -> None:
    report = check(whole, tmp_path / "elsewhere")
    assert report.findings == ()
    assert len(report.without_record) == 2
    whole.write(FIRST_EDGE + "DELETE r")
    assert [f.kind for f in check(whole, tmp_path / "elsewhere").findings] == ["chunk"]


def test_a_run_that_is_half_loaded_is_named(graph: Connection, tmp_path: Path) -> None:
    run = record_of(tmp_path, SUM, {"log": [1, 2, 3]}, RunOptions())
    load(tmp_path, run.id, graph)
    graph.write("MATCH (r:Run) SET r.loaded = false")
    every = len(graph.read("MATCH (c:Chunk) RETURN c.id AS id"))
    (end,) = check(graph, tmp_path).findings
    assert str(end) == (
        f"half {run.id}: expected the {every} chunks of its record; got all of them, but not "
        f"their end; try whence load {run.id}"
    )
    graph.write("MATCH (e:Output) DETACH DELETE e")
    graph.write("MATCH (c:Chunk) WHERE c.id STARTS WITH 'run/' DELETE c")
    graph.write("MATCH (s:Span) DETACH DELETE s")
    (half,) = check(graph, tmp_path).findings
    assert (half.kind, half.about) == ("half", run.id)
    assert "got 1 of them; try whence load" in half.problem
    (elsewhere,) = check(graph, tmp_path / "elsewhere").findings
    assert str(elsewhere) == (
        f"half {run.id}: expected all chunks of a run that is complete; got 0, not the last; "
        f"try whence load {run.id} where its record is"
    )
    lock = WritingLock(run.folder, name=LOADING)
    assert check(graph, tmp_path).findings == ()  # this process is loading it
    lock.leave()
    assert check(graph, tmp_path).findings == (half,)
    assert load(tmp_path, run.id, graph).complete
    assert check(graph, tmp_path).findings == ()
    assert not (run.folder / LOADING).exists()


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_was_loaded_is_clean(graph: Connection, tmp_path: Path, seed: int) -> None:
    case = random_case(seed, ("slice", "moore") if seed % 2 else ())
    chain = Chain.of(case.chain())
    witnesses: Literal["first", "all"] = "all" if seed % 3 == 0 else "first"
    options = RunOptions(detail="steps", closed=case.closed, chunk=3, witnesses=witnesses)
    with refusals_skipped():
        if witnesses == "all" or seed % 4 == 0:
            run = record_of(tmp_path, chain, case.logs, options)
        else:
            logs = {name: ingest(tmp_path, name, case.logs[name], chunk=3) for name in chain.inputs}
            run = run_kernels(tmp_path, chain, logs, options, batch=7)
    load(tmp_path, run.id, graph)
    assert check(graph, tmp_path).findings == ()
    if graph.read("MATCH (:Event)-[r:wasDerivedFrom]->() RETURN count(r) AS n")[0]["n"]:
        graph.write("MATCH (:Event)-[r:wasDerivedFrom]->() WITH r LIMIT 1 DELETE r")
        assert check(graph, tmp_path).findings != ()

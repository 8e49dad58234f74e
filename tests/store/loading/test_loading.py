"""What loading writes, what it refuses, and what it does while a run goes on."""

from __future__ import annotations

import threading
from concurrent.futures import wait
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase

from tests.engine.examples import lifecycle
from tests.store._support.runs_in_neo4j import record_of
from whence.engine import ApplyFunction, Chain, Cumulate, Slice
from whence.engine.errors import ParameterError, StoreError
from whence.engine.language.chain import Log
from whence.engine.lineage.association import Association
from whence.engine.progress import Progress
from whence.engine.record import RunRecord, ingest
from whence.engine.record.contributions import contributions
from whence.engine.record.files import write_table
from whence.engine.record.manifest import Parts, RunManifest
from whence.engine.record.schema import association_table
from whence.engine.runners import RunOptions, run_recorded
from whence.store import Connection, Secret, Settings
from whence.store.care import check
from whence.store.loading import follow, load
from whence.store.loading.chunks import chunk_id
from whence.store.loading.loader import Loader
from whence.store.loading.parts import RecordParts, parts_listed
from whence.store.loading.priority import PRIORITIES
from whence.store.loading.register import prepare_schema, run_state
from whence.store.loading.values import LONGEST_TEXT, stored_value
from whence.store.places import key_of
from whence.store.questions import contribution, explain, impact, never_matters

pytestmark = pytest.mark.neo4j

LIFECYCLE = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
EVENTS = [{"case": n % 40, "action": a} for a in ("create", "approve", "pay") for n in range(40)]


def test_the_schema_is_made_where_another_loader_left_half_of_it(graph: Connection) -> None:
    prepare_schema(graph)
    graph.write("DROP CONSTRAINT event_key")
    faults: list[BaseException] = []

    def prepare() -> None:
        try:
            prepare_schema(graph)
        except BaseException as fault:
            faults.append(fault)

    # What is there for a moment when another loader is killed in the middle of a constraint.
    graph.write("CREATE INDEX event_key FOR (e:Event) ON (e.key)")
    loader = threading.Thread(target=prepare)
    loader.start()
    loader.join(timeout=1)
    assert loader.is_alive()
    graph.write("DROP INDEX event_key")
    loader.join()
    assert faults == []
    assert "event_key" in {row["name"] for row in graph.read("SHOW CONSTRAINTS YIELD name")}


def test_events_carry_key_value_moment_and_columns_for_searching(
    graph: Connection, tmp_path: Path
) -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    long = "é" * LONGEST_TEXT
    events = [{"who": "ann", "did": long, "when": at, "secret": 7}]
    declared = Log(None, case="who", activity="did", time="when")
    log = ingest(tmp_path, "log", events, declared=declared)
    chain = Chain.of(ApplyFunction("big", "secret > 5"))
    run = run_recorded(tmp_path, chain, {"log": log}, RunOptions())
    load(tmp_path, run.id, graph)
    (put,) = graph.read("MATCH (e:Input) RETURN properties(e) AS p")
    assert set(put["p"]) == {"key", "case", "activity", "activity_digest", "time"}
    assert put["p"]["case"] == "ann"
    assert put["p"]["time"].to_native() == at
    assert put["p"]["activity"] == long[: LONGEST_TEXT // 2]
    assert put["p"]["activity_digest"].startswith("hmac-sha256:")
    (out,) = graph.read("MATCH (e:Output) RETURN properties(e) AS p")
    assert out["p"] == {"key": key_of(2, 0), "value": True, "moment": 0}
    (event,) = explain(graph, run.id, "0").events
    assert (event.case, event.time, event.fields) == ("ann", at, ("secret",))


def test_values_that_cypher_does_not_know_are_canonical_text() -> None:
    assert stored_value("integer", "3") == {"value": 3}
    assert stored_value("missing", "null") == {"value": "null", "kind": "missing"}
    nan = stored_value("float", '{"float":"NaN"}')
    assert nan == {"value": '{"float":"NaN"}', "kind": "float"}


def test_two_runs_over_one_log_share_its_events(graph: Connection, tmp_path: Path) -> None:
    first = record_of(tmp_path, LIFECYCLE, {"log": EVENTS}, RunOptions(chunk=50))
    second = record_of(
        tmp_path, Chain.of(ApplyFunction("ok", "action = 'pay'")), {"log": EVENTS}, RunOptions()
    )
    for run in (first, second):
        load(tmp_path, run.id, graph)
    assert graph.read("MATCH (e:Input) RETURN count(e) AS n") == [{"n": len(EVENTS)}]
    numbers = [row["no"] for row in graph.read("MATCH (c:Collection) RETURN c.no AS no")]
    assert len(numbers) == len(set(numbers))
    assert min(numbers) == 1
    # What follows from an input in one run is no business of the other.
    touched = impact(graph, first.id, {"log": [(80, 80)]})
    assert [share.output for share in touched.possibly] == ["per-case"]


def test_a_run_is_loaded_while_it_goes_on(graph: Connection, tmp_path: Path) -> None:
    reports = []
    seen: list[tuple[int, str]] = []
    told = threading.Event()
    run_id = "followed"
    log = ingest(tmp_path, "log", EVENTS * 8, chunk=50)

    def tell(event: Progress) -> None:
        seen.append((event.total, event.text))
        told.set()

    def began(record: object) -> None:
        thread.start()
        assert told.wait(60)  # the first share is one of what there is, and not of the run

    def loading() -> None:
        reports.append(follow(tmp_path, run_id, graph, tell, poll=0.01))

    thread = threading.Thread(target=loading)
    run_recorded(
        tmp_path,
        LIFECYCLE,
        {"log": log},
        RunOptions(chunk=50),
        run_id=run_id,
        began=began,
    )
    thread.join(60)
    (report,) = reports
    assert report.complete
    assert load(tmp_path, run_id, graph).written == 0
    assert seen[0][1] == "loading followed, of what is written so far"
    assert (report.parts, "loading followed") in seen
    assert any("counting what the inputs of followed explain" in text for _, text in seen)
    assert seen[-1] == (0, "storing what the inputs of followed explain")


def test_what_a_run_adds_meanwhile_is_taken_up_at_once(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.store.loading.loader.TOGETHER", 600.0)
    log = ingest(tmp_path, "log", EVENTS * 8, chunk=50)
    begun, go_on = threading.Event(), threading.Event()

    def hold(event: Progress) -> None:
        if event.done >= event.total // 2 and not begun.is_set():
            begun.set()
            assert go_on.wait(60)

    def run() -> None:
        options = RunOptions(chunk=50)
        run_recorded(tmp_path, LIFECYCLE, {"log": log}, options, run_id="grows", progress=hold)

    def tell(event: Progress) -> None:
        if event.done:  # something is there, and now there is more to come
            go_on.set()
            runner.join(60)

    runner = threading.Thread(target=run)
    runner.start()
    assert begun.wait(60)
    report = Loader(RunRecord(tmp_path, "grows"), graph, tell).catch_up(PRIORITIES["high"])
    assert report.written > report.parts  # more than there were in the beginning
    assert graph.read("MATCH (e:Output) RETURN count(e) AS n") == [{"n": len(EVENTS) * 8}]
    assert load(tmp_path, "grows", graph).written == 0


def test_a_writer_that_has_nothing_to_do_waits_for_the_others(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = record_of(tmp_path, LIFECYCLE, {"log": EVENTS}, RunOptions())
    waits = 0

    def counted(*given: Any) -> Any:
        nonlocal waits
        waits += 1
        return wait(*given)

    monkeypatch.setattr("whence.store.loading.loader.wait", counted)
    report = load(tmp_path, run.id, graph, writers=10)
    assert report.complete
    assert 0 < waits <= report.written  # each time at least one of them was done


def test_who_is_refused_does_not_wait_for_the_count_which_the_next_attempt_goes_on_with(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = record_of(tmp_path, LIFECYCLE, {"log": EVENTS}, RunOptions())
    go_on = threading.Event()
    begun: list[RunRecord] = []

    def held(record: RunRecord, tell: object) -> Any:
        begun.append(record)
        assert go_on.wait(60)
        return contributions(record)

    def refused(*given: Any) -> bool:
        raise StoreError("no")

    monkeypatch.setattr("whence.store.loading.contributions.contributions", held)
    loader = Loader(run, graph)
    try:
        with monkeypatch.context() as patch:
            patch.setattr("whence.store.loading.loader.write_chunk", refused)
            for _ in range(2):
                with pytest.raises(StoreError, match="no"):
                    loader.catch_up(PRIORITIES["high"])
        assert not go_on.is_set()
    finally:
        go_on.set()
    assert loader.catch_up(PRIORITIES["high"]).complete
    assert begun == [run]
    assert contribution(graph, run.id, record=tmp_path).ranked
    assert loader.catch_up(PRIORITIES["high"]).complete
    assert begun == [run]  # the graph knows them


def test_who_comes_late_does_not_open_a_run_again_that_has_ended(
    graph: Connection, tmp_path: Path
) -> None:
    run = record_of(tmp_path, LIFECYCLE, {"log": EVENTS}, RunOptions())
    load(tmp_path, run.id, graph)
    state = """
    MATCH (r:Run {id: $run}) MATCH (s:Stream {run: $run})
    RETURN properties(r) AS run, s.id AS id, s.length AS length ORDER BY id
    """
    before = graph.read(state, run=run.id)
    assert before[0]["run"]["loaded"]
    assert before[0]["run"]["status"] == "complete"
    streams = tuple(replace(stream, length=1, tracked=1) for stream in run.manifest.streams)
    late = replace(run.manifest, status="interrupted", ended=None, streams=streams)
    run_state(graph, late, [], loaded=False)
    assert graph.read(state, run=run.id) == before
    again = replace(run.manifest, error="known by now")  # who knows it all may say more
    run_state(graph, again, [], loaded=True)
    assert graph.read(state, run=run.id)[0]["run"]["error"] == "known by now"


def test_a_store_that_is_away_does_not_harm_the_run(tmp_path: Path) -> None:
    nowhere = Settings("bolt://127.0.0.1:9", "neo4j", Secret.of("x"))
    # As `open_driver` makes it, but quicker to give up.
    driver = GraphDatabase.driver(nowhere.uri, max_transaction_retry_time=0.1)
    try:
        run = record_of(tmp_path, LIFECYCLE, {"log": EVENTS}, RunOptions())
        with pytest.raises(StoreError, match="expected a Neo4j server"):
            follow(tmp_path, run.id, Connection(nowhere, driver), poll=0.01, patience=0.1)
        assert run.manifest.status == "complete"
    finally:
        driver.close()


def spoil(run_folder: Path, stream: str, rows: list[Association]) -> None:
    path = run_folder / "associations" / stream / "part-00000.parquet"
    write_table(path, association_table(rows))


def test_an_edge_to_nowhere_is_refused_and_nothing_is_written(
    graph: Connection, tmp_path: Path
) -> None:
    chain = Chain.of(Cumulate("sum", "add"))
    run = record_of(tmp_path, chain, {"log": [1, 2, 3]}, RunOptions())
    spoil(run.folder, "sum", [Association("sum", "explains", "list", 0, 0, "log:log", (0, 77))])
    with pytest.raises(StoreError, match=r"expected to write 2 edges of outputs .*; got 1"):
        load(tmp_path, run.id, graph)
    assert graph.read("MATCH (e:Output) RETURN count(e) AS n") == [{"n": 0}]
    assert graph.read("MATCH (c:Chunk) RETURN count(c) AS n") == [{"n": 1}]
    spoil(run.folder, "sum", [Association("sum", "explains", "list", 0, 0, "log:log", (9000,))])
    with pytest.raises(StoreError, match="expected the parts that run/"):
        load(tmp_path, run.id, graph)
    with pytest.raises(StoreError, match="expected all of the run in the graph"):
        never_matters(graph, run.id)


def test_a_zone_outside_a_slice_is_kept_as_a_band(graph: Connection, tmp_path: Path) -> None:
    chain = Chain.of(Cumulate("sum", "add"))
    run = record_of(tmp_path, chain, {"log": [1, 2, 3, 4]}, RunOptions())
    zone = Association("sum", "explains", "zone", 1, 3, "log:log", (2,))
    spoil(run.folder, "sum", [zone])
    load(tmp_path, run.id, graph)
    found = explain(graph, run.id, "3").inputs
    assert [(each.lo, each.hi) for each in found] == [(2, 2)]
    assert explain(graph, run.id, "0").inputs == ()


def test_outputs_that_were_not_tracked_are_never_called_unaffected(
    graph: Connection, tmp_path: Path
) -> None:
    chain = Chain.of(ApplyFunction("ok", "value > 0"))
    options = RunOptions(where="value = false")
    run = record_of(tmp_path, chain, {"log": [1, -1, 2, -3]}, options)
    load(tmp_path, run.id, graph)
    answer = impact(graph, run.id, {"log": [(1, 1)]})
    assert answer.possibly[0].ranges == ((1, 1),)
    assert answer.unaffected[0].ranges == ((3, 3),)
    assert answer.untracked[0].ranges == ((0, 0), (2, 2))
    assert answer.coverage.share == 0.5
    with pytest.raises(ParameterError, match="ok@0: expected a tracked output"):
        explain(graph, run.id, "0")


def test_questions_name_what_there_is(graph: Connection, tmp_path: Path) -> None:
    chain = Chain.graph(
        ["log"],
        [(ApplyFunction("big", "value > 2"), ["log"]), (Cumulate("sum", "add"), ["log"])],
    )
    run = record_of(tmp_path, chain, {"log": [1, 2, 3]}, RunOptions())
    load(tmp_path, run.id, graph)
    with pytest.raises(ParameterError, match=r"expected one of big, sum; got no name; try big@0"):
        explain(graph, "latest", "0", record=tmp_path)
    with pytest.raises(ParameterError, match=r"got 'smu'; try sum \(did you mean that\?\)"):
        explain(graph, "latest", "smu@0", record=tmp_path)
    with pytest.raises(ParameterError, match="expected a position, 0 to 2; got 3"):
        explain(graph, "latest", "sum@3", record=tmp_path)
    with pytest.raises(StoreError, match=f"got 'other'; try one of: {run.id}"):
        explain(graph, "other", "0")
    assert explain(graph, "latest", "sum.0@2", record=tmp_path).output.label == "sum@2"


def test_a_look_at_a_long_record_lists_only_what_is_new(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record grows part by part; the calls are counted that each look makes for parts."""
    monkeypatch.setattr("whence.store.loading.loader.TOGETHER", 0.0)
    run = record_of(tmp_path, LIFECYCLE, {"log": EVENTS * 4}, RunOptions(chunk=4))
    whole = run.manifest
    named = 0

    def counted(*given: Any) -> str:
        nonlocal named
        named += 1
        return chunk_id(*given)

    def before(parts: Parts, many: int) -> Parts:
        return Parts.of(part for part in parts if part.part < many)

    def until(many: int) -> RunManifest:
        streams = tuple(
            replace(s, outputs=before(s.outputs, many), associations=before(s.associations, many))
            for s in whole.streams
        )
        return replace(whole, status="running", streams=streams)

    monkeypatch.setattr("whence.store.loading.parts.chunk_id", counted)
    loader = Loader(run, graph)
    every = max(part.part for s in whole.streams for part in s.outputs)
    assert every > 30
    calls = []
    for many in (*range(every - 8, every), every):
        named = 0
        manifest = until(many)
        monkeypatch.setattr(loader, "manifest", lambda manifest=manifest: manifest)
        loader.catch_up(PRIORITIES["high"])
        calls.append(named)
    assert calls[0] > 2 * every  # the first look lists all that there is
    assert max(calls[1:]) < every
    monkeypatch.setattr(loader, "manifest", lambda: whole)
    report = loader.catch_up(PRIORITIES["high"])
    assert report.complete
    assert (report.written, report.parts) == (
        report.parts,
        len([*parts_listed(run, selected=False)]),
    )
    assert check(graph, tmp_path).findings == ()
    assert load(tmp_path, run.id, graph).written == 0


def test_lists_that_begin_anew_are_listed_anew(tmp_path: Path) -> None:
    run = record_of(tmp_path, LIFECYCLE, {"log": EVENTS}, RunOptions(chunk=4))
    whole = run.manifest
    parts = RecordParts(run, whole, {"log:log": 1})
    assert parts.grow(whole) == []
    streams = tuple(
        replace(s, outputs=s.outputs[1:], associations=s.associations[1:]) for s in whole.streams
    )
    assert parts.grow(replace(whole, streams=streams)) is None
    half = tuple(
        replace(s, outputs=s.outputs[:2], associations=s.associations[:2]) for s in whole.streams
    )
    growing = RecordParts(run, replace(whole, streams=half), {"log:log": 1})
    before = list(growing)
    assert sorted([*before, *(growing.grow(whole) or ())], key=str) == sorted(parts, key=str)

"""Answers from a real graph, exported and read again, name the events that the answer names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.exporters._support.independent_readers import (
    WHENCE,
    Read,
    rdflib_quads,
    read_file,
    read_prov,
    read_quads,
)
from tests.exporters._support.recorded_runs import lifecycle_run, recorded
from whence.engine import ApplyFunction, Chain, Cumulate, Slice
from whence.engine.errors import ParameterError
from whence.engine.record import RunRecord
from whence.exporters import save, save_run, to_prov, to_rdflib
from whence.exporters.answers import About
from whence.store import Connection, connect
from whence.store.catalog import find_run
from whence.store.loading import load
from whence.store.questions import InputRange, explain, impact, never_matters
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

FILES = ("why.json", "why.nq", "why.trig")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return lifecycle_run(tmp_path_factory.mktemp("record"), chunk=64)


@pytest.fixture(scope="module")
def loaded(neo4j_server: Status, record: RunRecord) -> Iterator[Connection]:
    with connect(neo4j_server.settings()) as graph:
        graph.write("MATCH (n) DETACH DELETE n")
        load(record.root, record.id, graph)
        yield graph


def in_all_ways(answer: object, about: About, folder: Path) -> Iterator[Read]:
    for name in FILES:
        yield read_file(save(answer, folder / name, about=about))
    yield read_prov(to_prov(answer, about=about))
    yield read_quads(rdflib_quads(to_rdflib(answer, about=about)))


def events(ranges: tuple[InputRange, ...], log: str) -> set[str]:
    return {f"urn:whence:log:{log}:e{p}" for each in ranges for p in range(each.lo, each.hi + 1)}


def test_an_explanation_has_one_derivation_for_each_event(
    loaded: Connection, record: RunRecord, tmp_path: Path
) -> None:
    (log,) = record.manifest.logs.values()
    about = find_run(loaded, record.id)
    (stream,) = record.manifest.outputs
    last = stream.length - 1
    for position in (0, last // 2, last):
        why = explain(loaded, record.id, str(position))
        output = f"urn:whence:run:{record.id}:per-case:0:e{position}"
        expected = {(output, event) for event in events(why.inputs, log)}
        assert expected
        for read in in_all_ways(why, about, tmp_path):
            assert read.pairs("wasDerivedFrom") == expected
            assert read.pairs("wasInfluencedBy") == set()
            assert read.one(output, "value") is why.output.value
            assert read.one(output, "moment") == why.output.moment


def test_support_is_told_event_by_event(
    loaded: Connection, record: RunRecord, tmp_path: Path
) -> None:
    (log,) = record.manifest.logs.values()
    why = explain(loaded, record.id, "100", support=True)
    assert why.support is not None
    reasons, enough = events(why.inputs, log), events(why.support, log)
    for read in in_all_ways(why, find_run(loaded, record.id), tmp_path):
        assert {second for _, second in read.pairs("wasDerivedFrom")} == reasons
        assert {second for _, second in read.pairs("wasInfluencedBy")} == enough - reasons
        triggers = {
            second
            for _, _, second, said in read.relations.values()
            if WHENCE + "Trigger" in said.get("type", [])
        }
        assert triggers == reasons - enough


def test_the_fields_that_matter_and_the_columns_are_told(
    loaded: Connection, record: RunRecord, tmp_path: Path
) -> None:
    why = explain(loaded, record.id, "0")
    read = read_file(save(why, tmp_path / "why.nq", about=find_run(loaded, record.id)))
    ((_, _, event, said),) = (r for r in read.relations.values() if r[0] == "wasDerivedFrom")
    (told,) = why.events
    assert tuple(sorted(said["field"])) == told.fields
    assert (read.one(event, "case"), read.one(event, "activity")) == (told.case, told.activity)


def test_graph_and_record_name_the_same_things(
    loaded: Connection, record: RunRecord, tmp_path: Path
) -> None:
    why = explain(loaded, record.id, "100", support=True)
    by_graph = read_file(save(why, tmp_path / "a.nq", about=find_run(loaded, record.id)))
    by_record = read_file(save(why, tmp_path / "b.nq", about=record))
    assert by_graph.relations.keys() <= by_record.relations.keys()
    assert by_graph.members <= by_record.members
    for word in ("wasDerivedFrom", "wasInfluencedBy"):
        assert by_graph.pairs(word) == by_record.pairs(word)
    whole = read_file(save_run(record.root, record.id, tmp_path / "run.nq"))
    assert by_graph.things.keys() <= whole.things.keys()


def test_two_answers_about_one_run_are_two_bundles(
    loaded: Connection, record: RunRecord, tmp_path: Path
) -> None:
    about = find_run(loaded, record.id)
    names = {
        read_file(save(answer, tmp_path / "a.nq", about=about)).bundle
        for answer in (
            explain(loaded, record.id, "100"),
            explain(loaded, record.id, "100", support=True),
            explain(loaded, record.id, "101"),
            never_matters(loaded, record.id),
            impact(loaded, record.id, {"log": [(3, 5)]}),
            impact(loaded, record.id, {"log": [(3, 6)]}),
        )
    }
    assert len(names) == 6


def findings(read: Read) -> dict[str, list[tuple[str, int, int]]]:
    found = {}
    for iri in list(read.things):
        if WHENCE + "Finding" in read.types(iri):
            parts = [member for whole, member in read.members if whole == iri]
            ranges = [
                (read.one(read.one(p, "of"), "name"), read.one(p, "first"), read.one(p, "last"))
                for p in parts
            ]
            found[read.one(iri, "name")] = sorted(ranges)
            assert read.one(iri, "count") == sum(last - first + 1 for _, first, last in ranges)
    return found


def test_sets_of_events_are_collections_of_ranges(
    loaded: Connection, record: RunRecord, tmp_path: Path
) -> None:
    about = find_run(loaded, record.id)
    never = never_matters(loaded, record.id)
    expected = {
        name: [("log", lo, hi) for share in shares for lo, hi in share.ranges]
        for name, shares in (("certain", never.certain), ("softer", never.softer))
    }
    for read in in_all_ways(never, about, tmp_path):
        assert findings(read) == expected

    touched = impact(loaded, record.id, {"log": [(3, 5), (90, 90)]})
    expected = {
        name: [("per-case", lo, hi) for share in shares for lo, hi in share.ranges]
        for name, shares in (
            ("unaffected", touched.unaffected),
            ("possibly affected", touched.possibly),
            ("explained by the inputs", touched.explained),
            ("untracked", touched.untracked),
        )
    }
    expected["inputs"] = [("log", 3, 5), ("log", 90, 90)]
    for read in in_all_ways(touched, about, tmp_path):
        assert findings(read) == expected


def test_coverage_is_told(loaded: Connection, record: RunRecord, tmp_path: Path) -> None:
    why = explain(loaded, record.id, "0")
    path = save(why, tmp_path / "why.json", about=find_run(loaded, record.id))
    document = json.loads(path.read_text(encoding="utf-8"))
    (bundle,) = document["entity"].values()
    assert json.loads(bundle["whence:coverage"])["tracked"] == why.coverage.tracked
    assert bundle["whence:question"] == "explain per-case@0"


@pytest.mark.parametrize("size", [3, 2000])
def test_maps_are_told_whole_or_marked_as_cut(
    size: int, neo4j_server: Status, tmp_path: Path
) -> None:
    chain = Chain.of(Slice("last", by="case", of=ApplyFunction("x", "x")))
    log = [{"case": f"c{n}", "x": n} for n in range(size)]
    with connect(neo4j_server.settings()) as graph:
        record = recorded(tmp_path / "record", chain, {"log": log})
        load(record.root, record.id, graph)
        why = explain(graph, record.id, f"last@{size - 1}")
        about = find_run(graph, record.id)
    read = read_file(save(why, tmp_path / "why.json", about=about))
    output = f"urn:whence:run:{record.id}:last:0:e{size - 1}"
    assert read.one(output, "kind") == "map"
    assert read.things[output].get("cut") == ([True] if size > 3 else None)
    assert len(read.pairs("wasDerivedFrom")) == size
    assert read.one(output, "value").startswith('{"map":[["c0",0],')


def test_an_answer_needs_the_run_that_it_is_about(loaded: Connection, record: RunRecord) -> None:
    with pytest.raises(ParameterError, match="expected the run of the answer; got none"):
        to_prov(explain(loaded, record.id, "0"))
    with pytest.raises(ParameterError, match="expected an answer; got str"):
        to_prov("why", about=record)


def test_every_alternative_of_a_run_that_kept_them_is_told(
    neo4j_server: Status, tmp_path: Path
) -> None:
    chain = Chain.of(Cumulate("any", "or"))
    with connect(neo4j_server.settings()) as graph:
        log = [False, True, True, False]
        record = recorded(tmp_path / "record", chain, {"log": log}, witnesses="all")
        load(record.root, record.id, graph)
        why = explain(graph, record.id, "3")
        about = find_run(graph, record.id)
    assert why.alternatives is not None
    expected = [
        {p for each in witness.ranges for p in range(each.lo, each.hi + 1)}
        for witness in why.alternatives
    ]
    assert expected == [{1}, {2}]
    for read in in_all_ways(why, about, tmp_path):
        told = {
            read.one(second, "position"): said["witness"]
            for word, _, second, said in read.relations.values()
            if word == "wasDerivedFrom"
        }
        assert told == {1: [0], 2: [1]}
        found = {
            read.one(iri, "witness"): {read.one(m, "position") for w, m in read.members if w == iri}
            for iri in list(read.things)
            if WHENCE + "Witness" in read.types(iri)
        }
        assert found == {0: {1}, 1: {2}}

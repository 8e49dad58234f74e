"""What the export of a whole run holds, and in which form."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import prov.constants
import prov.model
import pyoxigraph as ox
import pytest
import rdflib

from tests.exporters._support.independent_readers import (
    PROV,
    WHENCE,
    Read,
    oxigraph_quads,
    rdflib_quads,
    read_file,
    read_prov,
    read_quads,
)
from tests.exporters._support.recorded_runs import RUNS, lifecycle_run, product_run, recorded
from whence.engine import ApplyFunction, Chain
from whence.engine.record import RunRecord
from whence.exporters import save_run
from whence.exporters.documents import run_document
from whence.exporters.prov.writing.prov_document import prov_document
from whence.exporters.prov.writing.rdf import rdflib_dataset
from whence.exporters.recorded import RecordedRun
from whence.store import associate

FILES = ("run.json", "run.nq", "run.trig")


def exported(record: RunRecord, folder: Path, name: str) -> Path:
    return save_run(record.root, record.id, folder / name)


@pytest.fixture(scope="module", params=["lifecycle", "product", "filter"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return RUNS[request.param](tmp_path_factory.mktemp("record"), chunk=64)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")  # its own readers use them
def test_all_readers_and_both_libraries_hold_the_same(run: RunRecord, tmp_path: Path) -> None:
    document = run_document(RecordedRun(run.root, run.id))
    text = exported(run, tmp_path, "run.json").read_text(encoding="utf-8")
    assert prov.model.ProvDocument.deserialize(content=text) == prov_document(document)

    lines = exported(run, tmp_path, "run.nq").read_bytes()
    trig = exported(run, tmp_path, "run.trig").read_bytes()
    by_oxigraph = quads(oxigraph_quads(lines, ox.RdfFormat.N_QUADS))
    assert quads(oxigraph_quads(trig, ox.RdfFormat.TRIG)) == by_oxigraph
    for data, format in ((lines, "nquads"), (trig, "trig")):
        dataset = rdflib.Dataset()
        dataset.parse(data=data.decode(), format=format)
        assert quads(rdflib_quads(dataset)) == by_oxigraph, format
    assert quads(rdflib_quads(rdflib_dataset(document))) == by_oxigraph

    read, other = (
        read_quads(oxigraph_quads(lines, ox.RdfFormat.N_QUADS)),
        read_file(tmp_path / "run.json"),
    )
    assert derivations(read) == derivations(other)
    assert read.members == other.members


@pytest.mark.parametrize(("file", "syntax"), [("run.nq", "nquads"), ("run.trig", "trig")])
@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")  # its own readers use them
def test_prov_reads_the_rdf_as_it_reads_the_json(
    run: RunRecord, file: str, syntax: str, tmp_path: Path
) -> None:
    by_json = prov.model.ProvDocument.deserialize(str(exported(run, tmp_path, "run.json")))
    by_rdf = prov.model.ProvDocument.deserialize(
        str(exported(run, tmp_path, file)), format="rdf", rdf_format=syntax
    )
    assert names_and_ends(by_rdf) == names_and_ends(by_json)


def names_and_ends(document: prov.model.ProvDocument) -> set[tuple[str, ...]]:
    """What each statement says; of relations the ends, for prov reads the plain form by itself."""
    (bundle,) = document.bundles
    found: set[tuple[str, ...]] = set()
    for record in bundle.get_records():
        word = prov.constants.PROV_N_MAP[record.get_type()]
        ends = [end.uri for _, end in record.formal_attributes if hasattr(end, "uri")]
        if not record.is_relation():
            assert record.identifier is not None
            found.add((word, record.identifier.uri))
        elif word in ("wasDerivedFrom", "wasInfluencedBy", "hadMember", "used"):
            found.add((word, *ends))
    return found


def quads(found: list[Any]) -> set[str]:
    return {repr(quad) for quad in found}


def derivations(read: Read) -> set[tuple[str, str, str, str]]:
    return {
        (own, word, first, second)
        for own, (word, first, second, _) in read.relations.items()
        if word in ("wasDerivedFrom", "wasInfluencedBy")
    }


def test_in_rdf_each_relation_is_there_plain_and_qualified(run: RunRecord, tmp_path: Path) -> None:
    read = read_file(exported(run, tmp_path, "run.nq"))
    qualified = {(word, first, second) for word, first, second, _ in read.relations.values()}
    assert read.plain == qualified
    assert any(word == "wasDerivedFrom" for word, *_ in qualified)


def test_no_line_of_rdf_is_written_twice(run: RunRecord, tmp_path: Path) -> None:
    lines = exported(run, tmp_path, "run.nq").read_text(encoding="utf-8").splitlines()
    assert [line for line, times in Counter(lines).items() if times > 1] == []


def test_prov_json_has_no_key_twice(run: RunRecord, tmp_path: Path) -> None:
    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys))
        return dict(pairs)

    text = exported(run, tmp_path, "run.json").read_text(encoding="utf-8")
    json.loads(text, object_pairs_hook=check)


def test_every_end_of_every_relation_is_declared(run: RunRecord, tmp_path: Path) -> None:
    read = read_file(exported(run, tmp_path, "run.json"))
    named = {end for _, *ends, _ in read.relations.values() for end in ends}
    named |= {end for pair in read.members for end in pair}
    assert named <= set(read.things)


def test_counts_are_those_of_the_record(run: RunRecord, tmp_path: Path) -> None:
    read = read_file(exported(run, tmp_path, "run.json"))
    sizes = Counter(collection for collection, _ in read.members)
    collections = [i for i in read.things if read.types(i) & {WHENCE + "Log", WHENCE + "Stream"}]
    for iri in collections:
        if "count" in read.things[iri]:
            assert read.one(iri, "count") == sizes[iri], iri
    lengths = {s.name: s.length for s in run.manifest.streams if s.length}
    told = {read.one(i, "name"): read.things[i].get("count") for i in collections}
    assert {name: [length] for name, length in lengths.items()}.items() <= told.items()


@pytest.mark.parametrize("file", [*FILES, "run.json.gz", "run.nq.gz", "run.trig.gz"])
def test_the_same_export_twice_is_the_same_bytes(file: str, tmp_path: Path) -> None:
    record = product_run(tmp_path / "record", chunk=64)
    first = exported(record, tmp_path, file).read_bytes()
    (tmp_path / "elsewhere").mkdir()
    assert exported(record, tmp_path / "elsewhere", file).read_bytes() == first


def test_compressed_files_hold_the_same(tmp_path: Path) -> None:
    record = product_run(tmp_path / "record")
    for file in FILES:
        plain = read_file(exported(record, tmp_path, file))
        assert read_file(exported(record, tmp_path, f"{file}.gz")) == plain


def test_one_bundle_a_run_and_the_bundle_is_an_entity_outside_itself(tmp_path: Path) -> None:
    record = product_run(tmp_path / "record")
    path = exported(record, tmp_path, "run.json")
    document = prov.model.ProvDocument.deserialize(str(path))
    (bundle,) = document.bundles
    name = bundle.identifier
    assert name is not None
    assert name.uri == f"urn:whence:run:{record.id}:bundle"
    (entity,) = document.get_record(name)
    assert prov.constants.PROV["Bundle"] in entity.get_asserted_types()
    assert not bundle.get_record(name)
    words = {prov.constants.PROV_N_MAP[r.get_type()] for r in document.get_records()}
    assert words == {
        *("entity", "activity", "agent"),
        *("wasGeneratedBy", "wasAttributedTo", "wasAssociatedWith"),
    }


def test_the_run_is_an_activity_with_its_times_plan_and_engine(tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record", metadata={"owner": "A. Person"})
    path = exported(record, tmp_path, "run.json")
    read = read_prov(prov.model.ProvDocument.deserialize(str(path)))
    own = f"urn:whence:run:{record.id}:run"
    started = read.one(own, "startTime")
    assert started.isoformat(timespec="milliseconds").replace("+00:00", "Z") == (
        record.manifest.started
    )
    assert json.loads(read.one(own, "metadata")) == {"owner": "A. Person"}
    text = exported(record, tmp_path, "run.nq").read_text(encoding="utf-8")
    times = re.findall(r'"([^"]*)"\^\^<[^>]*#dateTime>', text)
    assert times
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", time) for time in times)
    chain = next(i for i in read.things if WHENCE + "Chain" in read.types(i))
    assert PROV + "Plan" in read.types(chain)
    assert read.one(chain, "digest") == record.manifest.chain_digest
    assert json.loads(read.one(chain, "definition")) == record.manifest.chain
    plans = {read.one(i, "name") for i in read.things if WHENCE + "Processor" in read.types(i)}
    assert plans == {"per-case", "per-case/order"}
    engine = next(i for i in read.things if PROV + "SoftwareAgent" in read.types(i))
    assert (own, engine) in read.pairs("wasAssociatedWith")
    (log,) = (i for i in read.things if WHENCE + "Log" in read.types(i))
    assert (own, log) in read.pairs("used")
    assert read.one(log, "digest").startswith("sha256:")


def test_bands_stay_compact(tmp_path: Path) -> None:
    record = RUNS["wide window"](tmp_path / "record", chunk=5000)
    read = read_file(exported(record, tmp_path, "run.json"))
    assert 1 <= len(read.pairs("wasDerivedFrom")) < 5  # written out: 161 windows of 40 events


def test_values_of_inputs_are_told_only_if_asked_for(tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record")
    (log,) = record.manifest.logs.values()
    event = f"urn:whence:log:{log}:e0"
    plain = read_file(save_run(record.root, "latest", tmp_path / "a.nq"))
    assert "value" not in plain.things[event]
    assert plain.one(event, "activity") == "create"
    told = read_file(save_run(record.root, "latest", tmp_path / "b.nq", values=True))
    first = next(iter(record.log("log").read()))
    assert json.loads(told.one(event, "value")) == {"record": first}


@pytest.mark.parametrize("values", [False, True])
def test_a_job_that_is_no_chain_is_exported_too(values: bool, tmp_path: Path) -> None:
    rows = [("cleaned", 0, 1, "orders", 2), ("joined", 0, 0, "cleaned", 1)]
    record = associate(rows, record=tmp_path / "record", run="job-1")
    read = read_file(save_run(record.root, record.id, tmp_path / "run.json", values=values))
    orders = record.manifest.logs["orders"]
    cleaned = "urn:whence:run:job-1:cleaned:0:e1"
    assert read.pairs("wasDerivedFrom") == {
        (cleaned, f"urn:whence:log:{orders}:e2"),
        ("urn:whence:run:job-1:joined:0:e0", cleaned),
    }
    plans = {read.one(i, "name") for i in read.things if WHENCE + "Processor" in read.types(i)}
    assert plans == {"cleaned", "joined"}


def test_one_log_under_two_names_is_told_once(tmp_path: Path) -> None:
    chain = Chain.graph(["p", "q"], [(ApplyFunction("same", "$0 = $1"), ["p", "q"])])
    record = recorded(tmp_path / "record", chain, {"p": [1, 2, 3], "q": [1, 2, 3]})
    (log,) = set(record.manifest.logs.values())
    lines = exported(record, tmp_path, "run.nq").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines))
    read = read_file(exported(record, tmp_path, "run.json"))
    assert sorted(read.things[f"urn:whence:log:{log}:all"]["name"]) == ["p", "q"]
    derived = {(a.rpartition(":")[2], b) for a, b in read.pairs("wasDerivedFrom")}
    assert derived == {(f"e{n}", f"urn:whence:log:{log}:e{n}") for n in range(3)}


def test_alternatives_name_their_witness(tmp_path: Path) -> None:
    chain = Chain.graph(["p", "q"], [(ApplyFunction("both", "$0 and $1"), ["p", "q"])])
    logs = {"p": [False, True], "q": [False, True, True]}
    record = recorded(tmp_path / "record", chain, logs, witnesses="all")
    read = read_file(exported(record, tmp_path, "run.nq"))
    told = {
        (first.partition("both:")[2], second): said.get("witness")
        for word, first, second, said in read.relations.values()
        if word == "wasDerivedFrom"
    }
    p, q = (f"urn:whence:log:{record.manifest.logs[name]}" for name in ("p", "q"))
    choice = f"urn:whence:run:{record.id}:both:choices0:e0"
    assert told == {
        ("0:e0", choice): None,
        ("choices0:e0", f"{p}:e0"): [0],
        ("choices0:e0", f"{q}:e0"): [1],
        ("0:e1", f"{p}:e1"): None,
        ("0:e1", f"{q}:e1"): None,
    }
    assert WHENCE + "Choice" in read.types(choice)

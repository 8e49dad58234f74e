"""Every syntax holds the same statements, read by other people's readers."""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import prov
import prov.model
import pyoxigraph as ox
import pytest
from hypothesis import given, settings

from tests.engine.lineage.slow_index import AssociationIndex
from tests.exporters._support.independent_readers import oxigraph_quads, read_file, rows_of
from tests.exporters._support.recorded_runs import RUNS
from tests.exporters.test_text_survives import TEXT, about
from whence.engine.record import RunRecord
from whence.exporters import FORMATS, save, save_run, to_prov
from whence.exporters.documents import run_document
from whence.exporters.prov.reading.opening import read_document
from whence.exporters.prov.writing.prov_document import prov_document
from whence.exporters.prov.writing.prov_xml import xml_text
from whence.exporters.recorded import RecordedRun

etree: Any = import_module("lxml.etree")
SCHEMAS = Path(prov.__file__).parent / "tests" / "schemas"
BY_PROV = {"prov-json": "json", "prov-n": "provn", "prov-xml": "xml", "prov-jsonld": "jsonld"}
BY_OXIGRAPH = {
    "nquads": ox.RdfFormat.N_QUADS,
    "trig": ox.RdfFormat.TRIG,
    "turtle": ox.RdfFormat.TURTLE,
    "jsonld": ox.RdfFormat.JSON_LD,
}
OWN = set(FORMATS) - {*BY_PROV, *BY_OXIGRAPH}
"""Formats that only our own readers know: none of these is left unread."""


def statements(document: prov.model.ProvDocument) -> Counter[Any]:
    """What a document of ``prov`` says, by IRI and by value."""
    found: Counter[Any] = Counter()
    for bundle in (document, *document.bundles):
        where = "" if bundle.identifier is None else bundle.identifier.uri
        for record in bundle.get_records():
            own = None if record.identifier is None else record.identifier.uri
            said = frozenset((key.uri, plain(value)) for key, value in record.attributes)
            found[where, record.get_type().uri, own, said] += 1
    return found


def plain(value: Any) -> Any:
    if isinstance(value, prov.model.Literal):
        kind = value.datatype.localpart if value.datatype else "string"
        if kind in ("integer", "int", "long"):
            return "number", int(value.value)
        return kind, value.value
    if isinstance(value, datetime):
        return "time", value
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, (int, float)):
        return "number", value
    return getattr(value, "uri", value)


@pytest.fixture(scope="module", params=[(n, k) for n in RUNS for k in (False, True)], ids=str)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    name, kernels = request.param
    return RUNS[name](tmp_path_factory.mktemp("record"), kernels=kernels, chunk=40, detail="steps")


def test_prov_reads_its_four_syntaxes_alike(run: RunRecord, tmp_path: Path) -> None:
    expected = statements(prov_document(run_document(RecordedRun(run.root, run.id))))
    assert sum(expected.values()) > 100
    for format, name in BY_PROV.items():
        path = save_run(run.root, run.id, tmp_path / "a", format)
        document = prov.model.ProvDocument.deserialize(io.BytesIO(path.read_bytes()), format=name)
        assert statements(document) == expected, format


def test_the_four_syntaxes_of_rdf_hold_the_same(run: RunRecord, tmp_path: Path) -> None:
    found = {}
    for format, syntax in BY_OXIGRAPH.items():
        data = save_run(run.root, run.id, tmp_path / "a", format).read_bytes()
        found[format] = oxigraph_quads(data, syntax)
    for format in ("trig", "jsonld"):
        assert set(map(repr, found[format])) == set(map(repr, found["nquads"])), format
    bare = {repr((*quad[:3], None)) for quad in found["nquads"]}
    assert set(map(repr, found["turtle"])) == bare


def test_prov_xml_is_valid_by_its_schema(run: RunRecord, tmp_path: Path) -> None:
    schema = etree.XMLSchema(etree.parse(SCHEMAS / "prov.xsd"))
    tree = etree.parse(save_run(run.root, run.id, tmp_path / "a.xml"))
    schema.assertValid(tree)
    # The schema is not blind: the same with two elements swapped is refused.
    element = tree.find(".//{http://www.w3.org/ns/prov#}wasGeneratedBy")
    assert element is not None
    element.append(element[0])
    assert not schema.validate(tree)


def test_prov_jsonld_is_rdf_without_anything_to_fetch(run: RunRecord, tmp_path: Path) -> None:
    path = save_run(run.root, run.id, tmp_path / "a.provjsonld")
    quads = list(ox.parse(path.read_bytes(), ox.RdfFormat.JSON_LD))
    derived = [q for q in quads if q.predicate.value.endswith("#qualifiedDerivation")]
    document = json.loads(path.read_text("utf-8"))
    (bundle,) = (each for each in document["@graph"] if each["@type"] == "Bundle")
    kinds = Counter(each["@type"] for each in bundle["@graph"])
    assert len(derived) == kinds["Derivation"] > 0


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_both_runners_give_the_same_answers_by_their_exports(
    name: str, kernels: bool, tmp_path: Path
) -> None:
    record = RUNS[name](tmp_path / "record", kernels=kernels, chunk=40)
    read = read_file(save_run(record.root, record.id, tmp_path / "a.nq"))
    told, kept = AssociationIndex(rows_of(read)), AssociationIndex(record.rows())
    outputs = record.manifest.outputs
    for stream in outputs:
        for position in range(0, stream.length, 7):
            for support in (False, True):
                asked = (stream.name, position)
                assert told.up(*asked, support=support) == kept.up(*asked, support=support)


@given(TEXT, TEXT)
@settings(max_examples=25, deadline=None)
def test_any_text_survives_in_the_syntaxes_of_prov(text: str, other: str) -> None:
    if xml_text(text + other) != text + other:
        formats = [format for format in BY_PROV if format != "prov-xml"]
    else:
        formats = list(BY_PROV)
    answer = about(text, other)
    expected = statements(to_prov(answer))
    with tempfile.TemporaryDirectory() as folder:
        for format in formats:
            data = save(answer, Path(folder) / "a", format).read_bytes()
            read = prov.model.ProvDocument.deserialize(io.BytesIO(data), format=BY_PROV[format])
            assert statements(read) == expected, format


def test_what_xml_cannot_hold_is_escaped(tmp_path: Path) -> None:
    path = save(about("a\x01b\ufffe", "x"), tmp_path / "a.xml")
    values = {element.text for element in etree.parse(path).iter("{*}value")}
    assert "a\\u0001b\\ufffe" in values


def test_our_own_readers_find_the_same_statements(run: RunRecord, tmp_path: Path) -> None:
    found = {}
    for format in ("prov-json", "prov-n", "prov-xml", "prov-jsonld", *OWN):
        found[format] = len(
            read_document(save_run(run.root, run.id, tmp_path / "a", format), format)
        )
    assert set(found.values()) == {found["prov-json"]}
    assert found["prov-json"] > 100

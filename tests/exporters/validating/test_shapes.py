"""The ontology has every word of the vocabulary; the shapes hold exports and nothing else."""

from __future__ import annotations

import json
import os
import re
import warnings
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pyshacl
import pytest
import rdflib
from rdflib.namespace import OWL, RDF, RDFS

from tests.engine.random_chains import random_case
from tests.exporters._support.recorded_runs import RUNS, recorded, wide_window_run
from whence.engine.errors import WhenceError
from whence.exporters import save_run
from whence.exporters.ontology import SUPERS, ontology, shapes
from whence.exporters.prov.formats import BUNDLES, FORMATS
from whence.exporters.validating import validate
from whence.exporters.vocabulary import CLASSES, PROPERTIES, VALUES

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
CASES = 200 if FULL else 16
PROV = rdflib.Namespace("http://www.w3.org/ns/prov#")
WHENCE = rdflib.Namespace("urn:whence:ns#")
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "vocabulary.md"


def words(graph: rdflib.Graph, kind: rdflib.URIRef) -> set[str]:
    return {str(each).removeprefix(str(WHENCE)) for each in graph.subjects(RDF.type, kind)}


def test_the_file_is_the_text_of_the_vocabulary() -> None:
    file = files("whence.exporters").joinpath("ontology.ttl")
    assert file.read_text("utf-8") == ontology(), "write ontology() into ontology.ttl anew"


def test_the_ontology_has_every_word_with_its_meaning_and_no_other() -> None:
    graph = rdflib.Graph().parse(data=ontology(), format="turtle")
    assert words(graph, OWL.Class) == set(CLASSES)
    properties = words(graph, OWL.DatatypeProperty) | words(graph, OWL.ObjectProperty)
    assert properties == set(PROPERTIES)
    said = {
        str(s).removeprefix(str(WHENCE)): str(o) for s, o in graph.subject_objects(RDFS.comment)
    }
    assert {**CLASSES, **PROPERTIES}.items() <= said.items()
    above = {str(each) for each in graph.objects(predicate=RDFS.subClassOf)}
    assert all(each.startswith(str(PROV)) for each in above)


def test_the_page_tells_of_both_files(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text("utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(compile(example, "vocabulary.md", "exec"), {})
    assert capsys.readouterr().out.count("@prefix") > 1
    assert re.search(r"^## As files$", text, re.MULTILINE)
    for name in ("ontology.ttl", "shapes.ttl"):
        assert f"`{name}`" in text
        assert files("whence.exporters").joinpath(name).is_file()


def test_shapes_speak_of_words_of_the_vocabulary_alone() -> None:
    used = set(re.findall(r"\bwhence:(\w+)\b(?!#)", shapes()))
    own = {word for word in used if word.endswith("Shape")}
    assert used - own <= {*SUPERS, *VALUES, *PROPERTIES}


def judged(data: bytes) -> tuple[bool, str]:
    """What SHACL says of an export, its bundles taken together."""
    triples = (quad.triple for quad in ox.parse(data, format=ox.RdfFormat.N_QUADS))
    text = ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES)
    graph = rdflib.Graph().parse(data=text, format="nt")
    wanted = rdflib.Graph().parse(data=shapes(), format="turtle")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of rdflib, inside pyshacl
        conforms, _, text = pyshacl.validate(graph, shacl_graph=wanted)
    return bool(conforms), str(text)


@pytest.mark.parametrize("name", RUNS)
def test_every_export_is_valid_by_the_checker_and_by_the_shapes(name: str, tmp_path: Path) -> None:
    record = RUNS[name](tmp_path / "record", detail="steps")
    counts = set()
    for format, (ending, *_) in FORMATS.items():
        file = save_run(record.root, record.id, tmp_path / f"run{ending}", format, values=True)
        report = validate(file)
        assert report.violations == ()
        assert (report.format, report.unchecked) == (format, {})
        assert report.bundles == (format in BUNDLES)
        if format in BUNDLES:
            counts.add(report.statements)
    assert len(counts) == 1  # every syntax says the same
    if FULL or name in ("lifecycle", "wide window", "filter"):  # shapes take far longer
        conforms, text = judged((tmp_path / "run.nq").read_bytes())
        assert conforms, text


def test_exports_of_random_runs_are_valid_by_the_checker_and_by_the_shapes(tmp_path: Path) -> None:
    tried = 0
    for seed in range(CASES):
        case = random_case(seed)
        logs = {name: events[:12] for name, events in case.logs.items()}
        options: Any = {"detail": ("ends", "steps")[seed % 2], "closed": case.closed}
        if seed % 3 == 0:
            options["witnesses"] = "all"
        try:
            record = recorded(tmp_path / str(seed), case.chain(), logs, **options)
        except WhenceError:
            continue  # a value that the chain cannot take
        tried += 1
        file = save_run(record.root, record.id, tmp_path / f"{seed}.nq", values=True)
        report = validate(file)
        assert report.violations == (), seed
        packed = save_run(record.root, record.id, tmp_path / f"{seed}.json", values=True)
        assert validate(packed).violations == (), seed
        if seed % 5 == 0:
            conforms, text = judged(file.read_bytes())
            assert conforms, (seed, text)
    assert tried > CASES * 0.7


WRONG = {
    "an event without its position": (r"[^\n]*<urn:whence:ns#position>[^\n]*\n", "", 1),
    "a range that ends before it begins": (
        r'(<urn:whence:ns#last> )"\d+"', r'\1"-1"', 1,
    ),
    "a band without its factor": (r"[^\n]*<urn:whence:ns#toFactor>[^\n]*\n", "", 1),
    "a derivation or influence from nothing": (
        r"[^\n]*<http://www.w3.org/ns/prov#(?:entity|influencer)>[^\n]*\n", "", 0,
    ),
    "a role that is none": (r'(<urn:whence:ns#role> )"\w+"', r'\1"nothing"', 1),
    "a status that is none": (r'(<urn:whence:ns#status> )"\w+"', r'\1"nothing"', 1),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_the_shapes_refuse_what_is_no_export(what: str, tmp_path: Path) -> None:
    record = wide_window_run(tmp_path / "record")
    text = save_run(record.root, record.id, tmp_path / "run.nq").read_text("utf-8")
    pattern, instead, many = WRONG[what]
    changed, found = re.subn(pattern, instead, text, count=many)
    assert found
    assert not judged(changed.encode())[0], json.dumps(what)

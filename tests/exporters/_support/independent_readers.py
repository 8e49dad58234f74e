"""Reads exports back with other people's readers, by nothing but the rules of the manual."""

from __future__ import annotations

import gzip
import io
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import prov.constants
import prov.identifier
import prov.model
import pyoxigraph as ox
import rdflib

from whence.engine.lineage.association import Association

PROV = "http://www.w3.org/ns/prov#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
WHENCE = "urn:whence:ns#"

Attributes = dict[str, list[Any]]


@dataclass
class Read:
    """What a reader found, by IRI.

    Attributes:
        bundle: the one bundle's name.
        things: entities, activities and agents of the bundle, with their attributes.
        relations: of the bundle: id → word, first end, second end, attributes.
        plain: of the bundle: word, first end, second end, as plain triples (RDF alone).
        members: of the bundle: collection, member.
    """

    bundle: str = ""
    things: dict[str, Attributes] = field(default_factory=lambda: defaultdict(dict))
    relations: dict[str, tuple[str, str, str, Attributes]] = field(default_factory=dict)
    plain: set[tuple[str, str, str]] = field(default_factory=set)
    members: set[tuple[str, str]] = field(default_factory=set)

    def pairs(self, word: str) -> set[tuple[str, str]]:
        return {(first, second) for w, first, second, _ in self.relations.values() if w == word}

    def types(self, iri: str) -> set[str]:
        return {str(value) for value in self.things[iri].get("type", [])}

    def one(self, iri: str, word: str) -> Any:
        (value,) = self.things[iri][word]
        return value


def _key(iri: str) -> str:
    if iri == RDF_TYPE:
        return "type"
    return iri.removeprefix(PROV).removeprefix(WHENCE)


def read_prov(document: prov.model.ProvDocument) -> Read:
    """What the ``prov`` package reads."""
    (bundle,) = document.bundles
    assert bundle.identifier is not None
    read = Read(bundle.identifier.uri)
    for record in bundle.get_records():
        own = "" if record.identifier is None else record.identifier.uri
        word = prov.constants.PROV_N_MAP[record.get_type()]
        attributes: Attributes = {}
        for key, value in record.extra_attributes:
            attributes.setdefault(_key(key.uri), []).append(_plain_value(value))
        ends = [end.uri for _, end in record.formal_attributes if hasattr(end, "uri")]
        if not record.is_relation():
            for key, value in record.formal_attributes:
                if value is not None:
                    attributes.setdefault(_key(key.uri), []).append(value)
            read.things[own] = attributes
        elif word == "hadMember":
            read.members.add((ends[0], ends[1]))
        elif word != "specializationOf":
            assert own not in read.relations
            read.relations[own] = (word, ends[0], ends[1], attributes)
    return read


def _plain_value(value: Any) -> Any:
    return value.uri if isinstance(value, prov.identifier.QualifiedName) else value


_QUALIFIED = {
    "qualifiedDerivation": ("wasDerivedFrom", "entity"),
    "qualifiedInfluence": ("wasInfluencedBy", "influencer"),
}


def read_quads(quads: list[tuple[str, str, Any, str | None]]) -> Read:
    """What is in quads: IRIs are text, literals are Python values in a list of one."""
    named = [quad for quad in quads if quad[3] is not None]
    (bundle,) = {graph for *_, graph in named if graph is not None}
    read = Read(bundle)
    about: dict[str, Attributes] = defaultdict(dict)
    for subject, property_, value, _ in named:
        found = value[0] if isinstance(value, list) else value
        about[subject].setdefault(_key(property_), []).append(found)
    qualified = {}
    for subject, known in about.items():
        for property_, (word, end) in _QUALIFIED.items():
            for node in known.get(property_, []):
                assert node not in qualified
                qualified[node] = (word, subject, end)
        for word, _ in _QUALIFIED.values():
            read.plain.update((word, subject, value) for value in known.get(word, []))
        read.members.update((subject, member) for member in known.get("hadMember", []))
    for node, known in about.items():
        if node in qualified:
            word, subject, end = qualified[node]
            (other,) = known[end]
            read.relations[node] = (word, subject, other, known)
        else:
            read.things[node] = known
    return read


def oxigraph_quads(data: bytes, format: ox.RdfFormat) -> list[tuple[str, str, Any, str | None]]:
    found = []
    for quad in ox.parse(data, format=format):
        assert isinstance(quad.subject, ox.NamedNode), "no blank nodes"
        value: Any = quad.object
        if isinstance(value, ox.NamedNode):
            written: Any = value.value
        else:
            assert isinstance(value, ox.Literal)
            written = [python_value(value.value, value.datatype.value)]
        graph = quad.graph_name
        name = graph.value if isinstance(graph, ox.NamedNode) else None
        found.append((quad.subject.value, quad.predicate.value, written, name))
    return found


def rdflib_quads(dataset: rdflib.Dataset) -> list[tuple[str, str, Any, str | None]]:
    found = []
    for subject, property_, value, graph in dataset.quads():
        if isinstance(value, rdflib.Literal):
            datatype = str(value.datatype) if value.datatype else "#string"
            written: Any = [python_value(str(value), datatype)]
        else:
            written = str(value)
        name = None if graph is None or "default" in str(graph) else str(graph)
        found.append((str(subject), str(property_), written, name))
    return found


def python_value(text: str, datatype: str) -> Any:
    kind = datatype.rpartition("#")[2]
    if kind == "integer":
        return int(text)
    if kind == "boolean":
        return text == "true"
    if kind == "double":
        return float(text.replace("INF", "inf"))
    if kind == "dateTime":
        return datetime.fromisoformat(text)
    return text if kind == "string" else (text, kind)


def read_file(path: Path) -> Read:
    """Read an export by how its name ends."""
    data = path.read_bytes()
    name = path.name
    if name.endswith(".gz"):
        data, name = gzip.decompress(data), name.removesuffix(".gz")
    if name.endswith(".json"):
        return read_prov(prov.model.ProvDocument.deserialize(io.BytesIO(data), format="json"))
    format = ox.RdfFormat.TRIG if name.endswith(".trig") else ox.RdfFormat.N_QUADS
    return read_quads(oxigraph_quads(data, format))


def rows_of(read: Read) -> list[Association]:
    """The associations that an export tells of, by the rules of the how-to page."""
    places = {
        iri: ("log:" if WHENCE + "Log" in read.types(iri) else "") + read.one(iri, "name")
        for iri in list(read.things)
        if read.types(iri) & {WHENCE + "Log", WHENCE + "Stream"}
    }
    belongs = {member: collection for collection, member in read.members}
    rows = []
    for word, first, second, said in read.relations.values():
        if word not in ("wasDerivedFrom", "wasInfluencedBy"):
            continue
        types = {str(each) for each in said.get("type", [])}
        relation: Any = "explains"
        if word == "wasInfluencedBy":
            assert WHENCE + "Supports" in types
            relation = "supports"
        elif WHENCE + "Trigger" in types:
            relation = "trigger"
        fields = tuple(sorted(said["field"])) if "field" in said else None
        if said.get("presence") == [True]:
            fields = ()
        marks: Any = {"fields": fields, "copy": said.get("copy") == [True]}
        if WHENCE + "Range" not in read.types(first):
            at = read.one(first, "position")
            stream = places[belongs[first]]
            if WHENCE + "Range" in read.types(second):
                to = places[read.one(second, "of")]
                reached = range(read.one(second, "first"), read.one(second, "last") + 1)
            else:
                to = places[belongs[second]]
                reached = range(read.one(second, "position"), read.one(second, "position") + 1)
            rows.append(Association(stream, relation, "list", at, at, to, tuple(reached), **marks))
            continue
        stream, lo = places[read.one(first, "of")], read.one(first, "first")
        (hi,) = read.things[first].get("last", [None])
        if WHENCE + "Band" in types:
            to = places[read.one(second, "of")]
            written = {"a": "from", "b": "to", "sa": "fromFactor", "sb": "toFactor"}
            numbers: Any = {mine: said[theirs][0] for mine, theirs in written.items()}
            rows.append(Association(stream, relation, "band", lo, hi, to, **numbers, **marks))
        else:
            assert WHENCE + "Zone" in types
            to, position = places[belongs[second]], read.one(second, "position")
            rows.append(Association(stream, relation, "zone", lo, hi, to, (position,), **marks))
    return rows

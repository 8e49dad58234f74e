"""PROV-JSONLD: one object a statement, with the context in the file, so that nothing is fetched.

It is not the RDF of PROV-O: read as RDF it has the qualified form of every relation and no plain
one. The format ``jsonld`` is the RDF.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from whence.exporters.prov.identifiers import Name
from whence.exporters.prov.rows import (
    Column,
    Names,
    Piece,
    Rows,
    Value,
    lexical,
    optional,
    prefixed,
    written,
)
from whence.exporters.prov.statements import (
    END_TIME,
    KINDS,
    START_TIME,
    TYPE,
    VALUE,
    Document,
    Kind,
    Statement,
)
from whence.exporters.prov.writing.nquads import check_iris
from whence.exporters.prov.writing.prov_json import json_string

__all__ = ["prov_jsonld"]

_WORDS = {"specializationOf": "generalEntity", "alternateOf": "alternate", "hadMember": "member"}
"""What the context calls the second end of a relation that PROV-O has no qualified form of."""


def prov_jsonld(document: Document, _beside: Path | None = None) -> Iterator[bytes | memoryview]:
    """The text of a document, object by object."""
    check_iris(document)
    known = {space.prefix: space.iri for space in document.namespaces}
    context = json.dumps([known, _context()], indent=0)
    yield f'{{\n"@context": {context},\n"@graph": [\n'.encode()
    first = True
    for piece in _objects(document.top):
        yield piece[0 if not first else 2 :]
        first = False
    for bundle in document.bundles:
        yield ("" if first else ",\n").encode()
        yield f'{{"@type": "Bundle", "@id": "{bundle.name.short}", "@context": [], '.encode()
        yield b'"@graph": [\n'
        first = True
        for piece in _objects(bundle.statements()):
            yield piece[0 if not first else 2 :]
            first = False
        yield b"\n]}"
    yield b"\n]\n}\n"


def _objects(statements: Iterable[Statement | Rows]) -> Iterator[bytes | memoryview]:
    """Each with a comma and a line end before it."""
    for statement in statements:
        pieces: list[Piece] = [f',\n{{"@type": "{_type(statement.kind)}"']
        if statement.id is not None:
            pieces += [', "@id": "', *prefixed(statement.id), '"']
        for role, end in zip(statement.kind.roles, statement.ends, strict=False):
            if end is not None:
                pieces += [f', "{role}": "', *prefixed(end), '"']
        for part in _said(statement):
            pieces += optional(part)
        yield written([*pieces, "}"])


def _type(kind: Kind) -> str:
    return "Derivation" if kind.type == "Revision" else kind.type


def _said(statement: Statement | Rows) -> Iterator[list[Piece]]:
    groups: dict[tuple[Name, int], list[Value]] = {}
    for at, (key, value) in enumerate(statement.attributes):
        # Columns of one key are never there together, so each stands for itself.
        groups.setdefault((key, at if isinstance(value, Column) else -1), []).append(value)
    for (key, _), values in groups.items():
        if key in (START_TIME, END_TIME):
            (value,) = values
            assert not isinstance(value, (Name, Names))
            yield [f', "{key.local}": "', lexical(value)[0], '"']
            continue
        word = {TYPE: "type", VALUE: "value"}.get(key, key.short)
        part: list[Piece] = [f', "{word}": [']
        for place, value in enumerate(values):
            part += [", " if place else "", *_value(key, value)]
        yield [*part, "]"]


def _value(key: Name, value: Value) -> list[Piece]:
    if isinstance(value, (Name, Names)):
        if key == TYPE:
            return ['"', *prefixed(value), '"']
        return ['{"@value": "', *prefixed(value), '", "@type": "xsd:QName"}']
    text, datatype = lexical(value)
    kind = "" if datatype is None else f', "@type": "{datatype.short}"'
    return ['{"@value": ', *json_string(text), f"{kind}}}"]


def _context() -> dict[str, Any]:
    """What the words of PROV-JSONLD mean; it follows from the table of kinds."""
    link = {"@type": "@id"}
    context: dict[str, Any] = {
        "@version": 1.1,
        "provext": "https://openprovenance.org/ns/provext#",
        "type": {"@id": "rdf:type", **link},
        "entity": {"@id": "prov:entity", **link},
        "activity": {"@id": "prov:activity", **link},
        "agent": {"@id": "prov:agent", **link},
    }
    times = {"startTime": "prov:startedAtTime", "endTime": "prov:endedAtTime"}
    for kind in KINDS.values():
        inner: dict[str, Any] = {}
        space = "prov" if kind.qualified or not kind.roles else "provext"
        if kind.roles:
            own = kind.qualified or f"qualified{kind.type}"
            inner[kind.roles[0]] = {"@reverse": f"{space}:{own}", **link}
            others = kind.properties or (_WORDS[kind.word],)
            for role, word in zip(kind.roles[1:], others, strict=True):
                inner[role] = {"@id": f"{space}:{word}", **link}
        elif kind.word == "activity":
            inner = {word: {"@id": id, "@type": "xsd:dateTime"} for word, id in times.items()}
        elif kind.word == "entity":
            inner = {"value": {"@id": "prov:value"}}
        context.setdefault(_type(kind), {"@id": f"{space}:{kind.type}", "@context": inner})
    return context

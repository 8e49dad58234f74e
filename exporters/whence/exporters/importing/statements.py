"""What a PROV file says, by IRI, as far as a record can be made of it."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from whence.engine.errors import LogError, MissingExtraError, ParameterError
from whence.engine.sources.repeated import repeated
from whence.exporters.prov.formats import IMPORTED, TABLE, format_of
from whence.exporters.prov.identifiers import PROV, RDF, WHENCE

__all__ = ["MOST", "Relation", "Statements", "Typed", "each_type", "read_statements"]

MOST = 256 << 20
"""Bytes of a file, unpacked, unless more are allowed: what is read is held in memory."""

_BLOCK = 1 << 20
_SHOWN = 200
_THINGS = ("entity", "activity", "agent")
_RELATIONS = {
    "wasDerivedFrom": ("generatedEntity", "usedEntity"),
    "wasInfluencedBy": ("influencee", "influencer"),
}
_QUALIFIED = {
    f"{PROV.iri}qualifiedDerivation": ("wasDerivedFrom", f"{PROV.iri}entity"),
    f"{PROV.iri}qualifiedInfluence": ("wasInfluencedBy", f"{PROV.iri}influencer"),
}
_SAME = {
    f"{RDF.iri}type": "type",
    f"{PROV.iri}startedAtTime": "startTime",
    f"{PROV.iri}endedAtTime": "endTime",
}


@dataclass(frozen=True)
class Relation:
    """A derivation or an influence."""

    word: str
    first: str
    second: str
    said: Mapping[str, list[Any]]


@dataclass
class Statements:
    """One bundle.

    Attributes:
        things: entities, activities and agents, by IRI, with what is said of them; names in it are
            IRIs, words of PROV and of Whence are without their namespace.
        relations: derivations and influences.
        members: collection and member.
    """

    things: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    members: list[tuple[str, str]] = field(default_factory=list)


def read_statements(
    path: Path, format: str | None = None, most: int = MOST
) -> dict[str, Statements]:
    """The bundles of a file, by name.

    Args:
        path: the file.
        format: the format, if the file's extension does not determine it.
        most: the most bytes, unpacked, that are read.

    Raises:
        LogError: the file is damaged, or too large, or is no such file.
    """
    chosen = format_of(path, format)
    if chosen not in IMPORTED:
        msg = (
            f"{path.name}: expected one of {', '.join(IMPORTED)}; got {chosen}; "
            "try exporting it as prov-json"
        )
        raise ParameterError(msg)
    data = _bytes(path, most)
    return _of_json(path, data) if TABLE[chosen].rdf is None else _of_rdf(path, data, chosen)


def _bytes(path: Path, most: int) -> bytes:
    """The file, unpacked; never more of it than is allowed, however little it weighs packed."""
    data = bytearray()
    opened = gzip.open if path.name.endswith(".gz") else open
    try:
        with opened(path, "rb") as file:
            while block := file.read(_BLOCK):
                data += block
                if len(data) > most:
                    msg = (
                        f"{path.name}: expected at most {most >> 20:,} MB unpacked; got more; try "
                        "--limit with more MB, if there is memory for about 15 times as much, or "
                        "fewer runs in one file"
                    )
                    raise LogError(msg)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{path}: expected a file that can be read; got: {error}; try another copy of it"
        raise LogError(msg) from error
    return bytes(data)


def _damaged(path: Path, error: Exception) -> LogError:
    """What a damaged file is answered with; the file decides how long Python's message is."""
    lines = str(error).splitlines() or [type(error).__name__]
    msg = f"{path.name}: expected PROV that Whence wrote; got: {lines[0][:_SHOWN]}"
    return LogError(f"{msg}; try exporting it again")


def _word(iri: str) -> str:
    """A word without its namespace, if it is one of PROV or of Whence."""
    for space in (PROV.iri, WHENCE.iri):
        if iri.startswith(space):
            return iri[len(space) :]
    return iri


def _of_json(path: Path, data: bytes) -> dict[str, Statements]:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        if len(made) < len(found):
            twice = repeated(key for key, _ in found)
            msg = f"the key {twice!r} twice in one object"
            raise ValueError(msg)
        return made

    try:
        document = json.loads(data, object_pairs_hook=pairs)
        names = _Names(document["prefix"])
        return {
            names.iri(name): _bundle(names, bundle) for name, bundle in document["bundle"].items()
        }
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(path, error) from error


class _Names:
    """Short names and literals of PROV-JSON."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = {"prov": PROV.iri, **prefixes}

    def iri(self, short: str) -> str:
        prefix, _, local = short.partition(":")
        if prefix not in self._prefixes:
            msg = f"the prefix {prefix[:_SHOWN]!r}, which is not declared"
            raise ValueError(msg)
        return self._prefixes[prefix] + local

    def value(self, written: Any) -> Any:
        if not isinstance(written, dict):
            return written
        text, kind = written["$"], written["type"]
        if kind == "xsd:QName":
            return self.iri(text)
        return _literal(str(text), kind.partition(":")[2])

    def said(self, record: Mapping[str, Any]) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for key, value in record.items():
            values = value if isinstance(value, list) else [value]
            found[_word(self.iri(key))] = [self.value(each) for each in values]
        return found


def _bundle(names: _Names, sections: Mapping[str, Any]) -> Statements:
    stated = Statements()
    for kind in _THINGS:
        for name, record in sections.get(kind, {}).items():
            stated.things[names.iri(name)] = names.said(record)
    for word, (first, second) in _RELATIONS.items():
        for record in sections.get(word, {}).values():
            said = names.said(record)
            ends = (names.iri(said[first][0]), names.iri(said[second][0]))
            stated.relations.append(Relation(word, *ends, said))
    for record in sections.get("hadMember", {}).values():
        pair = (names.iri(record["prov:collection"]), names.iri(record["prov:entity"]))
        stated.members.append(pair)
    return stated


def _of_rdf(path: Path, data: bytes, format: str) -> dict[str, Statements]:
    try:
        import pyoxigraph as ox
    except ImportError as error:
        raise MissingExtraError.for_extra("prov", "pyoxigraph") from error
    syntax = getattr(ox.RdfFormat, TABLE[format].rdf or "")
    about: dict[str, dict[str, dict[str, list[Any]]]] = {}
    try:
        for quad in ox.parse(data, syntax):
            if isinstance(quad.graph_name, ox.NamedNode):
                graph = about.setdefault(quad.graph_name.value, {})
                known = graph.setdefault(quad.subject.value, {})
                known.setdefault(quad.predicate.value, []).append(_object(quad.object))
        return {name: _graph(graph) for name, graph in about.items()}
    except (SyntaxError, ValueError, AttributeError, LookupError, TypeError) as error:
        raise _damaged(path, error) from error


def _object(value: Any) -> Any:
    datatype = getattr(value, "datatype", None)
    if datatype is None:
        return value.value
    return _literal(value.value, datatype.value.rpartition("#")[2])


def _graph(graph: Mapping[str, Mapping[str, list[Any]]]) -> Statements:
    stated = Statements()
    qualified: dict[str, tuple[str, str, str]] = {}
    for subject, known in graph.items():
        for property_, (word, end) in _QUALIFIED.items():
            qualified.update({node: (word, subject, end) for node in known.get(property_, ())})
        members = known.get(f"{PROV.iri}hadMember", ())
        stated.members.extend((subject, member) for member in members)
    for node, known in graph.items():
        said = {_SAME.get(key, _word(key)): values for key, values in known.items()}
        if node not in qualified:
            stated.things[node] = said
        else:
            word, subject, end = qualified[node]
            stated.relations.append(Relation(word, subject, known[end][0], said))
    return stated


def _literal(text: str, kind: str) -> Any:
    if kind in ("integer", "long", "int"):
        return int(text)
    if kind == "boolean":
        return text == "true"
    if kind == "double":
        return float(text.replace("INF", "inf"))
    if kind == "dateTime":
        return datetime.fromisoformat(text)
    return text if kind == "string" else Typed(text, kind)


@dataclass(frozen=True)
class Typed:
    """A literal of another datatype."""

    text: str
    kind: str


def each_type(known: Mapping[str, list[Any]]) -> Iterator[str]:
    """The classes of a thing or relation, words of Whence without their namespace."""
    for name in known.get("type", ()):
        yield _word(str(name))

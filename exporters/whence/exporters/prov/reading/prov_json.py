"""Read PROV-JSON, record by record; a file larger than memory's share of it is no trouble."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whence.engine.errors import WhenceError
from whence.engine.sources.ocel.json_stream import JsonStream
from whence.exporters.prov.reading.instance import Document, Instance
from whence.exporters.prov.reading.kinds import KINDS, RESERVED, Kind
from whence.exporters.prov.reading.naming import PROV, Namespaces, UndeclaredPrefix, check_prov
from whence.exporters.prov.reading.source import Source

__all__ = ["Records", "read_prov_json"]

_TYPE, _OTHER, _MISPLACED, _TIME = -1, -2, -3, 100
_NAMES = ("xsd:QName", "prov:QUALIFIED_NAME", "prov:QualifiedName", "xsd:anyURI")
Prefixes = dict[str | None, dict[str, str]]


def read_prov_json(source: Source) -> Document:
    """Read a file.

    Raises:
        WhenceError: it is no PROV-JSON.
    """
    try:
        return _read(source.json(), source.where, {})
    except UndeclaredPrefix:
        # Prefixes may come after the names that need them.
        prefixes = _prefixes(source.json(), source.where)
        return _read(source.json(), source.where, prefixes)


def _read(stream: JsonStream, where: str, prefixes: Prefixes) -> Document:
    document = Document()
    reading = Records(document, where, prefixes)
    spaces = reading.spaces(None, Namespaces(where, {}))
    for section in reading.once(stream.members(), "the document"):
        if section == "bundle":
            for name in reading.once(stream.fields(), "bundle"):
                inner = reading.spaces(name, spaces)
                instance = document.bundle(inner.iri(name))
                for part in reading.once(stream.fields(), name):
                    reading.section(stream, part, instance, inner)
        else:
            reading.section(stream, section, document.top, spaces)
    return document


def _prefixes(stream: JsonStream, where: str) -> Prefixes:
    """The prefixes of the document and of each bundle, wherever in the file they are."""
    found: Prefixes = {}
    for section in stream.members():
        if section == "prefix":
            found[None] = _declared(stream.value(), where)
        elif section == "bundle":
            for name in stream.fields():
                for part in stream.fields():
                    if part == "prefix":
                        found[name] = _declared(stream.value(), where)
                    else:
                        _skip(stream)
        else:
            _skip(stream)
    return found


def _declared(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(iri, str) for iri in value.values()):
        msg = f'{where}: expected "prefix" to give each prefix its IRI; got something else; ' + (
            'try {"ex": "http://example.org/"}'
        )
        raise WhenceError(msg)
    known = {("" if prefix == "default" else prefix): iri for prefix, iri in value.items()}
    check_prov(known.get("prov", PROV), where)
    return known


def _skip(stream: JsonStream) -> None:
    if stream.begins_object():
        for _ in stream.fields():
            stream.value()
    else:
        stream.value()


class Records:
    """Turns records into statements; what is known while a file is read."""

    def __init__(self, document: Document, where: str, prefixes: Prefixes) -> None:
        """Begin to read.

        Args:
            document: where statements go.
            where: the file's name, for messages.
            prefixes: those that are known before, of the document and of its bundles.
        """
        self.document, self.where, self.prefixes = document, where, prefixes

    def spaces(self, bundle: str | None, outer: Namespaces) -> Namespaces:
        """The prefixes that hold in a bundle."""
        known = self.prefixes.get(bundle, {})
        self._shown(known)
        return outer.within(known)

    def _shown(self, known: dict[str, str]) -> None:
        for prefix, iri in known.items():
            self.document.prefixes.setdefault(iri, prefix)

    def once(self, names: Iterator[str], inside: str) -> Iterator[str]:
        """The names, each of them once."""
        seen: set[str] = set()
        for name in names:
            if name in seen:
                msg = (
                    f"{self.where}: expected each name once in {inside[:60]}; got {name[:60]!r} "
                    "twice; try a list of records under one name"
                )
                raise WhenceError(msg)
            seen.add(name)
            yield name

    def section(
        self, stream: JsonStream, word: str, instance: Instance, spaces: Namespaces
    ) -> None:
        """Read all records of one kind."""
        if word == "prefix":
            known = _declared(stream.value(), self.where)
            spaces.declare(known)
            self._shown(known)
            return
        kind = KINDS.get(word)
        if not stream.begins_object():
            msg = (
                f"{self.where}: expected an object of records under {word[:60]!r}; "
                "got something else; try PROV-JSON"
            )
            raise WhenceError(msg)
        for name in self.once(stream.fields(), word):
            value = stream.value()
            if kind is None:
                self.document.unchecked[word[:60]] += len(value) if isinstance(value, list) else 1
                continue
            for record in value if isinstance(value, list) else (value,):
                if not isinstance(record, dict):
                    msg = (
                        f"{self.where}: expected a record under {name[:60]!r}; "
                        f"got {str(record)[:40]!r}; try an object"
                    )
                    raise WhenceError(msg)
                self.record(instance, spaces, kind, name, record)

    def record(
        self, instance: Instance, spaces: Namespaces, kind: Kind, name: str, record: dict[str, Any]
    ) -> None:
        """Add the statement, or statements, of one record."""
        own = 0
        if kind.element or (kind.named and not name.startswith("_:")):
            own = instance.number(spaces.iri(name))
        places = spaces.places.setdefault(kind.word, {})
        slots, times, more = [0] * len(kind.slots), [0] * len(kind.times), None
        for key, value in record.items():
            place = places.get(key)
            if place is None:
                place = places[key] = _place(kind, spaces.key(key))
            if place >= _TIME:
                times[place - _TIME] = instance.time(self._text(value, key), kind.word)
            elif place >= 0:
                if isinstance(value, list):
                    more = (place, value)
                    value = value[0] if value else ""
                slots[place] = self._name(instance, spaces, kind, place, value, key)
            elif place == _TYPE:
                for each in value if isinstance(value, list) else (value,):
                    if self._type(each, spaces) == PROV + "EmptyCollection":
                        instance.empty.add(own)
            elif isinstance(value, dict) and not {"$", "@value", "@id"} & value.keys():
                msg = (
                    f"{self.where}: expected a value under {key[:60]!r}; got an object without "
                    'one; try {"$": "…", "type": "xsd:string"}'
                )
                raise WhenceError(msg)
            elif place == _MISPLACED:
                instance.fault(kind.word, f"{key[:60]} is no attribute of {kind.word}")
        instance.add(kind.word, own, slots, times)
        if more is not None:
            place, values = more
            for value in values[1:]:
                slots[place] = self._name(instance, spaces, kind, place, value, "")
                instance.add(kind.word, own, slots, times)

    def _name(
        self, instance: Instance, spaces: Namespaces, kind: Kind, place: int, value: Any, key: str
    ) -> int:
        text = value if isinstance(value, str) else self._text(value, key)
        if not kind.types[place] and kind.word == "wasDerivedFrom" and text.startswith("_:"):
            return 0  # a generation or usage that has no name
        return instance.number(spaces.iri(text)) if text else 0

    def _text(self, value: Any, key: str) -> str:
        if isinstance(value, dict):
            value = value.get("$", value.get("@value"))
        if not isinstance(value, str):
            msg = (
                f"{self.where}: expected text under {key[:60]!r}; got {str(value)[:40]!r}; "
                "try a qualified name or a time in quotes"
            )
            raise WhenceError(msg)
        return value

    def _type(self, value: Any, spaces: Namespaces) -> str | None:
        if isinstance(value, str) and spaces.linked:
            return spaces.said(value)
        if isinstance(value, dict) and value.get("type") in _NAMES:
            text = value.get("$")
            if isinstance(text, str):
                return text if value["type"] == "xsd:anyURI" else spaces.said(text)
        return None


def _place(kind: Kind, iri: str) -> int:
    if not iri.startswith(PROV):
        return _OTHER
    local = iri[len(PROV) :]
    if local in kind.slots:
        return kind.slots.index(local)
    if local in kind.times:
        return _TIME + kind.times.index(local)
    if local == "type":
        return _TYPE
    return _MISPLACED if local in RESERVED else _OTHER

"""Read PROV-JSONLD: one object a statement, in words of its own that are not those of PROV-O.

The context that gives these words their meaning is known and is not fetched; of the contexts in the
file only the prefixes are read.
"""

from __future__ import annotations

from typing import Any, NoReturn

from whence.engine.errors import WhenceError
from whence.engine.sources.ocel.json_stream import JsonStream
from whence.exporters.prov.reading.instance import Document, Instance
from whence.exporters.prov.reading.kinds import KINDS
from whence.exporters.prov.reading.naming import Namespaces, UndeclaredPrefix, check_prov
from whence.exporters.prov.reading.prov_json import Records
from whence.exporters.prov.reading.source import Source

__all__ = ["read_prov_jsonld"]

_WORDS = {
    "Entity": "entity",
    "Activity": "activity",
    "Agent": "agent",
    "Generation": "wasGeneratedBy",
    "Usage": "used",
    "Communication": "wasInformedBy",
    "Start": "wasStartedBy",
    "End": "wasEndedBy",
    "Invalidation": "wasInvalidatedBy",
    "Derivation": "wasDerivedFrom",
    "Attribution": "wasAttributedTo",
    "Association": "wasAssociatedWith",
    "Delegation": "actedOnBehalfOf",
    "Influence": "wasInfluencedBy",
    "Specialization": "specializationOf",
    "Alternate": "alternateOf",
    "Membership": "hadMember",
    "Mention": "mentionOf",
}
"""The types of PROV-JSONLD, and the kinds of statement they stand for."""


def read_prov_jsonld(source: Source) -> Document:
    """Read a file.

    Raises:
        WhenceError: it is no PROV-JSONLD.
    """
    try:
        return _Reading(source.where).read(source.json())
    except UndeclaredPrefix:
        # The context may come after what it applies to.
        reading = _Reading(source.where)
        reading.look(source.json())
        return reading.read(source.json())


class _Reading:
    def __init__(self, where: str) -> None:
        self.document, self.where = Document(), where
        self.records = Records(self.document, where, {})
        self.spaces = Namespaces(where, {}, linked=True)

    def look(self, stream: JsonStream) -> None:
        """Find the context of the document, wherever it is."""
        for name in stream.members():
            value = stream.value()
            if name == "@context":
                self._context(value, self.spaces)

    def read(self, stream: JsonStream) -> Document:
        for name in stream.members():
            if name == "@graph":
                self._graph(stream, self.document.top, self.spaces)
            else:
                value = stream.value()
                if name == "@context":
                    self._context(value, self.spaces)
        return self.document

    def _context(self, value: Any, spaces: Namespaces) -> None:
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, dict):
                continue
            for prefix, iri in part.items():
                if isinstance(iri, str) and iri[-1:] in ("#", "/", ":", "_", "?", "="):
                    if prefix == "prov":
                        check_prov(iri, self.where)
                    spaces.declare({"" if prefix == "@vocab" else prefix: iri})
                    self.document.prefixes.setdefault(iri, prefix)

    def _graph(self, stream: JsonStream, instance: Instance, spaces: Namespaces) -> None:
        for _ in stream.places():
            record: dict[str, Any] = {}
            inner = spaces
            for name in self.records.once(stream.fields(), "one object"):
                if name == "@graph":
                    if "@id" not in record:
                        self._refuse("a bundle with its @id before its @graph", "none")
                    bundle = self.document.bundle(inner.iri(str(record["@id"])))
                    self._graph(stream, bundle, inner)
                    record["@graph"] = True
                    continue
                record[name] = stream.value()
                if name == "@context":
                    inner = spaces.within({})
                    self._context(record.pop(name), inner)
            if "@graph" not in record:
                self._statement(record, instance, inner)

    def _statement(self, record: dict[str, Any], instance: Instance, spaces: Namespaces) -> None:
        types = record.pop("@type", "")
        type_ = types[0] if isinstance(types, list) and types else types
        if not isinstance(type_, str):
            self._refuse("a type in quotes under @type", str(type_)[:40])
        word = _WORDS.get(type_.removeprefix("prov:"))
        if word is None:
            self.document.unchecked[type_[:60] or "without @type"] += 1
            return
        name = record.pop("@id", "_:")
        if not isinstance(name, str):
            self._refuse("a name in quotes under @id", str(name)[:40])
        self.records.record(instance, spaces, KINDS[word], name, record)

    def _refuse(self, expected: str, got: str) -> NoReturn:
        msg = f"{self.where}: expected {expected}; got {got}; try PROV-JSONLD"
        raise WhenceError(msg)

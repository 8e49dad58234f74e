"""Read PROV-XML with Expat, which is given no document type and so no entity to expand."""

from __future__ import annotations

from typing import NoReturn
from xml.parsers import expat

from whence.engine.errors import WhenceError
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import LogBytes, on_one_line
from whence.engine.sources.xes.pieces import xml_parser
from whence.exporters.prov.reading.instance import Document, Instance
from whence.exporters.prov.reading.kinds import KINDS, RESERVED, Kind
from whence.exporters.prov.reading.naming import PROV, Namespaces
from whence.exporters.prov.reading.source import Source

__all__ = ["read_prov_xml"]

_BLOCK = 1 << 20
_SUBTYPES = {
    "plan": "entity",
    "collection": "entity",
    "emptyCollection": "entity",
    "bundle": "entity",
    "person": "agent",
    "organization": "agent",
    "softwareAgent": "agent",
    "wasRevisionOf": "wasDerivedFrom",
    "wasQuotedFrom": "wasDerivedFrom",
    "hadPrimarySource": "wasDerivedFrom",
}


def read_prov_xml(source: Source) -> Document:
    """Read a file.

    Raises:
        WhenceError: it is no PROV-XML.
    """
    document = Document()
    _Reading(document, source.where, source.limits).read(source.bytes())
    return document


class _Record:
    """The statement that is being read."""

    def __init__(self, kind: Kind, own: int) -> None:
        self.kind, self.own = kind, own
        self.slots: list[list[int]] = [[] for _ in kind.slots]
        self.times = [0] * len(kind.times)
        self.faults: list[str] = []
        self.empty = False


class _Reading:
    def __init__(self, document: Document, where: str, limits: Limits) -> None:
        self.document, self.where, self.limits = document, where, limits
        self.parser = xml_parser(where, "a PROV document")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.buffer_text = True
        self.spaces = [Namespaces(where, {"prov": ""})]
        self.path: list[str] = []
        self.instance: Instance = document.top
        self.record: _Record | None = None
        self.waiting: tuple[str, int] | None = None
        self.text: list[str] | None = None
        self.length = self.byte = self.since = 0
        self.is_name = False

    def read(self, stream: LogBytes) -> None:
        over = False
        while not over:
            block = stream.read(_BLOCK)
            over = not block
            try:
                self.parser.Parse(block, over)
            except expat.ExpatError as fault:
                said = expat.ErrorString(fault.code)
                msg = f"{self.where}, line {fault.lineno}: expected XML; got {said}; " + (
                    "try mending the file"
                )
                raise WhenceError(msg) from fault
            self.byte += len(block)
            self.limits.check("row", self.byte - self.since, self.where)

    def _refuse(self, expected: str, got: str, hint: str) -> NoReturn:
        line = self.parser.CurrentLineNumber
        msg = f"{self.where}, line {line}: expected {expected}; got {got}; try {hint}"
        raise WhenceError(msg)

    def _start(self, raw: str, found: dict[str, str]) -> None:
        self.since = self.byte
        declared = {
            name[6:]: iri for name, iri in found.items() if name == "xmlns" or name[:6] == "xmlns:"
        }
        for prefix, iri in declared.items():
            self.document.prefixes.setdefault(iri, prefix)
        self.spaces.append(self.spaces[-1].within(declared) if declared else self.spaces[-1])
        self.path.append(raw)
        self.limits.check("nesting", len(self.path), self.where)
        word = self._prov(raw)
        depth = len(self.path)
        if depth == 1:
            if word != "document":
                self._refuse(f"<document> of {PROV}", f"<{on_one_line(raw[:60])}>", "PROV-XML")
        elif self.record is not None:
            if depth == self._at + 1:
                self._child(word, raw, found)
        elif word is not None:
            self._statement(word, found)
        elif self.waiting is None:
            self.document.unchecked[raw[:60]] += 1
            self._open(None, 0)

    def _prov(self, raw: str) -> str | None:
        """The word of an element, if it is PROV's."""
        prefix, colon, local = raw.partition(":")
        space = self.spaces[-1].space(prefix if colon else "")
        return (local if colon else raw) if space == PROV else None

    def _attribute(self, found: dict[str, str], local: str) -> str | None:
        for name, value in found.items():
            prefix, colon, word = name.partition(":")
            if word == local and colon and self.spaces[-1].space(prefix) == PROV:
                return value
        return found.get(local)

    def _statement(self, word: str, found: dict[str, str]) -> None:
        id = self._attribute(found, "id")
        if self.waiting is not None:
            if word not in KINDS and word not in _SUBTYPES:
                return  # an attribute of the entity that a bundle is
            self.instance = self.document.bundle(self.document.top.texts[self.waiting[1]])
            self.waiting = None
        if word in ("bundleContent", "bundle") and self.instance.name is None:
            if id is None:
                self._refuse("a bundle with an id", "none", 'prov:id="ex:b"')
            name = self.spaces[-1].iri(id)
            if word == "bundle":
                # An entity that is a bundle, or (as some write it) the bundle's content.
                self.waiting = (word, self.document.top.number(name))
            else:
                self.instance = self.document.bundle(name)
            return
        kind = KINDS.get(_SUBTYPES.get(word, word))
        if kind is None:
            self.document.unchecked[word[:60]] += 1
            self._open(None, 0)
            return
        own = 0
        if id is not None and kind.named:
            own = self.instance.number(self.spaces[-1].iri(id))
        self._open(kind, own)
        assert self.record is not None
        self.record.empty = word == "emptyCollection"

    def _open(self, kind: Kind | None, own: int) -> None:
        self._at = len(self.path)
        self.record = _Record(kind or KINDS["entity"], own)
        self.known = kind is not None

    def _child(self, word: str | None, raw: str, found: dict[str, str]) -> None:
        record = self.record
        assert record is not None
        if word is None or not self.known:
            return
        spaces = self.spaces[-1]
        if word in record.kind.slots:
            name = self._attribute(found, "ref")
            if name:
                number = self.instance.number(spaces.iri(name))
                record.slots[record.kind.slots.index(word)].append(number)
        elif word in record.kind.times:
            self.text, self.length, self.is_name = [], 0, False
        elif word == "type":
            said = next((v for k, v in found.items() if k.partition(":")[2] == "type"), "")
            self.text, self.length, self.is_name = [], 0, said.partition(":")[2] == "QName"
        elif word in RESERVED:
            record.faults.append(f"{raw[:60]} is no attribute of {record.kind.word}")

    def _characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)
            self.length += len(text)
            self.limits.check("text", self.length, self.where)

    def _end(self, raw: str) -> None:
        depth = len(self.path)
        word = self._prov(raw)
        if self.record is not None and depth == self._at + 1 and self.text is not None:
            self._value(word, "".join(self.text).strip())
            self.text = None
        elif self.record is not None and depth == self._at:
            if self.known:
                self._add(self.record)
            self.record = None
        elif self.waiting is not None and word == "bundle":
            self.document.top.add("entity", self.waiting[1])
            self.waiting = None
        elif self.record is None and word in ("bundleContent", "bundle"):
            self.instance = self.document.top
        self.path.pop()
        self.spaces.pop()

    def _value(self, word: str | None, text: str) -> None:
        record = self.record
        assert record is not None
        if word in record.kind.times:
            number = self.document.times.number(text)
            if number is None:
                record.faults.append(f"{text[:60]!r} is no xsd:dateTime")
            else:
                record.times[record.kind.times.index(word)] = number
        elif self.is_name:
            record.empty |= self.spaces[-1].said(text) == PROV + "EmptyCollection"

    def _add(self, record: _Record) -> None:
        word = record.kind.word
        for fault in record.faults:
            self.instance.fault(word, fault)
        first = [column[0] if column else 0 for column in record.slots]
        self.instance.add(word, record.own, first, record.times)
        for place, column in enumerate(record.slots):
            for number in column[1:]:  # several members of a collection
                again = [*first[:place], number, *first[place + 1 :]]
                self.instance.add(word, record.own, again, record.times)
        if record.empty and word == "entity":
            self.instance.empty.add(record.own)

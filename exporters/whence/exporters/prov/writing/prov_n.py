"""PROV-N, PROV's notation for people: one line a statement, written as they come."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from whence.exporters.prov.identifiers import PROV, XSD, Name
from whence.exporters.prov.rows import (
    Names,
    Piece,
    Rows,
    Value,
    lexical,
    optional,
    prefixed,
    replaced,
    written,
)
from whence.exporters.prov.statements import END_TIME, START_TIME, Document, Statement
from whence.exporters.prov.writing.nquads import check_iris

__all__ = ["prov_n"]

_SPECIAL = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPES = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\r"): "\\r"}
_TIMES = (START_TIME, END_TIME)


def prov_n(document: Document, _beside: Path | None = None) -> Iterator[bytes | memoryview]:
    """The text of a document, line by line."""
    check_iris(document)
    yield b"document\n"
    for space in document.namespaces:
        if space not in (PROV, XSD):  # known to every reader
            yield f"prefix {space.prefix} <{space.iri}>\n".encode()
    yield from _lines(document.top)
    for bundle in document.bundles:
        yield f"bundle {bundle.name.short}\n".encode()
        yield from _lines(bundle.statements())
        yield b"endBundle\n"
    yield b"endDocument\n"


def _lines(statements: Iterable[Statement | Rows]) -> Iterator[bytes | memoryview]:
    for statement in statements:
        yield written([f"{statement.kind.word}(", *_arguments(statement), ")\n"])


def _arguments(statement: Statement | Rows) -> list[Piece]:
    kind, pieces = statement.kind, list[Piece]()
    if statement.id is not None:
        pieces += [*prefixed(statement.id), "; " if kind.roles else ""]
    for number, _ in enumerate(kind.roles):
        end = statement.ends[number] if number < len(statement.ends) else None
        pieces += [", " if number else "", *(["-"] if end is None else prefixed(end))]
    pieces.append(", -" * kind.rest)
    times = {key: value for key, value in statement.attributes if key in _TIMES}
    for key in _TIMES if times else ():
        value = times.get(key)
        assert not isinstance(value, (Name, Names))
        pieces += [", ", "-" if value is None else lexical(value)[0]]
    said = [each for each in statement.attributes if each[0] not in _TIMES]
    if said:
        pieces.append(", [")
        for number, (key, value) in enumerate(said):
            # The first is a type, which is the same for all and never missing.
            pieces += optional([", " if number else "", f"{key.short}=", *_value(value)])
        pieces.append("]")
    return pieces


def _value(value: Value) -> list[Piece]:
    if isinstance(value, (Name, Names)):
        return ["'", *prefixed(value), "'"]
    text, datatype = lexical(value)
    if datatype is None:
        return ['"', replaced(text, _SPECIAL, lambda t: t.translate(_ESCAPES)), '"']
    return ['"', text, f'" %% {datatype.short}']

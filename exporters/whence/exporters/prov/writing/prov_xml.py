"""PROV-XML, written as statements come; what XML cannot hold is escaped.

A character that XML has no way to write, such as U+0001, becomes a backslash, ``u`` and four
digits. The order inside an element is that of the schema: ends, times, types, value, the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

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
from whence.exporters.prov.statements import END_TIME, START_TIME, TYPE, VALUE, Document, Statement
from whence.exporters.prov.writing.nquads import check_iris

__all__ = ["prov_xml", "xml_text"]

_SPECIAL = re.compile("[\\x00-\\x08\\x0b-\\x1f&<>\ufffe\uffff]")
_FIRST = (START_TIME, END_TIME, TYPE, VALUE)


_UNWRITABLE = {
    code: f"\\u{code:04x}" for code in (*range(0x20), 0xFFFE, 0xFFFF) if chr(code) not in "\t\n\r"
}


_ESCAPES = {
    **_UNWRITABLE,
    **{ord("\r"): "&#13;", ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"},
}


def xml_text(text: str) -> str:
    r"""Text without the characters that XML has no way to write; they are escaped.

    >>> print(xml_text("a\x01b"))
    a\u0001b
    """
    return text.translate(_UNWRITABLE)


def prov_xml(document: Document, _beside: Path | None = None) -> Iterator[bytes | memoryview]:
    """The text of a document, element by element."""
    check_iris(document)
    known = {space.prefix: space.iri for space in document.namespaces}
    known.update(
        {
            PROV.prefix: PROV.iri,
            XSD.prefix: XSD.iri.rstrip("#"),  # XML's own name of it
            "xsi": "http://www.w3.org/2001/XMLSchema-instance",
        }
    )
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n<prov:document'
    for prefix, iri in known.items():
        yield f"\n    xmlns:{prefix}={quoteattr(iri)}".encode()
    yield b">\n"
    yield from _elements(document.top)
    for bundle in document.bundles:
        yield f'<prov:bundleContent prov:id="{bundle.name.short}">\n'.encode()
        yield from _elements(bundle.statements())
        yield b"</prov:bundleContent>\n"
    yield b"</prov:document>\n"


def _elements(statements: Iterable[Statement | Rows]) -> Iterator[bytes | memoryview]:
    for statement in statements:
        kind = statement.kind
        pieces: list[Piece] = [f"<prov:{kind.word}"]
        if statement.id is not None:
            pieces += [' prov:id="', *prefixed(statement.id), '"']
        pieces.append(">")
        for role, end in zip(kind.roles, statement.ends, strict=False):
            if end is not None:
                pieces += [f'<prov:{role} prov:ref="', *prefixed(end), '"/>']
        for key, value in sorted(statement.attributes, key=_rank):
            pieces += optional(_attribute(key, value))
        yield written([*pieces, f"</prov:{kind.word}>\n"])


def _rank(said: tuple[Name, Value]) -> int:
    return _FIRST.index(said[0]) if said[0] in _FIRST else len(_FIRST)


def _attribute(key: Name, value: Value) -> list[Piece]:
    if isinstance(value, (Name, Names)):
        text: list[Piece] = prefixed(value)
        kind = ' xsi:type="xsd:QName"'
    else:
        plain, datatype = lexical(value)
        text = [replaced(plain, _SPECIAL, lambda t: t.translate(_ESCAPES))]
        timed = key in (START_TIME, END_TIME)
        kind = (
            "" if timed else f' xsi:type="{"xsd:string" if datatype is None else datatype.short}"'
        )
    return [f"<{key.short}{kind}>", *text, f"</{key.short}>"]

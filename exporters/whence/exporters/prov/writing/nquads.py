"""N-Quads: one line a statement of RDF, written as they come, in constant memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from whence.engine.errors import ParameterError
from whence.exporters.prov.identifiers import Name
from whence.exporters.prov.rows import (
    Names,
    Piece,
    Rows,
    Value,
    lexical,
    optional,
    replaced,
    written,
)
from whence.exporters.prov.statements import Document, Statement, triples

__all__ = ["check_iris", "nquads"]

_ESCAPES = {code: f"\\u{code:04X}" for code in (*range(0x20), 0x7F)}
_ESCAPES.update({ord("\n"): "\\n", ord("\r"): "\\r", ord('"'): '\\"', ord("\\"): "\\\\"})
_SPECIAL = re.compile(r'[\x00-\x1f\x7f"\\]')
_NO_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def nquads(document: Document, _beside: Path | None = None) -> Iterator[bytes | memoryview]:
    """The text of a document, a few whole lines at a time."""
    check_iris(document)
    yield from _lines(document.top, "")
    for bundle in document.bundles:
        yield from _lines(bundle.statements(), f" <{bundle.name.iri}>")


def check_iris(document: Document) -> None:
    """Refuse a namespace that is no IRI; every name of a document is in a checked one."""
    for space in document.namespaces:
        if ":" not in space.iri or _NO_IRI.search(space.iri):
            msg = f"an IRI: expected one without spaces and quotes; got {space.iri!r}; try mint()"
            raise ParameterError(msg)


def _lines(statements: Iterable[Statement | Rows], graph: str) -> Iterator[bytes | memoryview]:
    """The lines of each statement, in one piece."""
    for statement in statements:
        pieces: list[Piece] = []
        for subject, property_, value in triples(statement):
            middle = f" <{property_.space.iri}{property_.local}> "
            pieces += optional([*_iri(subject), middle, *_object(value), f"{graph} .\n"])
        yield written(pieces)


def _iri(name: Name | Names) -> list[Piece]:
    if isinstance(name, Names):
        return [f"<{name.space.iri}", name.local, ">"]
    return [f"<{name.space.iri}{name.local}>"]


def _object(value: Value) -> list[Piece]:
    if isinstance(value, (Name, Names)):
        return _iri(value)
    text, datatype = lexical(value)
    if datatype is None:
        return ['"', replaced(text, _SPECIAL, lambda t: t.translate(_ESCAPES)), '"']
    return ['"', text, f'"^^<{datatype.iri}>']

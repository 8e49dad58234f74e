"""N-Quads: one line a statement of RDF, written as they come, in constant memory."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from whence.engine.errors import ParameterError
from whence.exporters.identifiers import XSD, Name, Namespace
from whence.exporters.statements import Document, Literal, Statement, Typed, clean, time_text

__all__ = ["check_iri", "double_text", "lexical", "nquads"]

_ESCAPES = {code: f"\\u{code:04X}" for code in (*range(0x20), 0x7F)}
_ESCAPES.update({ord("\n"): "\\n", ord("\r"): "\\r", ord('"'): '\\"', ord("\\"): "\\\\"})
_PLAIN = re.compile(r'[^\x00-\x1f\x7f"\\]*')
_NO_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def nquads(document: Document) -> Iterator[str]:
    """The text of a document, a few whole lines at a time."""
    for space in document.namespaces:
        check_iri(space)
    yield from _lines(document.top, "")
    for bundle in document.bundles:
        yield from _lines(bundle.statements(), f" <{bundle.name.iri}>")


def check_iri(space: Namespace) -> None:
    """Refuse a namespace that is no IRI; every name of a document is in a checked one."""
    if ":" not in space.iri or _NO_IRI.search(space.iri):
        msg = f"an IRI: expected one without spaces and quotes; got {space.iri!r}; try mint()"
        raise ParameterError(msg)


def _lines(statements: Iterable[Statement], graph: str) -> Iterator[str]:
    """The lines of each statement, in one piece."""
    for statement in statements:
        lines = ""
        for subject, property_, value in statement.triples():
            if isinstance(value, Name):
                written = f"<{value.space.iri}{value.local}>"
            else:
                written = _literal(value)
            own = f"<{subject.space.iri}{subject.local}>"
            lines += f"{own} <{property_.space.iri}{property_.local}> {written}{graph} .\n"
        yield lines


def _literal(value: Literal) -> str:
    text, datatype = lexical(value)
    if not _PLAIN.fullmatch(text):
        text = text.translate(_ESCAPES)
    return f'"{text}"' if datatype is None else f'"{text}"^^<{datatype.iri}>'


_BOOLEAN, _INTEGER, _DOUBLE = Name(XSD, "boolean"), Name(XSD, "integer"), Name(XSD, "double")
_DATE_TIME = Name(XSD, "dateTime")


def lexical(value: Literal) -> tuple[str, Name | None]:
    """A literal as RDF has it: its text and its datatype; none for plain text.

    >>> lexical(41)[0], lexical(41)[1].short
    ('41', 'xsd:integer')
    >>> [lexical(v)[0] for v in (True, 0.1, float("-inf"))]
    ['true', '0.1', '-INF']
    """
    if isinstance(value, str):
        return clean(value), None
    if isinstance(value, bool):
        return ("true" if value else "false"), _BOOLEAN
    if isinstance(value, int):
        return str(value), _INTEGER
    if isinstance(value, float):
        return double_text(value), _DOUBLE
    if isinstance(value, datetime):
        return time_text(value), _DATE_TIME
    assert isinstance(value, Typed)
    return clean(value.text), value.datatype


def double_text(value: float) -> str:
    """A float as XML Schema writes it: every digit, and its own words for what is not finite."""
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"

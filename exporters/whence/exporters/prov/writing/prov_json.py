"""PROV-JSON, written in constant memory.

The syntax groups statements by kind. They come in any order, so each kind is first written to a
temporary file of its own, and the files are then concatenated.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from whence.engine.values.arrow_compute import pc
from whence.exporters.prov.identifiers import PROV, XSD, Name
from whence.exporters.prov.rows import (
    Column,
    Names,
    Piece,
    Rows,
    Value,
    lexical,
    number_texts,
    optional,
    prefixed,
    replaced,
    written,
)
from whence.exporters.prov.statements import END_TIME, START_TIME, Document, Statement
from whence.exporters.prov.writing.nquads import check_iris

__all__ = ["json_string", "prov_json"]

_EXACT = 16
"""From this number of digits on a JSON number is not read exactly everywhere."""

_BLOCK = 1 << 20
_SPECIAL = re.compile(r'[\x00-\x1f"\\]')
_NOT_FINITE = pa.array(["INF", "-INF", "NaN"])
_quote = json.JSONEncoder(ensure_ascii=False).encode


def prov_json(document: Document, beside: Path | None = None) -> Iterator[bytes | memoryview]:
    """The text of a document, piece by piece.

    Args:
        document: what to write.
        beside: a folder with room for about as much again as the document.
    """
    check_iris(document)
    known = {s.prefix: s.iri for s in document.namespaces if s not in (PROV, XSD)}
    yield ('{\n"prefix": ' + json.dumps(known, indent=0)).encode()
    yield from _sections(document.top, beside)
    yield b',\n"bundle": {'
    for number, bundle in enumerate(document.bundles):
        yield f"{',' if number else ''}\n{_quote(bundle.name.short)}: {{".encode()
        pieces = _sections(bundle.statements(), beside)
        first = next(pieces, None)
        if first is not None:
            yield first[1:]  # the comma
            yield from pieces
        yield b"}"
    yield b"}\n}\n"


def _sections(
    statements: Iterable[Statement | Rows], beside: Path | None
) -> Iterator[bytes | memoryview]:
    with ExitStack() as stack:
        files: dict[str, IO[bytes]] = {}
        members = 0
        for statement in statements:
            word = statement.kind.word
            if word not in files:
                files[word] = stack.enter_context(tempfile.TemporaryFile(dir=beside))
            files[word].write(written(_record(statement, members)))
            if statement.id is None:
                members += statement.count if isinstance(statement, Rows) else 1
        for word in sorted(files):
            yield f',\n"{word}": {{\n'.encode()
            file = files[word]
            file.seek(2)  # what separates the first from nothing
            while block := file.read(_BLOCK):
                yield block
            yield b"\n}"


def _record(statement: Statement | Rows, number: int) -> list[Piece]:
    parts: list[list[Piece]] = [
        [f'"prov:{role}": "', *prefixed(end), '"']
        for role, end in zip(statement.kind.roles, statement.ends, strict=False)
        if end is not None
    ]
    said: dict[tuple[Name, int], list[Value]] = {}
    for at, (key, value) in enumerate(statement.attributes):
        # Columns of one key are never there together, so each stands for itself.
        group = at if isinstance(value, Column) else -1
        said.setdefault((key, group), []).append(value)
    for (key, _), values in said.items():
        part: list[Piece] = [f'"{key.short}": ', "[" if len(values) > 1 else ""]
        for place, value in enumerate(values):
            part += [", " if place else "", *_value(key, value)]
        parts.append([*part, "]" if len(values) > 1 else ""])
    pieces: list[Piece] = [',\n"', *_own(statement, number), '": {']
    for place, part in enumerate(parts):
        pieces += optional([", " if place else "", *part])
    return [*pieces, "}"]


def _own(statement: Statement | Rows, number: int) -> list[Piece]:
    if statement.id is not None:
        return prefixed(statement.id)
    if isinstance(statement, Rows):
        return ["_:m", number_texts(np.arange(number, number + statement.count, dtype=np.int64))]
    return [f"_:m{number}"]


def _value(key: Name, value: Value) -> list[Piece]:
    if isinstance(value, (Name, Names)):
        return ['{"$": "', *prefixed(value), '", "type": "xsd:QName"}']
    text, datatype = lexical(value)
    if datatype is None:
        return json_string(text)
    if datatype.short == "xsd:boolean" or key in (START_TIME, END_TIME):
        return [text] if datatype.short == "xsd:boolean" else ['"', text, '"']
    if datatype.short in ("xsd:integer", "xsd:double"):
        return [_number(text, datatype.local)]
    return _typed(text, datatype.short)


def _number(text: Piece, kind: str) -> Piece:
    """A number of JSON where every reader takes it for the same number, else a typed text."""
    datatype = "xsd:long" if kind == "integer" else "xsd:double"
    if isinstance(text, str):
        plain = len(text) < _EXACT if kind == "integer" else text[-1].isdigit()
        return text if plain else "".join(map(str, _typed(text, datatype)))
    if kind == "integer":
        other = pc.greater_equal(pc.binary_length(text), _EXACT)
    else:
        other = pc.is_in(text, value_set=_NOT_FINITE)
    if not pc.any(other).as_py():
        return text
    typed = pc.binary_join_element_wise(*_typed(text, datatype), "")
    return pc.if_else(other, typed, text)


def json_string(text: Piece) -> list[Piece]:
    """A text of JSON, in its quotes."""
    return ['"', replaced(text, _SPECIAL, lambda t: _quote(t)[1:-1]), '"']


def _typed(text: Piece, datatype: str) -> list[Piece]:
    return ['{"$": ', *json_string(text), f', "type": "{datatype}"}}']

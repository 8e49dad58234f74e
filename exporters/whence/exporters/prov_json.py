"""PROV-JSON, written in constant memory.

The syntax groups statements by kind. They come in any order, so each kind is first written to a
file of its own, which nobody sees, and the files are then put one behind the other.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import IO

from whence.exporters.identifiers import PROV, XSD, Name
from whence.exporters.nquads import check_iri, double_text
from whence.exporters.statements import (
    END_TIME,
    START_TIME,
    Document,
    Literal,
    Statement,
    Typed,
    clean,
    time_text,
)

__all__ = ["prov_json"]

_EXACT = 2**53
"""From here on a JSON number is not read exactly everywhere."""

_BLOCK = 1 << 20
_quote = json.JSONEncoder(ensure_ascii=False).encode


def prov_json(document: Document, beside: Path | None = None) -> Iterator[str]:
    """The text of a document, piece by piece.

    Args:
        document: what to write.
        beside: a folder with room for about as much again as the document.
    """
    for space in document.namespaces:
        check_iri(space)
    known = {s.prefix: s.iri for s in document.namespaces if s not in (PROV, XSD)}
    yield '{\n"prefix": ' + json.dumps(known, indent=0)
    yield from _sections(document.top, beside)
    yield ',\n"bundle": {'
    for number, bundle in enumerate(document.bundles):
        yield f"{',' if number else ''}\n{_quote(bundle.name.short)}: {{"
        pieces = _sections(bundle.statements(), beside)
        first = next(pieces, None)
        if first is not None:
            yield first.removeprefix(",")
            yield from pieces
        yield "}"
    yield "}\n}\n"


def _sections(statements: Iterable[Statement], beside: Path | None) -> Iterator[str]:
    with ExitStack() as stack:
        files: dict[str, IO[str]] = {}
        for number, statement in enumerate(statements):
            word = statement.kind.word
            file = files.get(word)
            if file is None:
                file = stack.enter_context(
                    tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=beside)
                )
                files[word] = file
                file.write(_record(statement, number))
            else:
                file.write(",\n" + _record(statement, number))
        for word in sorted(files):
            yield f',\n"{word}": {{\n'
            file = files[word]
            file.seek(0)
            while block := file.read(_BLOCK):
                yield block
            yield "\n}"


def _record(statement: Statement, number: int) -> str:
    parts = [
        f'"prov:{role}": "{end.space.prefix}:{end.local}"'
        for role, end in zip(statement.kind.roles, statement.ends, strict=False)
        if end is not None
    ]
    if statement.attributes:
        values: dict[Name, list[str]] = {}
        for key, value in statement.attributes:
            values.setdefault(key, []).append(_value(key, value))
        for key, written in values.items():
            text = written[0] if len(written) == 1 else f"[{', '.join(written)}]"
            parts.append(f'"{key.space.prefix}:{key.local}": {text}')
    name = statement.id
    own = f"_:m{number}" if name is None else f"{name.space.prefix}:{name.local}"
    return f'"{own}": {{{", ".join(parts)}}}'


def _value(key: Name, value: Name | Literal) -> str:
    if isinstance(value, Name):
        return f'{{"$": "{value.space.prefix}:{value.local}", "type": "xsd:QName"}}'
    if isinstance(value, str):
        return _quote(clean(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < _EXACT else _typed(str(value), "xsd:long")
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else _typed(double_text(value), "xsd:double")
    if isinstance(value, datetime):
        text = time_text(value)
        return f'"{text}"' if key in (START_TIME, END_TIME) else _typed(text, "xsd:dateTime")
    assert isinstance(value, Typed)
    return _typed(clean(value.text), value.datatype.short)


def _typed(text: str, datatype: str) -> str:
    return f'{{"$": {_quote(text)}, "type": "{datatype}"}}'

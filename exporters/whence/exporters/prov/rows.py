"""Many statements of one shape in columns: no Python object for each of them.

Whatever a writer says of one statement it says of many: it makes a list of pieces, some of them the
same for every row, some a column of Arrow with a text for each row, and `written` puts them
together. Where a column holds nothing, the piece that it is part of is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from whence.engine.lineage.positions import Ints
from whence.engine.values.arrow_compute import pc
from whence.exporters.prov.identifiers import XSD, Name, Namespace
from whence.exporters.prov.statements import (
    Kind,
    Literal,
    Statement,
    Typed,
    clean,
    double_text,
    time_text,
)

__all__ = [
    "AT_ONCE",
    "Column",
    "Names",
    "Piece",
    "Rows",
    "Value",
    "each_statement",
    "lexical",
    "number_column",
    "number_texts",
    "optional",
    "prefixed",
    "replaced",
    "written",
]

Piece: TypeAlias = "str | pa.Array"
"""A part of what is written: the same for every row, or a column of texts."""

AT_ONCE = 16_384
"""Rows that are put together at once."""

_BOOLEAN, _INTEGER, _DOUBLE = Name(XSD, "boolean"), Name(XSD, "integer"), Name(XSD, "double")
_DATE_TIME = Name(XSD, "dateTime")


class Names(NamedTuple):
    """A name for each row, all in one namespace."""

    space: Namespace
    local: pa.Array

    @classmethod
    def numbered(cls, space: Namespace, *parts: str | Ints) -> Names:
        """Names that are made of texts and numbers.

        >>> from whence.exporters.prov.identifiers import mint
        >>> names = Names.numbered(Namespace("log", mint("log", "5f0c")), "e", np.array([3, 4]))
        >>> names.local.to_pylist()
        ['e3', 'e4']
        """
        texts = [part if isinstance(part, str) else number_texts(part) for part in parts]
        return cls(space, pc.binary_join_element_wise(*texts, ""))


class Column(NamedTuple):
    """A literal for each row: its text and the datatype of all; where there is none, nothing."""

    text: pa.Array
    datatype: Name | None


Value: TypeAlias = Name | Names | Literal | Column


@dataclass(frozen=True, slots=True)
class Rows:
    """Statements of one kind that say the same things; see `Statement`.

    Columns of one key are meant to hold something in different rows.

    Attributes:
        plain: whether RDF has the plain form too; not if another statement has the same.
    """

    kind: Kind
    count: int
    id: Names | None
    ends: tuple[Name | Names | None, ...] = ()
    attributes: tuple[tuple[Name, Value], ...] = ()
    plain: bool = True

    def each(self) -> Iterator[Statement]:
        """The same statements one by one."""
        for row in range(self.count):
            own = None if self.id is None else Name(self.id.space, self.id.local[row].as_py())
            said = ((key, _at(value, row)) for key, value in self.attributes)
            yield Statement(
                self.kind,
                own,
                tuple(_end(end, row) for end in self.ends),
                tuple((key, value) for key, value in said if value is not None),
            )


def each_statement(statements: Iterable[Statement | Rows]) -> Iterator[Statement]:
    """Statements one by one, for libraries that want them so."""
    for statement in statements:
        if isinstance(statement, Rows):
            yield from statement.each()
        else:
            yield statement


def _end(end: Name | Names | None, row: int) -> Name | None:
    return Name(end.space, end.local[row].as_py()) if isinstance(end, Names) else end


def _at(value: Value, row: int) -> Name | Literal | None:
    if isinstance(value, Names):
        return Name(value.space, value.local[row].as_py())
    if not isinstance(value, Column):
        return value
    text = value.text[row].as_py()
    if text is None or value.datatype is None:
        return None if text is None else str(text)
    read = _READ.get(value.datatype)
    return Typed(text, value.datatype) if read is None else read(text)


_READ: dict[Name, Callable[[str], Literal]] = {
    _BOOLEAN: lambda text: text == "true",
    _INTEGER: int,
    _DOUBLE: lambda text: float(text.replace("INF", "inf")),
    _DATE_TIME: datetime.fromisoformat,
}


def number_texts(numbers: Ints) -> pa.Array:
    """Numbers as texts."""
    return pa.array(numbers).cast(pa.string())


def number_column(numbers: Ints) -> Column:
    """Numbers as literals."""
    return Column(number_texts(numbers), _INTEGER)


def lexical(value: Literal | Column) -> tuple[Piece, Name | None]:
    """A literal as XML Schema has it: its text and its datatype; none for plain text.

    >>> lexical(41)[0], lexical(41)[1].short
    ('41', 'xsd:integer')
    >>> [lexical(v)[0] for v in (True, 0.1, float("-inf"))]
    ['true', '0.1', '-INF']
    """
    if isinstance(value, Column):
        return value.text, value.datatype
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
    return clean(value.text), value.datatype


def prefixed(name: Name | Names) -> list[Piece]:
    if isinstance(name, Names):
        return [f"{name.space.prefix}:", name.local]
    return [name.short]


def replaced(text: Piece, pattern: re.Pattern[str], change: Callable[[str], str]) -> Piece:
    """Texts that hold what a syntax cannot, changed; the others are not looked at one by one."""
    if isinstance(text, str):
        return change(text) if pattern.search(text) else text
    if not pc.any(pc.match_substring_regex(text, pattern.pattern)).as_py():
        return text
    found = text.to_pylist()
    return pa.array([None if t is None else change(t) for t in found], pa.string())


def optional(pieces: list[Piece]) -> list[Piece]:
    """Pieces that belong together: where one of them is missing, all are left out."""
    if all(isinstance(piece, str) or not piece.null_count for piece in pieces):
        return pieces
    return [pc.binary_join_element_wise(*_merged(pieces), "")]


def written(pieces: list[Piece]) -> bytes | memoryview:
    """What the pieces are together, row after row."""
    merged = _merged(pieces)
    if all(isinstance(piece, str) for piece in merged):
        return "".join(merged).encode()
    options: dict[str, Any] = {"null_handling": "replace", "null_replacement": ""}
    whole = pc.binary_join_element_wise(*merged, "", **options)
    _, offsets, data = whole.buffers()
    if data is None:
        return b""
    ends = np.frombuffer(offsets, np.int32, len(whole) + 1, whole.offset * 4)
    return memoryview(data).cast("B")[int(ends[0]) : int(ends[-1])]


def _merged(pieces: list[Piece]) -> list[Piece]:
    """Concatenate columns of texts."""
    merged: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged

"""Columns of events: their kinds as Arrow types, values as arrays and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from whence.engine.values import Value, kind_of
from whence.engine.values.value_json import value_from_json, value_json

__all__ = [
    "as_column",
    "canonical",
    "column_type",
    "from_canonical",
    "kind_of_column",
    "records_of",
]

_TYPES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "instant": pa.timestamp("us", tz="UTC"),
    "duration": pa.duration("us"),
}


def column_type(kind: str) -> pa.DataType:
    """The Arrow type of a kind; a kind without one is stored as canonical JSON text."""
    return _TYPES.get(kind, pa.string())


def canonical(value: Value) -> str:
    """A value as JSON text that is the same for equal values.

    >>> canonical({"b": 1, "a": None})
    '{"record":{"a":null,"b":1}}'
    """
    return json.dumps(value_json(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def from_canonical(text: str) -> Value:
    """Read what `canonical` wrote."""
    return value_from_json(json.loads(text))


def as_column(values: Iterable[Value], kind: str) -> pa.Array:
    """Values as a column; those that have no type of their own as canonical JSON."""
    if kind in _TYPES:
        return pa.array(values, _TYPES[kind])
    return pa.array([None if v is None else canonical(v) for v in values], pa.string())


def records_of(
    table: pa.Table | pa.RecordBatch, columns: Mapping[str, str]
) -> list[dict[str, Value]]:
    """The events of a part, as records; missing fields are ``None``."""
    lists: dict[str, list[Any]] = {}
    for name, kind in columns.items():
        values = table.column(name).to_pylist()
        if kind not in _TYPES:
            values = [None if v is None else from_canonical(v) for v in values]
        elif kind == "instant":
            values = [None if v is None else _utc(v) for v in values]
        lists[name] = values
    names = list(columns)
    if not names:
        return [{} for _ in range(table.num_rows)]
    return [dict(zip(names, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def kind_of_column(values: Iterable[Value]) -> str:
    """The kind that all present values share, else ``any``."""
    kinds = {kind_of(v) for v in values} - {"missing"}
    if len(kinds) == 1:
        (kind,) = kinds
        return kind if kind in _TYPES else "any"
    return "float" if kinds == {"integer", "float"} else "any"

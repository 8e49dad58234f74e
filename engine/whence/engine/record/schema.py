"""The columns of a record's Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from whence.engine.associations import Association
from whence.engine.notation import value_from_json, value_json
from whence.engine.record.compact import from_compact_table
from whence.engine.values import Value, kind_of

__all__ = [
    "ASSOCIATIONS",
    "IN_ORDER",
    "OUTPUTS",
    "association_table",
    "associations_of",
    "canonical",
    "column_type",
    "event_table",
    "from_canonical",
    "log_schema",
    "records_of",
]

OUTPUTS = pa.schema(
    [
        ("position", pa.int64()),
        ("moment", pa.int64()),
        ("kind", pa.string()),
        ("value", pa.string()),
    ]
)

IN_ORDER = dict.fromkeys(("position", "moment"), "DELTA_BINARY_PACKED")
"""How Parquet keeps the numbers of outputs, which go up by little."""

ASSOCIATIONS = pa.schema(
    [
        ("relation", pa.string()),
        ("kind", pa.string()),
        ("lo", pa.int64()),
        ("hi", pa.int64()),
        ("to", pa.string()),
        ("inputs", pa.list_(pa.int64())),
        ("a", pa.int64()),
        ("b", pa.int64()),
        ("sa", pa.int64()),
        ("sb", pa.int64()),
        ("fields", pa.list_(pa.string())),
        ("copy", pa.bool_()),
        ("witness", pa.list_(pa.int32())),
    ]
)

_TYPES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "instant": pa.timestamp("us", tz="UTC"),
    "duration": pa.duration("us"),
}


def column_type(kind: str) -> pa.DataType:
    """The Arrow type of a kind; what has none is kept as canonical JSON text."""
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


def log_schema(columns: Mapping[str, str]) -> pa.Schema:
    """The columns of a log's parts."""
    own = [(name, column_type(kind)) for name, kind in columns.items()]
    return pa.schema([("position", pa.int64()), ("row", pa.int64()), *own])


def event_table(
    columns: Mapping[str, str], first: int, events: list[Mapping[str, Value]]
) -> pa.Table:
    """Events of a log, from a first position on, as a table."""
    arrays: list[pa.Array] = [
        pa.array(range(first, first + len(events)), pa.int64()),
        pa.array(range(first, first + len(events)), pa.int64()),
    ]
    for name, kind in columns.items():
        values: list[Any] = [event.get(name) for event in events]
        if kind not in _TYPES:
            values = [None if v is None else canonical(v) for v in values]
        arrays.append(pa.array(values, column_type(kind)))
    return pa.Table.from_arrays(arrays, schema=log_schema(columns))


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


def association_table(rows: Iterable[Association]) -> pa.Table:
    """Associations of one stream as a table."""
    columns: dict[str, list[Any]] = {name: [] for name in ASSOCIATIONS.names}
    for row in rows:
        band = row.kind == "band"
        columns["relation"].append(row.relation)
        columns["kind"].append(row.kind)
        columns["lo"].append(row.lo)
        columns["hi"].append(row.hi)
        columns["to"].append(row.to)
        columns["inputs"].append(None if band else list(row.inputs))
        for name in ("a", "b", "sa", "sb"):
            columns[name].append(getattr(row, name) if band else None)
        columns["fields"].append(None if row.fields is None else list(row.fields))
        columns["copy"].append(row.copy)
        columns["witness"].append(None if row.witness is None else list(row.witness))
    return pa.Table.from_pydict(columns, schema=ASSOCIATIONS)


def associations_of(table: pa.Table, stream: str) -> list[Association]:
    """The rows of a table of one stream's associations, compact or not."""
    if "back" in table.schema.names:
        return list(from_compact_table(table, stream).rows())
    return [
        Association(
            stream,
            row["relation"],
            row["kind"],
            row["lo"],
            row["hi"],
            row["to"],
            tuple(row["inputs"] or ()),
            row["a"] or 0,
            row["b"] or 0,
            row["sa"] or 0,
            row["sb"] or 0,
            None if row["fields"] is None else tuple(row["fields"]),
            bool(row["copy"]),
            None if row["witness"] is None else tuple(row["witness"]),
        )
        for row in table.to_pylist()
    ]

"""The columns of a record's Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from whence.engine.lineage.association import Association
from whence.engine.values.columns import canonical, column_type, from_canonical, records_of

__all__ = [
    "ASSOCIATIONS",
    "IN_ORDER",
    "NUMBERED",
    "OUTPUTS",
    "association_table",
    "canonical",
    "column_type",
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

IN_ORDER: dict[str, str] = dict.fromkeys(("position", "moment"), "DELTA_BINARY_PACKED")
"""How Parquet keeps the numbers of outputs, which go up by little."""

NUMBERED: dict[str, str] = dict.fromkeys(("position", "row"), "DELTA_BINARY_PACKED")
"""How Parquet keeps the numbers of a log's events, which are all different."""

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


def log_schema(columns: Mapping[str, str]) -> pa.Schema:
    """The columns of a log's parts."""
    own = [(name, column_type(kind)) for name, kind in columns.items()]
    return pa.schema([("position", pa.int64()), ("row", pa.int64()), *own])


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

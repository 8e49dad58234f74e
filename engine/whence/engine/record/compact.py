"""Compact associations on disk: one row a block, its items in lists that compress well.

Positions are kept in units: inside a Slice most are multiples of the stream's ``w``. An input is
kept as its distance back from the output, which is small where outputs lead to what is near.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.lineage.association import INNER_WIDTH
from whence.engine.lineage.block import Associations, Block
from whence.engine.lineage.positions import Ints

__all__ = ["COMPACT", "compact_table", "encodings_of", "from_compact_table", "joined_table"]

_NUMBERS = pa.list_(pa.int64())

COMPACT = pa.schema(
    [
        ("relation", pa.string()),
        ("kind", pa.string()),
        ("to", pa.string()),
        ("fields", pa.list_(pa.string())),
        ("copy", pa.bool_()),
        ("unit", pa.int64()),
        ("to_unit", pa.int64()),
        ("step", pa.int64()),
        ("sa", pa.int64()),
        ("sb", pa.int64()),
        ("outputs", _NUMBERS),
        ("more", _NUMBERS),
        ("back", _NUMBERS),
        ("width", _NUMBERS),
    ]
)

_DELTAS = {
    f"{name}.list.element": "DELTA_BINARY_PACKED" for name in ("outputs", "more", "back", "width")
}
_BYTES = {name: "BYTE_STREAM_SPLIT" for name in _DELTAS} | {
    "outputs.list.element": "DELTA_BINARY_PACKED"
}


def encodings_of(associations: Associations) -> dict[str, str]:
    """How Parquet keeps the lists; see the page on the record for what that saves."""
    return _DELTAS if all(block.kind == "zones" for block in associations.blocks) else _BYTES


def compact_table(associations: Associations) -> pa.Table:
    """Associations of one stream as a table."""
    return joined_table(associations.joined())


def joined_table(associations: Associations) -> pa.Table:
    """The same for associations that are joined already."""
    columns: dict[str, list[Any]] = {name: [] for name in COMPACT.names}
    for block in associations.blocks:
        if len(block):
            for name, value in _row(block):
                columns[name].append(value)
    return pa.Table.from_arrays(
        [_array(columns[field.name], field.type) for field in COMPACT], schema=COMPACT
    )


def _row(block: Block) -> Iterator[tuple[str, Any]]:
    unit = INNER_WIDTH if _in_units(block.outputs, block.step) else 1
    to_unit = (
        INNER_WIDTH if _in_units(block.inputs, block.sa, block.sb) and not block.width.any() else 1
    )
    outputs, inputs = _divided(block.outputs, unit), _divided(block.inputs, to_unit)
    yield "relation", block.relation
    yield "kind", block.kind
    yield "to", block.to
    yield "fields", None if block.fields is None else list(block.fields)
    yield "copy", block.copy
    yield "unit", unit
    yield "to_unit", to_unit
    yield "step", block.step // unit
    yield "sa", block.sa // to_unit
    yield "sb", block.sb // to_unit
    yield "outputs", outputs
    yield "more", block.more if block.more.any() else None
    yield "back", outputs - inputs
    yield "width", block.width if block.width.any() else None


def _in_units(positions: Ints, *steps: int) -> bool:
    """Whether all positions are multiples of the unit, and go on in multiples of it."""
    if any(step % INNER_WIDTH for step in steps):
        return False
    bits = int(np.bitwise_or.reduce(positions)) if len(positions) else 0
    return bits != 0 and not bits & (INNER_WIDTH - 1)


def _divided(positions: Ints, unit: int) -> Ints:
    return positions if unit == 1 else positions >> (unit.bit_length() - 1)


def _array(values: list[Any], type: pa.DataType) -> pa.Array:
    if type != _NUMBERS:
        return pa.array(values, type)
    # Numbers are handed over as they are: a list of a million of them is no list of objects.
    sizes = [0 if v is None else len(v) for v in values]
    ends = np.cumsum([0, *sizes]).astype(np.int32)
    flat = [v for v in values if v is not None]
    whole = flat[0] if len(flat) == 1 else np.concatenate([np.empty(0, np.int64), *flat])
    numbers = pa.array(whole, pa.int64())
    mask = pa.array([v is None for v in values], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(ends), numbers, mask=mask)


def from_compact_table(table: pa.Table, stream: str) -> Associations:
    """What `compact_table` wrote."""
    short = [name for name in COMPACT.names if COMPACT.field(name).type != _NUMBERS]
    rows = table.select(short).to_pylist()
    lists = {name: _lists(table.column(name)) for name in ("outputs", "more", "back", "width")}
    blocks = []
    for row, outputs, more, back, width in zip(rows, *lists.values(), strict=True):
        assert outputs is not None
        assert back is not None
        none = np.zeros(len(outputs), np.int64)
        blocks.append(
            Block(
                row["relation"],
                row["kind"],
                row["to"],
                None if row["fields"] is None else tuple(row["fields"]),
                bool(row["copy"]),
                row["step"] * row["unit"],
                row["sa"] * row["to_unit"],
                row["sb"] * row["to_unit"],
                outputs * row["unit"],
                none if more is None else more,
                (outputs - back) * row["to_unit"],
                none if width is None else width,
            )
        )
    return Associations(stream, tuple(blocks))


def _lists(column: pa.ChunkedArray) -> list[Ints | None]:
    found: list[Ints | None] = []
    for chunk in column.chunks:
        found.extend(
            scalar.values.to_numpy(zero_copy_only=False) if scalar.is_valid else None
            for scalar in chunk
        )
    return found

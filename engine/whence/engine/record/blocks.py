"""The one reader of associations: blocks, whichever of the two formats a part was written in.

A run on batches writes a row a block; the interpreter, jobs and imports write rows that speak of
one output or a few each. Rows of one kind are one block, so that whoever reads them sees no
difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.lineage.block import Associations, Block
from whence.engine.lineage.positions import Ints, flat_ranges
from whence.engine.record.compact import from_compact_table

__all__ = ["blocks_of"]


def blocks_of(table: pa.Table, stream: str) -> Associations:
    """What a part of a stream's associations says.

    Args:
        table: as it is on disk.
        stream: whose associations they are.
    """
    if "back" in table.schema.names:
        return from_compact_table(table, stream)
    return Associations(stream, tuple(_of_rows(table.combine_chunks())))


def _of_rows(table: pa.Table) -> Iterator[Block]:
    if not table.num_rows:
        return
    lists = table.column("inputs").chunk(0)
    ends = lists.offsets.to_numpy()
    values = lists.values.to_numpy()
    lo, a, b, sa, sb = (_numbers(table, name) for name in ("lo", "a", "b", "sa", "sb"))
    hi = _numbers(table, "hi", -1)
    names = ("relation", "kind", "to", "fields", "copy", "witness")
    told = [_coded(table.column(name)) for name in names]
    for some in _alike([*(codes for codes, _ in told), sa, sb]):
        relation, kind, to, fields, copy, witness = (known[codes[some[0]]] for codes, known in told)
        first, last = lo[some], hi[some]
        more = np.where(last < 0, -1, last - first)
        steps = int(sa[some[0]]), int(sb[some[0]])
        if kind == "band":
            low = first * steps[0] + a[some]
            items = first, more, low, first * steps[1] + b[some] - low
        else:
            places, row = flat_ranges(ends[some], ends[some + 1] - ends[some])
            none = np.zeros(len(places), np.int64)
            items = first[row], more[row] if kind == "zone" else none, values[places], none
        form: Any = {"band": "bands", "zone": "zones"}.get(kind, "each")
        shared = relation, form, to, fields, bool(copy)
        yield Block(*shared, 1, *steps, *items, witness=witness)


def _numbers(table: pa.Table, name: str, missing: int = 0) -> Ints:
    found: Ints = table.column(name).fill_null(missing).to_numpy()
    return found


def _coded(column: pa.ChunkedArray) -> tuple[Ints, list[Any]]:
    """The distinct values of a column, and for each row which of them it has."""
    if not pa.types.is_list(column.type):
        coded = column.chunk(0).dictionary_encode(null_encoding="encode")
        return coded.indices.to_numpy().astype(np.int64), coded.dictionary.to_pylist()
    if column.null_count == len(column):
        return np.zeros(len(column), np.int64), [None]
    known: dict[Any, int] = {}
    lists = (None if value is None else tuple(value) for value in column.to_pylist())
    codes = np.array([known.setdefault(each, len(known)) for each in lists], np.int64)
    return codes, list(known)


def _alike(columns: list[Ints]) -> Iterator[Ints]:
    """The rows that agree in all columns, those together that come first first."""
    group = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        if len(values) > 1:
            group = np.unique(group * len(values) + codes, return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    several = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    yield from sorted(several, key=lambda rows: int(rows[0]))

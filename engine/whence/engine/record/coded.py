"""Outputs on their way to a file: texts that repeat as numbers, so that they are written faster.

What a file holds depends on the events alone, not on who wrote them or how they were cut. So kinds
are numbers where all are the same, and values where all are booleans; else both are texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from whence.engine.record.schema import OUTPUTS
from whence.engine.values.arrow_compute import pc

__all__ = ["boolean_texts", "coded", "constant_text", "joined"]

_BOOLEANS = pa.array(["false", "true"], pa.string())


def constant_text(text: str, count: int) -> pa.DictionaryArray:
    """One text, so many times."""
    return pa.DictionaryArray.from_arrays(np.zeros(count, np.int8), pa.array([text], pa.string()))


def boolean_texts(values: np.ndarray) -> pa.DictionaryArray:
    """What the record says of booleans."""
    return pa.DictionaryArray.from_arrays(values.astype(np.int8), _BOOLEANS)


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Outputs one after the other, however each of them was coded."""
    if len({table.schema for table in tables}) == 1 and all(
        _same_texts([table.column(name) for table in tables]) for name in ("kind", "value")
    ):
        return pa.concat_tables(tables)
    return pa.concat_tables([table.cast(OUTPUTS) for table in tables])


def _same_texts(columns: Sequence[pa.ChunkedArray]) -> bool:
    if not pa.types.is_dictionary(columns[0].type):
        return True
    known = [chunk.dictionary for column in columns for chunk in column.chunks]
    return all(texts.equals(known[0]) for texts in known[1:])


def coded(table: pa.Table) -> pa.Table:
    """The same outputs in the one way in which they are written."""
    kinds, values = table.column("kind"), table.column("value")
    kind = _only(kinds)
    if kind is None:
        return table.cast(OUTPUTS)
    if not pa.types.is_dictionary(kinds.type):
        kinds = constant_text(kind, len(kinds))
    if kind == "boolean" and not pa.types.is_dictionary(values.type):
        values = boolean_texts(pc.equal(values, "true").to_numpy())
    elif kind != "boolean":
        values = values.cast(pa.string())
    numbers = [table.column("position"), table.column("moment")]
    return pa.table([*numbers, kinds, values], OUTPUTS.names)


def _only(kinds: pa.ChunkedArray) -> str | None:
    """The kind that all events have, if there is one."""
    if pa.types.is_dictionary(kinds.type) and kinds.num_chunks and _same_texts([kinds]):
        known = kinds.chunk(0).dictionary
        if len(known) == 1:
            return str(known[0])
    found = kinds.unique()
    return str(found[0]) if len(found) == 1 else None

"""A digest of a log's content that does not depend on how it was stored or cut."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from whence.engine.values.arrow_compute import pc

__all__ = ["ContentDigest"]

BLOCK = 4_096
"""Positions a block: fixed, whatever the parts, batches, files or splits."""


class ContentDigest:
    """Takes rows in order; says what they are.

    The columns' names and kinds come first. Then, block by block, column by column: which values
    are there, the values (64 bits, little-endian; of texts their lengths, then their bytes).
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        """Begin with the columns."""
        head = json.dumps([[name, kind] for name, kind in columns.items()], ensure_ascii=True)
        self._hash = hashlib.sha256(head.encode())
        self._held: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the next rows: row number, then the columns."""
        self._held.append(batch)
        self._rows += batch.num_rows
        if self._rows >= BLOCK:
            table = pa.Table.from_batches(self._held)
            whole = self._rows // BLOCK * BLOCK
            for start in range(0, whole, BLOCK):
                self._block(table.slice(start, BLOCK))
            rest = table.slice(whole)
            self._held, self._rows = rest.to_batches(), rest.num_rows

    def finish(self) -> str:
        """The digest in hexadecimal."""
        if self._rows:
            self._block(pa.Table.from_batches(self._held))
        self._held, self._rows = [], 0
        return self._hash.hexdigest()

    def _block(self, table: pa.Table) -> None:
        self._hash.update(table.num_rows.to_bytes(8, "little"))
        for column in table.columns:
            for part in _canonical_bytes(pa.concat_arrays(column.chunks)):
                self._hash.update(part)


def _canonical_bytes(array: pa.Array) -> list[bytes | memoryview]:
    """The same bytes for the same values, whatever lies under the missing ones."""
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_string(array.type):
        full = pc.fill_null(array, "") if array.null_count else array
        lengths = pc.binary_length(full).to_numpy(zero_copy_only=False).astype("<i8")
        _, offsets, data = full.buffers()
        bounds = np.frombuffer(offsets, np.int32)[full.offset : full.offset + len(full) + 1]
        texts = memoryview(data)[bounds[0] : bounds[-1]] if data is not None else b""
        return [np.packbits(valid).tobytes(), lengths.tobytes(), texts]
    return [np.packbits(valid).tobytes(), as_words(array).tobytes()]


def as_words(array: pa.Array) -> np.ndarray:
    """Fixed-size values as 64 bits each; 0 where there is none."""
    if pa.types.is_floating(array.type):
        floats = pc.fill_null(array, 0.0) if array.null_count else array
        found = floats.to_numpy(zero_copy_only=False).astype("<f8")
        found[np.isnan(found)] = np.nan  # there are many, and only one is meant
        return np.asarray(found.view("<i8"))
    whole = array.cast(pa.int64())
    whole = pc.fill_null(whole, 0) if whole.null_count else whole
    return np.asarray(whole.to_numpy(zero_copy_only=False).astype("<i8"))

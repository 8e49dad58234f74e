"""Typed columns of a table as a source's batch: kinds, faults, row numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from whence.engine.sources.arrow_columns import as_kind
from whence.engine.sources.source import Reading, Report, source_schema

__all__ = ["numbered", "without"]


class _Told(Protocol):
    """What notes faults."""

    @property
    def columns(self) -> Mapping[str, str]: ...
    @property
    def reading(self) -> Reading: ...
    @property
    def report(self) -> Report: ...

    def bad(
        self, file: int, row: int, line: int | None, column: str | None, problem: object
    ) -> None: ...


def numbered(
    source: _Told, file: int, row: int, columns: Sequence[pa.Array], stated: Mapping[str, str]
) -> pa.RecordBatch:
    """Columns as the kinds that are stated, with row numbers; rows that do not fit are reported.

    Args:
        source: whose columns they are, and who notes faults.
        file: which of its files.
        row: the number of the first row.
        columns: the values.
        stated: the kinds.
    """
    count = len(columns[0]) if columns else 0
    made, found = [], []
    for number, (name, column) in enumerate(zip(stated, columns, strict=True)):
        values, faults = as_kind(
            column, stated[name], source.reading.timezone, source.reading.decimal
        )
        made.append(values)
        found += [(index, number, name, fault) for index, fault in faults]
    numbers = pa.array(np.arange(row, row + count, dtype=np.int64))
    batch = pa.RecordBatch.from_arrays([numbers, *made], schema=source_schema(source.columns))
    for index, _, name, fault in sorted(found, key=lambda each: each[:2]):
        source.bad(file, row + index, None, name, fault)
    return without(batch, {index for index, *_ in found}, source.reading, source.report)


def without(
    batch: pa.RecordBatch, bad: set[int], reading: Reading, report: Report
) -> pa.RecordBatch:
    """The batch without its bad rows if they are to be dropped."""
    if not bad or reading.on_bad != "drop":
        return batch
    fits = np.ones(batch.num_rows, dtype=bool)
    fits[list(bad)] = False
    report.drop(len(bad))
    return batch.filter(pa.array(fits))

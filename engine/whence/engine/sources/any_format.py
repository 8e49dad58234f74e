"""Open a log of any format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from whence.engine.progress import Listener
from whence.engine.sources.arrow_table import ArrowTable, Table, is_table
from whence.engine.sources.formats import format_of, source_class
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import Where, log_files
from whence.engine.sources.source import Reading, Source
from whence.engine.values import Value
from whence.engine.values.columns import records_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["events_of", "open_source"]


def open_source(
    where: Where | Sequence[Where] | DataFrame | Table,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    pattern: str | None = None,
    object_type: str | None = None,
    timezone: str = "UTC",
    on_bad: str = "refuse",
    limits: Limits | None = None,
    progress: Listener | None = None,
    decimal: str = ".",
    sheet: str | None = None,
) -> Source:
    """Open a log; only its head is read.

    Args:
        where: a file, several files or a folder (one log, in the order of their names); a
            DataFrame of Spark, pandas or Polars, or a table of Arrow; with the format ``spark``
            the name of a table.
        format: csv, jsonl, parquet, xes, ocel, text or spark; else by the file's extension, or how
            it begins. Any file may be packed with gzip.
        columns: kinds of columns; those not named are what the format says, else text.
        delimiter: what separates cells.
        encoding: how text is encoded; UTF-8 unless stated.
        header: whether the first row names the columns.
        pattern: of a text log: a pattern's name, or a regular expression with named groups.
        object_type: of an object-centric log: the type whose objects are the cases.
        timezone: the zone of times that carry none.
        on_bad: what to do with a row that does not fit: refuse the log, drop the row, keep it
            without the value.
        limits: how much is too much.
        progress: called with the progress of reading.
        decimal: the decimal sign of numbers that are texts: ``.`` or ``,``.
        sheet: of a workbook: which sheet; the first unless stated.

    Raises:
        LogError: it cannot be opened so.
    """
    reading = Reading(
        dict(columns or {}),
        delimiter,
        encoding,
        header,
        pattern,
        object_type,
        timezone,
        on_bad,
        limits or Limits(),
        progress,
        decimal=decimal,
        sheet=sheet,
    )
    if is_table(where):
        return ArrowTable(where, reading)
    if format == "spark" or not _is_where(where):
        from whence.engine.sources.spark_table import SparkTable

        return SparkTable(where, reading)  # type: ignore[arg-type]
    files = log_files(where)  # type: ignore[arg-type]
    made: Source = source_class(format or format_of(files))(files, reading)
    return made


def _is_where(where: Any) -> bool:
    if isinstance(where, str | os.PathLike):
        return True
    return isinstance(where, Sequence) and all(isinstance(w, str | os.PathLike) for w in where)


def events_of(source: Source) -> Iterator[dict[str, Value]]:
    """The events of a log as records, one by one."""
    for batch in source.batches():
        yield from records_of(batch, source.columns)

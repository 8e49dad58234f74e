"""A table or DataFrame of Spark as a log.

Its rows have no order of their own: how they lie in partitions is chance. They are therefore put
in order of all their columns, from the first to the last, and numbered so. Rows that are equal in
every column are indistinguishable, so that the numbers do not depend on partitions. Such a log must
be given an order when it is ingested; the row number then breaks ties, always in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.sources.arrow_columns import kinds_of_schema, stated_kinds
from whence.engine.sources.cells import zone_of
from whence.engine.sources.file_source import free_names
from whence.engine.sources.numbering import numbered
from whence.engine.sources.opening import on_one_line
from whence.engine.sources.repeated import repeated
from whence.engine.sources.source import BadCell, Reading, Report, Split

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["SparkTable"]


class SparkTable:
    """A log that Spark holds."""

    format = "spark"
    ordered = False

    def __init__(self, table: DataFrame | str, reading: Reading) -> None:
        """Learn the columns.

        Args:
            table: a DataFrame, or the name of a table of the active session.
            reading: how it is to be read.

        Raises:
            LogError: it is no DataFrame, or there is no such table.
        """
        self.reading = reading
        self._frame = _frame(table)
        self.name = table if isinstance(table, str) else "the DataFrame"
        self.roles: Mapping[str, str] = {}
        self.report = Report(reading.on_bad)
        zone_of(reading.timezone)
        names = self._frame.columns
        if (twice := repeated(names)) is not None:
            msg = f"{self.name}: expected columns that differ; got {twice!r} twice; try aliases"
            raise LogError(msg)
        reading.limits.check("columns", len(names), self.name)
        own = kinds_of_schema(self._frame.limit(0).toArrow().schema, free_names(names), self.name)
        self._stated, self.columns = stated_kinds(own, reading.kinds, self.name)

    def batches(self, split: Split | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in order of all their columns; Spark sorts, one partition at a time comes."""
        self.report.begin()
        row = 0
        for batch in self._sorted():
            self.reading.limits.check("events", row + batch.num_rows, self.name)
            made = numbered(self, 0, row, batch.columns, self._stated)
            self.report.read += made.num_rows
            row += batch.num_rows
            if made.num_rows:
                yield made

    def splits(self, wanted: int) -> Sequence[Split]:
        """One: what Spark holds it splits itself."""
        return (Split(),)

    def fingerprint(self) -> str:
        """Unknown for a table; Spark reads it once, as a whole."""
        return ""

    def bad(
        self, file: int, row: int, line: int | None, column: str | None, problem: object
    ) -> None:
        """Note something that does not fit."""
        self.report.add(BadCell(self.name, row, line, column, str(problem)))

    def _sorted(self) -> Iterator[pa.RecordBatch]:
        """Each batch travels as one row of bytes, so that no row is touched one by one here."""
        from pyspark.errors import PySparkException

        try:
            # Under plain names: in others Spark sees dots and quotes of its own language.
            plain = self._frame.toDF(*[f"c{n}" for n in range(len(self._frame.columns))])
            ordered = plain.sort(*_keys(plain))
            packed = ordered.mapInArrow(_pack, "batch binary")
            for row in packed.toLocalIterator(prefetchPartitions=True):
                with pa.ipc.open_stream(row["batch"]) as stream:
                    yield from stream
        except PySparkException as fault:
            said = on_one_line(str(fault).strip().partition("\n")[0])[:200]
            msg = f"{self.name}: expected Spark to read it; got: {said}; try looking at it in Spark"
            raise LogError(msg) from fault


def _frame(table: Any) -> DataFrame:
    if isinstance(table, str):
        from pyspark.errors import PySparkException

        from whence.engine.spark_session import spark_session

        try:
            return spark_session().table(table)
        except PySparkException as fault:
            msg = f"a log: expected a table {table!r} in Spark; got none; try a view of that name"
            raise LogError(msg) from fault
    if hasattr(table, "mapInArrow") and hasattr(table, "toLocalIterator"):
        frame: DataFrame = table
        return frame
    msg = (
        f"a log: expected a file, several files, a folder or a Spark DataFrame; "
        f"got {type(table).__name__}; try its path"
    )
    raise LogError(msg)


def _keys(frame: DataFrame) -> list[Column]:
    """All columns to sort by; maps have no order, their sorted entries have."""
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    keys = []
    for name, field in zip(frame.columns, frame.schema, strict=True):
        column = frame[name]
        if isinstance(field.dataType, t.MapType):
            column = f.array_sort(f.map_entries(column))
        keys.append(column)
    return keys


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        packed = pa.array([sink.getvalue().to_pybytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([packed], names=["batch"])

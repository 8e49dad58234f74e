"""A table in memory as a log: of pandas, of Arrow, or of any library that exports Arrow streams.

Rows keep their order. Columns are read as those of a Parquet file are, so that a DataFrame and the
Parquet file that it writes are the same log. A missing value (None, NaT, pd.NA, and the NaN by
which pandas marks a missing number) is missing. A NaN that Arrow or Polars does not call null is
a number that no kind can hold, and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.language.log import COLUMN_KINDS
from whence.engine.sources.arrow_columns import kinds_of_schema, stated_kinds
from whence.engine.sources.cells import zone_of
from whence.engine.sources.file_source import free_names
from whence.engine.sources.numbering import numbered
from whence.engine.sources.opening import on_one_line
from whence.engine.sources.repeated import repeated
from whence.engine.sources.source import BadCell, Reading, Report, Split
from whence.engine.values import INT64_MAX, INT64_MIN, kind_of

__all__ = ["ArrowTable", "Table", "is_table"]

_BATCH = 65_536


class Table(Protocol):
    """What exports an Arrow stream: a DataFrame of pandas or Polars, a table of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, as a capsule."""


def is_table(given: object) -> bool:
    """Whether something has rows and columns in memory: not a DataFrame of Spark, not one column.

    >>> is_table(pa.table({"case": ["a"]})), is_table([{"case": "a"}]), is_table(pa.array([1]))
    (True, False, False)
    """
    if type(given).__module__.startswith("pyspark."):
        return False
    if isinstance(given, pa.Array | pa.ChunkedArray | pa.Scalar):
        return False
    tables = pa.Table | pa.RecordBatch | pa.RecordBatchReader
    return isinstance(given, tables) or _is_pandas(given) or hasattr(given, "__arrow_c_stream__")


class ArrowTable:
    """A log that is a table in memory.

    A reader of batches can be read once, everything else as often as needed.
    """

    format = "arrow"
    ordered = True

    def __init__(self, table: Any, reading: Reading) -> None:
        """Learn the columns.

        Args:
            table: what `is_table` accepts.
            reading: how it is to be read.

        Raises:
            LogError: a column has no name of its own, or holds what no kind can hold.
        """
        self.reading = reading
        self.name = f"the {type(table).__name__}"
        self.roles: Mapping[str, str] = {}
        self.report = Report(reading.on_bad)
        zone_of(reading.timezone)
        self._table = self._of_pandas(table) if _is_pandas(table) else table
        self._read = False
        first = self._reader()
        self._first: pa.RecordBatchReader | None = first
        schema = first.schema
        reading.limits.check("columns", len(schema), self.name)
        self._check_names(schema.names)
        own = kinds_of_schema(schema, free_names(schema.names), self.name)
        self._stated, self.columns = stated_kinds(own, reading.kinds, self.name)

    def batches(self, split: Split | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in their own order."""
        self.report.begin()
        reader, self._first, self._read = self._first or self._reader(), None, True
        row = 0
        for batch in self._sound(reader):
            for start in range(0, batch.num_rows, _BATCH):
                some = batch.slice(start, _BATCH)
                self.reading.limits.check("events", row + some.num_rows, self.name)
                made = numbered(self, 0, row, some.columns, self._stated)
                self.report.read += made.num_rows
                row += some.num_rows
                if made.num_rows:
                    yield made

    def splits(self, wanted: int) -> Sequence[Split]:
        """One: what is in this process's memory stays in one piece."""
        return (Split(),)

    def fingerprint(self) -> str:
        """Nothing outside can change it."""
        return ""

    def bad(
        self, file: int, row: int, line: int | None, column: str | None, problem: object
    ) -> None:
        """Note something that does not fit."""
        self.report.add(BadCell(self.name, row, line, column, str(problem)))

    def _reader(self) -> pa.RecordBatchReader:
        given = self._table
        if isinstance(given, pa.RecordBatch):
            given = pa.Table.from_batches([given])
        if isinstance(given, pa.Table):
            return given.to_reader()
        if isinstance(given, pa.RecordBatchReader):
            if self._read:
                raise self._refused("a table to read again", "a reader", "reader.read_all()")
            return given
        try:
            return pa.RecordBatchReader.from_stream(given)
        except (pa.ArrowException, TypeError, ValueError) as fault:
            raise self._refused("rows and columns", _said(fault), "its table") from fault

    def _sound(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        batches = iter(reader)
        while True:
            try:
                batch = next(batches, None)
            except (pa.ArrowException, OSError) as fault:
                got = f"a fault while it was read ({_said(fault)})"
                raise self._refused("a whole table", got, "making it anew") from fault
            if batch is None:
                return
            yield batch

    def _check_names(self, names: Sequence[str]) -> None:
        if (twice := repeated(names)) is not None:
            raise self._refused("columns that differ", f"{twice!r} twice", "renaming one")

    def _of_pandas(self, frame: Any) -> pa.Table:
        self._check_index(frame)
        labels = list(frame.columns)
        for label in labels:
            if not isinstance(label, str):
                hint = "frame.columns = frame.columns.map(str)"
                raise self._refused("columns with names", f"{label!r}", hint)
        self.reading.limits.check("columns", len(labels), self.name)
        self._check_names(labels)
        columns = []
        for label in labels:
            try:
                columns.append(pa.chunked_array([pa.Array.from_pandas(frame[label])]))
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as fault:
                expected, got = _unfit(frame[label], fault)
                msg = (
                    f"{self.name}, column {label!r}: expected {expected}; got {got}; "
                    f"try frame[{label!r}].astype(str), or leaving it out"
                )
                raise LogError(msg) from fault
        return pa.Table.from_arrays(columns, names=labels)

    def _check_index(self, frame: Any) -> None:
        """Row numbers without a name may stay behind; any other index holds something."""
        index = frame.index
        named = [str(name) for name in index.names if name is not None]
        if not named and (index.dtype.kind in "iu" or not len(index)):
            return
        got = f"the index {', '.join(named)!r}" if named else f"an index of {index.dtype}"
        hint = "frame.reset_index(), or frame.reset_index(drop=True) to leave it out"
        raise self._refused("columns only", f"{got} as well", hint)

    def _refused(self, expected: str, got: str, hint: str) -> LogError:
        return LogError(f"{self.name}: expected {expected}; got {got}; try {hint}")


def _is_pandas(given: object) -> bool:
    bases = type(given).__mro__
    return any(b.__name__ == "DataFrame" and b.__module__.startswith("pandas.") for b in bases)


def _unfit(column: Any, fault: Exception) -> tuple[str, str]:
    """What a column of pandas would have to hold, and what it does, by its first values."""
    first: dict[str, str] = {}
    for row, (value, missing) in enumerate(zip(column, column.isna(), strict=True)):
        if missing:
            continue
        kind = kind_of(value)
        if kind == "integer" and not INT64_MIN <= value <= INT64_MAX:
            return "integers of 64 bits", f"{_example(value)} in row {row + 1}"
        first.setdefault(kind, f"{kind} ({_example(value)} in row {row + 1})")
    if len(first) == 1 and (kind := next(iter(first))) not in COLUMN_KINDS:
        return "texts, numbers, booleans, times or lists", first[kind]
    if len(first) > 1:
        return "values of one kind", " and ".join(first.values())
    return "values of one kind", _said(fault)


def _example(value: object) -> str:
    text = on_one_line(repr(value))
    return text if len(text) <= 40 else text[:39] + "…"


def _said(fault: Exception) -> str:
    return on_one_line(" ".join(str(fault).split())[:120].rstrip(".;"))

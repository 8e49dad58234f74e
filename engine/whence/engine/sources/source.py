"""What a log looks like to everything else: an iterator of Arrow batches that knows its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.progress import Listener
from whence.engine.sources.limits import Limits
from whence.engine.values.columns import column_type

__all__ = [
    "DECIMAL",
    "MOST_SHOWN",
    "ON_BAD",
    "BadCell",
    "Reading",
    "Report",
    "Source",
    "Split",
    "source_schema",
]

"""Called now and then with the bytes read and the total; for a short file, never."""

ON_BAD = ("refuse", "drop", "keep")
"""What to do with a row that does not fit: refuse the log, drop the row, keep it without the value.
"""

DECIMAL = (".", ",")
"""The decimal signs that numbers may have."""

MOST_SHOWN = 20
"""Maximum number of rejected rows to remember."""


@dataclass(frozen=True)
class Split:
    """A stretch of a log that can be read by itself.

    Attributes:
        file: which of the source's files, from 0.
        start: where it begins, in units of the format (bytes, row groups, ...).
        stop: where it ends; -1 for the end of the file.
        row: the row number of its first row in the whole source.
        line: the line number of its first row, where the format has lines.
    """

    file: int = 0
    start: int = 0
    stop: int = -1
    row: int = 0
    line: int = 1


@dataclass(frozen=True)
class BadCell:
    """Something that did not fit.

    Attributes:
        file: the file's name.
        row: the row number in the source, from 0.
        line: the line in the file, from 1; ``None`` where the format has none.
        column: the column; ``None`` if the whole row is meant.
        problem: "expected ...; got ...; try ...".
    """

    file: str
    row: int
    line: int | None
    column: str | None
    problem: str

    def __str__(self) -> str:
        """One line for people, who count rows from 1."""
        line = "" if self.line is None else f" (line {self.line})"
        column = "" if self.column is None else f", column {self.column!r}"
        return f"{self.file}, row {self.row + 1}{line}{column}: {self.problem}"


@dataclass
class Report:
    """What came of reading: how many rows, and what was wrong with some.

    Attributes:
        on_bad: refuse, drop or keep.
        read: rows read, with those dropped.
        dropped: rows left out.
        missing: values that became missing because they did not fit, in rows that were kept.
        bad: the first of them, in order.
    """

    on_bad: str = "refuse"
    read: int = 0
    dropped: int = 0
    missing: int = 0
    bad: list[BadCell] = field(default_factory=list)

    def add(self, cell: BadCell) -> None:
        """Note a cell or row that does not fit; the caller drops the row or empties the cell.

        Count each cell that is emptied (``keep``) here; for dropped rows report all faults,
        then the number of rows by `drop`.

        Raises:
            LogError: the rule is to refuse.
        """
        if self.on_bad == "refuse":
            msg = str(cell)
            raise LogError(msg)
        if self.on_bad == "keep":
            self.missing += 1
        if len(self.bad) < MOST_SHOWN:
            self.bad.append(cell)

    def drop(self, rows: int = 1) -> None:
        """Count rows that were left out; they too were read."""
        self.dropped += rows
        self.read += rows

    def begin(self) -> None:
        """Forget what an earlier reading of the same log found."""
        self.read = self.dropped = self.missing = 0
        self.bad.clear()

    def json(self) -> dict[str, Any]:
        """For the manifest; values that were found are not repeated there."""
        return {
            "on_bad": self.on_bad,
            "read": self.read,
            "dropped": self.dropped,
            "missing": self.missing,
            "bad": [
                {"file": b.file, "row": b.row, "line": b.line, "column": b.column} for b in self.bad
            ],
        }


@dataclass(frozen=True)
class Reading:
    """How a log is to be read; what a format has no use for it leaves alone.

    Attributes:
        kinds: kinds of columns as stated; those not named are what the format says, else text.
        delimiter: what separates cells; ``None`` for the format's own.
        encoding: how text is encoded; ``None`` for UTF-8.
        header: whether the first row names the columns.
        pattern: a named pattern of a text log, or a regular expression with named groups.
        object_type: the type of object that an object-centric log is flattened on.
        timezone: the zone of times that carry none.
        on_bad: refuse, drop or keep.
        limits: how much is too much.
        progress: called with the progress of reading.
        fields: of JSON lines that follow others: the field of each column; others do not fit.
        known: of JSON lines that follow others: the kind of each column.
        decimal: the decimal sign of numbers that are texts: ``.`` or ``,``.
        sheet: which sheet of a workbook; ``None`` for the first.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    delimiter: str | None = None
    encoding: str | None = None
    header: bool = True
    pattern: str | None = None
    object_type: str | None = None
    timezone: str = "UTC"
    on_bad: str = "refuse"
    limits: Limits = field(default_factory=Limits)
    progress: Listener | None = None
    fields: Mapping[str, str] | None = None
    known: Mapping[str, str] = field(default_factory=dict)
    decimal: str = "."
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in DECIMAL:
            msg = f"decimal: expected . or ,; got {self.decimal!r}; try ','"
            raise LogError(msg)
        if self.on_bad not in ON_BAD:
            msg = f"on_bad: expected one of {', '.join(ON_BAD)}; got {self.on_bad!r}; try refuse"
            raise LogError(msg)

    def __getstate__(self) -> dict[str, Any]:
        """Travel to another process without the progress listener."""
        return {**self.__dict__, "progress": None}


@runtime_checkable
class Source(Protocol):
    """One log, however many files; cheap to make: only the head has been read.

    A source can be pickled, so that Spark reads its splits in other processes.

    Attributes:
        name: for people: the file's name.
        format: csv, jsonl, parquet, xes, ...
        columns: the kind of every column, in order (boolean, integer, float, text, instant,
            duration, any), known before rows are read.
        roles: which column is the ``case``, ``activity``, ``time``, ``id``, as far as the format
            itself knows.
        ordered: whether rows have an order of their own; False for a Spark table.
        report: filled while reading.
    """

    @property
    def name(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def columns(self) -> Mapping[str, str]: ...
    @property
    def roles(self) -> Mapping[str, str]: ...
    @property
    def ordered(self) -> bool: ...
    @property
    def report(self) -> Report: ...

    def batches(self, split: Split | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in order, as `source_schema` says: row number, then the columns."""
        ...

    def splits(self, wanted: int) -> Sequence[Split]:
        """Split the log into about this many stretches, in order; one if it cannot be split."""
        ...

    def fingerprint(self) -> str:
        """Changes when the log's files do."""
        ...


def source_schema(columns: Mapping[str, str]) -> pa.Schema:
    """What a source's batches look like.

    >>> source_schema({"case": "text"}).names
    ['row', 'case']
    """
    own = [pa.field(name, column_type(kind)) for name, kind in columns.items()]
    return pa.schema([pa.field("row", pa.int64(), nullable=False), *own])

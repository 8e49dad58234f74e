"""What sources that read files have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.progress import Reporter
from whence.engine.sources.opening import fingerprint, has_changed, shown
from whence.engine.sources.source import BadCell, Reading, Report, Split

__all__ = ["FileSource", "check_stated", "free_names"]

_TAKEN = ("position", "row")


class FileSource(ABC):
    """A log in one or several files of one format.

    A format says how to `read` a stretch; counting rows, the limit on events, and noticing that
    the log changes while it is read are done here.

    Attributes:
        name: the file's name, for people.
        format: the format's name.
        files: the files in the order in which they are read.
        reading: how they are to be read.
        columns: the kind of every column, in order; set by the format's own ``__init__``.
        roles: what the format itself knows of case, activity, time, id.
        ordered: rows have an order, that of the file.
        report: filled while reading.
    """

    format = ""
    ordered = True
    columns: Mapping[str, str]

    def __init__(self, files: Sequence[Path], reading: Reading) -> None:
        self.files = tuple(files)
        self.reading = reading
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        self.name = shown(files[0]) + more
        self.roles: Mapping[str, str] = {}
        self.report = Report(reading.on_bad)
        self._as_opened = fingerprint(files)

    def batches(self, split: Split | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in order: row number, then the columns.

        Raises:
            LogError: something does not fit, or the files have changed since they were opened.
        """
        if split is None:
            self.report.begin()
        if self.fingerprint() != self._as_opened:
            raise has_changed(self.name)
        for batch in self.read(split):
            self.report.read += batch.num_rows
            self.reading.limits.check("events", self.report.read, self.name)
            if batch.num_rows:
                yield batch
        if self.fingerprint() != self._as_opened:
            raise has_changed(self.name)

    @abstractmethod
    def read(self, split: Split | None) -> Iterator[pa.RecordBatch]:
        """The rows of a stretch, or of the whole log.

        Rows that do not fit are passed to the report, which refuses them by default.
        """

    def splits(self, wanted: int) -> Sequence[Split]:
        """One stretch for each file, unless the format can do better and knows row numbers."""
        if len(self.files) == 1:
            return (Split(),)
        counted = 0
        made = []
        for number in range(len(self.files)):
            made.append(Split(number, row=counted))
            counted += self.count(number)
        return made

    def count(self, file: int) -> int:
        """How many rows a file has; reads it unless the format knows better."""
        alone = type(self)([self.files[file]], self.reading)
        for _ in alone.batches():
            pass
        return alone.report.read

    def fingerprint(self) -> str:
        """Changes when the files do."""
        return fingerprint(self.files)

    def tell(self, done: int, total: int, unit: str = "bytes") -> None:
        """Say how far reading has come."""
        Reporter(self.reading.progress, "reading", unit)(done, total, "reading the log")

    def bad(
        self, file: int, row: int, line: int | None, column: str | None, problem: object
    ) -> None:
        """Note something that does not fit.

        Raises:
            LogError: the rule is to refuse.
        """
        self.report.add(BadCell(shown(self.files[file]), row, line, column, str(problem)))


def check_stated(name: str, found: Sequence[str], stated: Mapping[str, str]) -> None:
    """Refuse a kind that is stated for a column that is not there.

    Raises:
        LogError: with the name that was perhaps meant.
    """
    for column in stated:
        if column not in found:
            near = get_close_matches(column, found, n=1)
            hint = f"{near[0]!r} (did you mean that?)" if near else "one of " + ", ".join(found)
            msg = f"{name}: expected a column {column!r}; got no such column; try {hint}"
            raise LogError(msg)


def free_names(names: Sequence[str]) -> list[str]:
    """Columns' names, with ``_`` behind those that the record needs for itself.

    >>> free_names(["case", "row"])
    ['case', 'row_']
    """
    made: list[str] = []
    for name in names:
        free = name
        while free in _TAKEN or (free != name and free in names):
            free += "_"
        made.append(free)
    return made

"""Workbooks as a source: cells keep the kinds that Excel gave them.

Excel stores every number as a float: a column of whole numbers is a column of integers. A column
that mixes kinds is text. Which kinds there are is known only when all cells have been seen:
opening such a log reads the sheet once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from whence.engine.errors import LogError, MissingExtraError
from whence.engine.sources.arrow_columns import as_kind, stated_kinds
from whence.engine.sources.cells import zone_of
from whence.engine.sources.file_source import FileSource, free_names
from whence.engine.sources.numbering import without
from whence.engine.sources.opening import is_packed, on_one_line, shown
from whence.engine.sources.repeated import repeated
from whence.engine.sources.source import Reading, Split, source_schema
from whence.engine.sources.xlsx.guarding import BEFORE, UNCOMPUTED, Sheet, survey
from whence.engine.values import ValueFault
from whence.engine.values.columns import column_type

__all__ = ["XlsxSource"]

_BATCH = 10_000
_EXACT = 2**53
"""Up to here every whole number is a float of its own."""

_KINDS: Mapping[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "float",
    str: "text",
    datetime: "instant",
    date: "instant",
    timedelta: "duration",
}
_MENDING = "mending it, or --on-bad keep"
_HINTS = {UNCOMPUTED: "saving the workbook once more with a program that computes"}
_LOCAL = pa.timestamp("us")


@dataclass
class _Rows:
    """The used rows of a sheet.

    Attributes:
        sheet: the sheet, as the library holds it.
        errors: what is wrong with a cell, by its row and column, from 0.
        first: the row of the first one, from 0.
        left: the column of their first cell, from 0.
    """

    sheet: Any
    errors: dict[tuple[int, int], str]
    first: int
    left: int

    def __iter__(self) -> Iterator[tuple[int, list[Any]]]:
        """The rows that are not empty, with their places in the sheet, from 0.

        Cells with which something is wrong are empty.
        """
        held: dict[int, set[int]] = {}
        for row, column in self.errors:
            held.setdefault(row, set()).add(column - self.left)
        at = -1
        cells: list[Any] = []
        for at, cells in enumerate(self.sheet.iter_rows()):
            if at in held:
                yield at, ["" if n in held[at] else cell for n, cell in enumerate(cells)]
            elif any(cell != "" for cell in cells):
                yield at, cells
        if cells:  # the library's rows end with the last one that has a value
            yield from ((row, [""] * len(cells)) for row in sorted(held) if row > at)


class XlsxSource(FileSource):
    """A log in sheets of workbooks that have the same header."""

    format = "xlsx"

    def __init__(self, files: Sequence[Path], reading: Reading) -> None:
        """Read the sheets once to learn their columns.

        Raises:
            LogError: a file is no workbook, or its header is not right.
        """
        super().__init__(files, reading)
        zone_of(reading.timezone)
        self._held: dict[int, _Rows] = {}
        self._starts: list[int] = []
        self._counts: list[int] = []
        self._places: list[list[int]] = []
        names: list[str] = []
        seen: list[set[str]] = []
        for number, file in enumerate(files):
            rows = _load(file, reading)
            found, kinds = self._learn(number, rows)
            if number and found != names:
                msg = (
                    f"{shown(file)}: expected the columns of {shown(files[0])}; got "
                    f"{', '.join(map(repr, found))[:80]}; try the files one by one"
                )
                raise LogError(msg)
            names = found
            seen = [one | other for one, other in zip(seen or kinds, kinds, strict=True)]
            if len(files) == 1:
                self._held[number] = rows  # it is most often read next
        self._own = dict(zip(free_names(names), map(_kind, seen), strict=True))
        self._stated, self.columns = stated_kinds(self._own, reading.kinds, self.name)

    def __getstate__(self) -> dict[str, Any]:
        """Travel to another process without the sheet, which is read there again."""
        return {**self.__dict__, "_held": {}}

    def count(self, file: int) -> int:
        """How many rows a file has, empty ones among them."""
        return self._counts[file]

    def read(self, split: Split | None) -> Iterator[pa.RecordBatch]:
        """The rows of one file, or of all files."""
        row = 0
        for number in range(len(self.files)) if split is None else (split.file,):
            yield from self._file(number, row if split is None else split.row)
            row += self._counts[number]

    def _file(self, number: int, first: int) -> Iterator[pa.RecordBatch]:
        rows = self._held.pop(number, None) or _load(self.files[number], self.reading)
        size, start = self.files[number].stat().st_size, self._starts[number]
        used = ((at, cells) for at, cells in rows if at >= start)
        while some := list(islice(used, _BATCH)):
            yield self._batch(number, first, some, rows)
            self.tell(size * (some[-1][0] - start + 1) // self._counts[number], size)

    def _learn(self, number: int, rows: _Rows) -> tuple[list[str], list[set[str]]]:
        """The columns' names, and the kinds of their cells."""
        name = shown(self.files[number])
        header: list[Any] | None = None
        kinds: list[set[str]] = []
        last = rows.first - 1
        for at, cells in rows:
            last = at
            if not kinds:
                kinds = [set() for _ in cells]
                if self.reading.header:
                    header = cells
                    continue
            for seen, cell in zip(kinds, cells, strict=True):
                if cell != "":
                    seen.add(_kind_of_cell(cell))
        start = rows.first + (header is not None)
        self._starts.append(start)
        self._counts.append(max(0, last - start + 1))
        if self.reading.header and header is None:
            msg = f"{name}: expected a header with the columns' names; got an empty sheet; "
            raise LogError(msg + "try --sheet NAME, or adding a header")
        names = [
            self._text(cell) for cell in header or [f"column{n + 1}" for n in range(len(kinds))]
        ]
        broken = {column - rows.left for _, column in rows.errors}
        places = [n for n, each in enumerate(names) if each or kinds[n] or n in broken]
        self._places.append(places)
        _check_names(name, [names[n] for n in places])
        self.reading.limits.check("columns", len(places), name)
        return [names[n] for n in places], [kinds[n] for n in places]

    def _batch(
        self, number: int, first: int, some: list[tuple[int, list[Any]]], rows: _Rows
    ) -> pa.RecordBatch:
        faults: list[tuple[int, int, str, ValueFault]] = []
        columns = []
        wholes = zip(self._own.items(), self._places[number], strict=True)
        for column, ((name, own), place) in enumerate(wholes):
            values = [None if c[place] == "" else self._value(c[place], own) for _, c in some]
            if own == "text":
                longest = max((len(text) for text in values if text is not None), default=0)
                self.reading.limits.check("text", longest, f"{self.name}, column {name!r}")
            cells = pa.array(values, _LOCAL if own == "instant" else column_type(own))
            made, odd = as_kind(
                cells, self._stated[name], self.reading.timezone, self.reading.decimal
            )
            columns.append(made)
            faults += [(index, column, name, fault) for index, fault in odd]
            if rows.errors:
                at = rows.left + place
                for index, (row, _) in enumerate(some):
                    if (what := rows.errors.get((row, at))) is not None:
                        fault = ValueFault("a value", what, _HINTS.get(what, _MENDING))
                        faults.append((index, column, name, fault))
        start = self._starts[number]
        numbers = pa.array([first + at - start for at, _ in some], pa.int64())
        batch = pa.RecordBatch.from_arrays([numbers, *columns], schema=source_schema(self.columns))
        for index, _, name, fault in sorted(faults, key=lambda each: each[:2]):
            at = some[index][0]
            self.bad(number, first + at - start, at + 1, name, fault)
        return without(batch, {index for index, *_ in faults}, self.reading, self.report)

    def _value(self, cell: Any, own: str) -> Any:
        if own == "text":
            return self._text(cell)
        if own == "integer":
            return int(cell)
        if own == "instant" and not isinstance(cell, datetime):
            return datetime.combine(cell, time())
        return cell

    def _text(self, cell: Any) -> str:
        """A cell as text, where a column mixes kinds."""
        if isinstance(cell, bool):
            return "true" if cell else "false"
        if isinstance(cell, float):
            whole = cell.is_integer() and abs(cell) <= _EXACT
            return str(int(cell)) if whole else repr(cell).replace(".", self.reading.decimal)
        return cell.isoformat() if isinstance(cell, date | time) else str(cell)


def _load(path: Path, reading: Reading) -> _Rows:
    """Read a sheet, once it is known to be safe."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError as error:
        raise MissingExtraError.for_extra("xlsx", "python-calamine") from error
    name = shown(path)
    if is_packed(path):
        msg = f"{name}: expected an .xlsx workbook; got gzip around it; try unpacking it"
        raise LogError(msg)
    looked = survey(path, reading.sheet, reading.limits)
    try:
        sheet = CalamineWorkbook.from_path(path).get_sheet_by_name(looked.name)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as fault:  # a panic inside the library is no Exception
        said = on_one_line(str(fault))[:80]
        msg = f"{name}: expected an .xlsx workbook; got damage ({said}); try saving it again"
        raise LogError(msg) from fault
    if sheet.start is None and looked.values:
        msg = (
            f"{name}: expected a sheet {looked.name!r} with cells that can be read; "
            f"got {looked.values:,} that cannot; try saving it again"
        )
        raise LogError(msg)
    first, left = sheet.start or (0, 0)
    return _Rows(sheet, {**looked.errors, **_before(sheet, looked, left)}, first, left)


def _before(sheet: Any, looked: Sheet, left: int) -> dict[tuple[int, int], str]:
    """The cells whose time no date can be, and of which the library has made midnight."""
    if not looked.negative:
        return {}
    return {
        (at, left + n): BEFORE
        for at, cells in enumerate(sheet.iter_rows())
        for n, cell in enumerate(cells)
        if isinstance(cell, date | time) and (at, left + n) in looked.negative
    }


def _kind_of_cell(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) <= _EXACT:
        return "integer"
    return _KINDS.get(type(cell), "text")


def _kind(seen: set[str]) -> str:
    if seen == {"integer", "float"}:
        return "float"
    return next(iter(seen)) if len(seen) == 1 else "text"


def _check_names(where: str, names: Sequence[str]) -> None:
    if "" in names:
        msg = (
            f"{where}: expected a name above each column that has values; got none above "
            f"column {names.index('') + 1}; try adding one, or --no-header"
        )
        raise LogError(msg)
    if (twice := repeated(names)) is not None:
        msg = (
            f"{where}: expected columns that differ; got {twice!r} twice in the header; "
            "try renaming one"
        )
        raise LogError(msg)

"""CSV files: a header, then one record a row; read as a stream, strictly.

Cells are text unless a kind is declared; an empty cell is missing, and nothing else is. What does
not fit is an error that names file, row and column; nothing is guessed and no row is skipped.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from whence.engine.errors import LogError
from whence.engine.sources.cells import Convert, converter
from whence.engine.values import Value, ValueFault

__all__ = ["Progress", "csv_columns", "csv_header", "read_csv"]

Progress = Callable[[int, int], None]
"""Told now and then how many bytes of how many were read; of a short file, never."""

_ROWS_BETWEEN_REPORTS = 2_000


def csv_header(path: str | Path, *, delimiter: str = ",", encoding: str = "utf-8") -> list[str]:
    """The names of the columns."""
    with _opened(Path(path), encoding) as (_, text):
        return _header(Path(path), _reader(text, delimiter), delimiter)


def csv_columns(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> dict[str, str]:
    """The kind of every column: text, unless ``columns`` says otherwise. No row is read.

    Raises:
        LogError: a column is named that is not there, or a kind that no cell can have.
    """
    header = csv_header(path, delimiter=delimiter, encoding=encoding)
    _converters(Path(path), header, columns or {})
    return {**dict.fromkeys(header, "text"), **(columns or {})}


def read_csv(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Iterator[dict[str, Value]]:
    """Read a CSV file row by row.

    Args:
        path: the file. Position 0 is the first row below the header.
        columns: kinds of columns; those not named are text.
        delimiter: what separates cells.
        encoding: how the file is encoded; a byte order mark is accepted.
        progress: told how far reading has come.

    Raises:
        LogError: with file, row and column, what was found, and what to try.
    """
    file = Path(path)
    with _opened(file, encoding) as (raw, text):
        reader = _reader(text, delimiter)
        header = _header(file, reader, delimiter)
        converters = _converters(file, header, columns or {})
        size, number = file.stat().st_size, 0
        for number, cells in enumerate(_rows(file, reader, len(header))):
            record: dict[str, Value] = {
                name: cell or None for name, cell in zip(header, cells, strict=True)
            }
            for name, convert in converters:
                cell = record[name]
                if cell is not None:
                    try:
                        record[name] = convert(cell)  # type: ignore[arg-type]
                    except ValueFault as fault:
                        where = f"row {number + 1} (line {reader.line_num}), column {name!r}"
                        msg = f"{file.name}, {where}: {fault}"
                        raise LogError(msg) from fault
            yield record
            if progress is not None and number % _ROWS_BETWEEN_REPORTS == _ROWS_BETWEEN_REPORTS - 1:
                progress(raw.tell(), size)
        if progress is not None and number >= _ROWS_BETWEEN_REPORTS:
            progress(size, size)


@contextmanager
def _opened(path: Path, encoding: str) -> Iterator[tuple[IO[bytes], IO[str]]]:
    try:
        wanted = codecs.lookup(encoding).name
    except LookupError as fault:
        msg = f"{path.name}: expected a known encoding; got {encoding!r}; try utf-8 or latin-1"
        raise LogError(msg) from fault
    try:
        with path.open("rb") as raw:
            name = "utf-8-sig" if wanted == "utf-8" else wanted
            yield raw, TextIOWrapper(raw, encoding=name, errors="strict", newline="")
    except UnicodeDecodeError as fault:
        raise _undecodable(path, wanted) from fault
    except FileNotFoundError as fault:
        names = [f.name for f in path.parent.iterdir()] if path.parent.is_dir() else []
        near = get_close_matches(path.name, names, n=1)
        hint = f"{path.parent / near[0]} (did you mean that?)" if near else "its full path"
        msg = f"a log: expected {path}; got no such file; try {hint}"
        raise LogError(msg) from fault
    except OSError as fault:
        msg = f"a log: expected {path} to be readable; got {fault.strerror}; try another file"
        raise LogError(msg) from fault


def _undecodable(path: Path, encoding: str) -> LogError:
    """Find the first byte that does not fit; the text reader only knows it within its buffer."""
    decoder, before = codecs.getincrementaldecoder(encoding)("strict"), 0
    with path.open("rb") as raw:
        while block := raw.read(1 << 20):
            held = len(decoder.getstate()[0])
            try:
                decoder.decode(block)
            except UnicodeDecodeError as fault:
                offset, byte = before - held + fault.start, fault.object[fault.start]
                hint = "encoding latin-1 (--encoding latin-1), or saving it as UTF-8"
                return LogError(
                    f"{path.name}: expected {encoding}; got byte 0x{byte:02x} at offset {offset}; "
                    f"try {hint}"
                )
            before += len(block)
    return LogError(f"{path.name}: expected {encoding}; got a cut character at the end; try again")


def _reader(text: IO[str], delimiter: str) -> Any:
    if len(delimiter) != 1:
        msg = f"a CSV file: expected a delimiter of one sign; got {delimiter!r}; try ';'"
        raise LogError(msg)
    return csv.reader(text, delimiter=delimiter, strict=True)


def _header(file: Path, reader: Any, delimiter: str) -> list[str]:
    try:
        header = [str(name) for name in next(reader, [])]
    except csv.Error as fault:
        raise _broken(file, "the header", fault) from fault
    if not header:
        msg = f"{file.name}: expected a header with the columns' names; got nothing; try adding one"
        raise LogError(msg)
    for name in header:
        if header.count(name) > 1:
            msg = (
                f"{file.name}: expected columns that differ; got {name!r} twice in the header; "
                "try renaming one"
            )
            raise LogError(msg)
    if len(header) == 1:
        for other in ";\t|,":
            if other != delimiter and other in header[0]:
                msg = (
                    f"{file.name}: expected columns separated by {delimiter!r}; "
                    f"got one column {header[0][:40]!r}; try --delimiter {other!r}"
                )
                raise LogError(msg)
    return header


def _converters(
    file: Path, header: list[str], columns: Mapping[str, str]
) -> list[tuple[str, Convert]]:
    made = []
    for name, kind in columns.items():
        if name not in header:
            near = get_close_matches(name, header, n=1)
            hint = f"{near[0]!r} (did you mean that?)" if near else "one of " + ", ".join(header)
            msg = f"{file.name}: expected a column {name!r}; got no such column; try {hint}"
            raise LogError(msg)
        try:
            convert = converter(kind)
        except ValueFault as fault:
            msg = f"{file.name}, column {name!r}: a kind: {fault}"
            raise LogError(msg) from fault
        if convert is not None:
            made.append((name, convert))
    return made


def _rows(file: Path, reader: Any, width: int) -> Iterator[list[str]]:
    blank = number = 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as fault:
            raise _broken(file, f"row {number + 1} (line {reader.line_num})", fault) from fault
        if cells is None:
            return
        if not cells and width > 1:
            # Blank lines at the end are no rows; one in the middle is a row without cells.
            blank += 1
            continue
        number += 1
        if blank or len(cells) not in (width, 0):
            got = 0 if blank else len(cells)
            line = reader.line_num - blank
            msg = (
                f"{file.name}, row {number} (line {line}): expected {width} cells as in the "
                f"header; got {got}; try quotes around a cell that holds the delimiter"
            )
            raise LogError(msg)
        yield cells or [""]


def _broken(file: Path, where: str, fault: csv.Error) -> LogError:
    return LogError(
        f"{file.name}, {where}: expected CSV; got {fault}; "
        "try doubling quotes inside a quoted cell, and closing it"
    )

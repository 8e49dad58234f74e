"""The head of a CSV file: the columns' names, and where the first row begins."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from whence.engine.errors import LogError
from whence.engine.sources.csv_exact import broken, text_lines
from whence.engine.sources.opening import LogBytes, shown, undecodable
from whence.engine.sources.repeated import repeated
from whence.engine.sources.source import Reading

__all__ = ["CsvHead", "csv_head"]


@dataclass(frozen=True)
class CsvHead:
    """The head above the rows.

    Attributes:
        names: the columns' names.
        start: how many bytes of the stream are above the first row.
        mark: bytes of the file before the stream begins: a byte order mark.
        line: the line of the first row.
    """

    names: tuple[str, ...]
    start: int
    mark: int
    line: int


def csv_head(path: Path, reading: Reading, delimiter: str) -> CsvHead:
    """Read the head of a file; without a header columns are called ``column1``, ``column2``, ...

    Raises:
        LogError: there is no header, or one that cannot be right.
    """
    name = shown(path)
    with LogBytes(path, reading.limits, encoding=reading.encoding) as stream:
        data = b""
        while True:
            block = stream.read(max(1 << 16, len(data)))
            data += block
            found = _first_row(data, name, delimiter, whole=not block)
            if found is not None:
                cells, size, lines = found
                break
            reading.limits.check("row", len(data), f"{name}, line 1")
        mark = stream.mark
    reading.limits.check("columns", len(cells), name)
    if not reading.header:
        return CsvHead(tuple(f"column{n + 1}" for n in range(len(cells))), 0, mark, 1)
    _check(name, cells, delimiter)
    return CsvHead(tuple(cells), size, mark, 1 + lines)


def _first_row(
    data: bytes, name: str, delimiter: str, *, whole: bool
) -> tuple[list[str], int, int] | None:
    """The cells of the first row, its bytes and lines; ``None`` if more must be read."""
    end = len(data) if whole else max(data.rfind(b"\n") + 1, data.rfind(b"\r", 0, -1) + 1)
    try:
        text = data[:end].decode("utf-8")
    except UnicodeDecodeError as fault:
        raise undecodable(name, "utf-8", fault.object[fault.start], fault.start) from fault
    used: list[str] = []

    def lines() -> Iterator[str]:
        for line in text_lines(text):
            used.append(line)
            yield line

    try:
        cells = next(csv.reader(lines(), delimiter=delimiter, strict=True), [])
    except csv.Error as fault:
        if not whole:
            return None
        where = f"{name}, the header"
        raise broken(where, fault) from fault
    if not used and not whole:
        return None
    return [str(cell) for cell in cells], len("".join(used).encode("utf-8")), len(used)


def _check(name: str, header: Sequence[str], delimiter: str) -> None:
    if not any(header):
        msg = f"{name}: expected a header with the columns' names; got nothing; try adding one"
        raise LogError(msg)
    if (twice := repeated(header)) is not None:
        msg = (
            f"{name}: expected columns that differ; got {twice!r} twice in the header; "
            "try renaming one"
        )
        raise LogError(msg)
    if len(header) == 1:
        for other in ";\t|,":
            if other != delimiter and other in header[0]:
                msg = (
                    f"{name}: expected columns separated by {delimiter!r}; "
                    f"got one column {header[0][:40]!r}; try --delimiter {other!r}"
                )
                raise LogError(msg)

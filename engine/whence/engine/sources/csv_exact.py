"""CSV sign by sign: slow, and always right about which row and line is meant."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO

from whence.engine.errors import LogError
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import undecodable

__all__ = ["ExactRow", "broken", "decoded_lines", "exact_rows", "text_lines"]


@dataclass(frozen=True)
class ExactRow:
    """One row.

    Attributes:
        cells: what it holds; ``None`` if they are not as many as the header has.
        line: the line at which it ends.
        problem: what is wrong with it, if anything.
    """

    cells: list[str] | None
    line: int
    problem: str = ""


def text_lines(text: str) -> Iterable[str]:
    """Lines as they are, however they end."""
    return StringIO(text, newline="")


def decoded_lines(blocks: Iterable[bytes], name: str, offset: int, limits: Limits) -> Iterator[str]:
    """Lines of a stream of UTF-8 that begins at this offset of the file.

    Raises:
        LogError: a byte that is not UTF-8, with its offset; or a line that is too long.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    held, over = "", False
    blocks = iter(blocks)
    while not over:
        block = next(blocks, b"")
        over = not block
        waiting = len(decoder.getstate()[0])
        try:
            text = held + decoder.decode(block, over)
        except UnicodeDecodeError as fault:
            at = offset - waiting + fault.start
            raise undecodable(name, "utf-8", fault.object[fault.start], at) from fault
        offset += len(block)
        lines = list(text_lines(text))
        # The last line may be incomplete, and so may a two-byte line end.
        held = lines.pop() if lines and not over and not lines[-1].endswith("\n") else ""
        limits.check("row", len(held), name)
        yield from lines


def exact_rows(
    lines: Iterable[str],
    *,
    name: str,
    width: int,
    delimiter: str,
    limits: Limits,
    row: int = 0,
    line: int = 1,
) -> Iterator[ExactRow]:
    """Read rows.

    Args:
        lines: text, line by line, from the beginning of a row.
        name: the file's name.
        width: how many cells a row has.
        delimiter: what separates them.
        limits: how long a cell may be.
        row: the number of the first row, counted from 0 below the header.
        line: the number of the first line.

    Raises:
        LogError: quotes are broken, so that the ends of rows are unknown.
    """
    csv.field_size_limit(max(csv.field_size_limit(), limits.text))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    blank: list[int] = []
    number = row
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as fault:
            at = f"{name}, row {number + 1 + len(blank)} (line {line - 1 + reader.line_num})"
            if "field limit" in str(fault):
                raise limits.exceeded("text", at) from fault
            raise broken(at, fault) from fault
        if cells is None:
            return  # blank lines at the end are no rows
        at_line = line - 1 + reader.line_num
        if not cells and width > 1:
            blank.append(at_line)
            continue
        for place in blank:
            yield ExactRow(None, place, _ragged(width, 0))
        number += len(blank) + 1
        blank.clear()
        if len(cells) == width or not cells:
            yield ExactRow(cells or [""], at_line)
        else:
            yield ExactRow(None, at_line, _ragged(width, len(cells)))


def _ragged(width: int, got: int) -> str:
    return (
        f"expected {width} cells as in the header; got {got}; "
        "try quotes around a cell that holds the delimiter"
    )


def broken(where: str, fault: csv.Error) -> LogError:
    """The error for quotes that do not fit together."""
    return LogError(
        f"{where}: expected CSV; got {fault}; "
        "try doubling quotes inside a quoted cell, and closing it"
    )

"""Cut a stream of bytes into blocks of whole rows, so that each can be parsed by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import LogBytes

__all__ = ["RowBlock", "RowBlocks", "line_ends", "row_ends"]

BLOCK = 4 << 20
_QUOTE, _LF, _CR = 34, 10, 13


@dataclass(frozen=True)
class RowBlock:
    """Some whole rows, as UTF-8.

    Attributes:
        data: the bytes, with the line end of the last row unless the file ends without one.
        offset: where they begin, counted in the bytes that the stream gives.
        line: the number of the first line.
        regular: quotes occur only where cells begin and end. If not, this block is all that is
            left of the file, as far as it was read, and only a reader that goes through it sign
            by character finds where rows end.
        quoted: there are quotes at all.
    """

    data: bytes
    offset: int
    line: int
    regular: bool = True
    quoted: bool = False


class RowBlocks:
    """The blocks of one file, or of a stretch of it.

    Attributes:
        done: how much of the file on disk has been read.
    """

    def __init__(
        self,
        stream: LogBytes,
        limits: Limits,
        name: str,
        *,
        delimiter: str | None = None,
        offset: int = 0,
        line: int = 1,
        stop: int = -1,
        blank_is_row: bool = True,
        size: int = BLOCK,
    ) -> None:
        """Begin at a row.

        Args:
            stream: what to read, from ``offset`` on.
            limits: how long a row may be.
            name: the file's name, for errors.
            delimiter: what separates cells if quotes can hold line ends; ``None`` if a line end
                is always the end of a row.
            offset: the position in the stream.
            line: the line at that position.
            stop: where to end; -1 for the end of the file.
            blank_is_row: whether an empty line is a row; else those at the very end are none.
            size: bytes a block, about.
        """
        self._stream = stream
        self._limits = limits
        self._name = name
        self._delimiter = delimiter
        self._offset, self._line, self._stop = offset, line, stop
        self._blank_is_row = blank_is_row
        self._size = size
        self._read = offset
        self._over = False

    @property
    def done(self) -> int:
        """How much of the file on disk has been read."""
        return self._stream.done

    def more(self) -> bytes:
        """The next bytes, cut by no row; for a reader that takes over from here."""
        size = self._size if self._stop < 0 else min(self._size, self._stop - self._read)
        data = self._stream.read(size) if size > 0 else b""
        self._read += len(data)
        self._over = not data
        return data

    def __iter__(self) -> Iterator[RowBlock]:
        held = b""
        while not self._over:
            data = self.more()
            held = held + data if held else data
            if self._over:
                break
            cut, regular, quoted = self._cut(held)
            if not regular:
                yield self._block(held, False, True)
                return
            if cut:
                yield self._block(held[:cut], True, quoted)
                held = held[cut:]
            self._limits.check("row", len(held), f"{self._name}, line {self._line}")
        _, regular, quoted = self._cut(held, at_end=True)
        if regular and not self._blank_is_row:
            held = _without_blank_end(held)
        if held:
            yield self._block(held, regular, quoted)

    def _block(self, data: bytes, regular: bool, quoted: bool) -> RowBlock:
        made = RowBlock(data, self._offset, self._line, regular, quoted)
        self._offset += len(data)
        self._line += line_ends(data)
        return made

    def _cut(self, data: bytes, *, at_end: bool = False) -> tuple[int, bool, bool]:
        """Where the last whole row ends, whether quotes are regular, whether there are any."""
        quotes = None
        if self._delimiter is not None and not self._delimiter.isascii():
            return 0, False, True
        if self._delimiter is not None and b'"' in data:
            signs = np.frombuffer(data, np.uint8)
            quotes = np.flatnonzero(signs == _QUOTE)
            # Once the last row is whole no quote is open; until then only those before count.
            if not _regular(signs, quotes, ord(self._delimiter), at_end=at_end):
                return 0, False, True
        cut = _last_row_end(data, quotes)
        if not self._blank_is_row and cut:
            cut = _before_blank(data, cut)
        return cut, True, quotes is not None


def _regular(signs: np.ndarray, quotes: np.ndarray, delimiter: int, *, at_end: bool) -> bool:
    """Whether every quote opens or closes a cell, or is one of a pair inside a cell."""
    opening, closing = quotes[0::2], quotes[1::2]
    before = signs[opening[opening > 0] - 1]
    after = signs[closing[closing < len(signs) - 1] + 1]
    ends = (_LF, _CR, delimiter, _QUOTE)
    if not (np.isin(before, ends).all() and np.isin(after, ends).all()):
        return False
    # A quote before an opening one must be its twin, the closing one; after, likewise.
    return len(quotes) % 2 == 0 or not at_end


def _last_row_end(data: bytes, quotes: np.ndarray | None) -> int:
    """The index behind the last line end that is outside of quotes; 0 if there is none."""
    end = len(data)
    while True:
        found = data.rfind(b"\n", 0, end)
        if found < 0:
            # Lines of an old kind end with a carriage return; one at the very end may go on.
            found = data.rfind(b"\r", 0, min(end, len(data) - 1))
        if found < 0:
            return 0
        if quotes is None or int(np.searchsorted(quotes, found)) % 2 == 0:
            return found + 1
        # Inside quotes: go to where they were opened.
        end = int(quotes[int(np.searchsorted(quotes, found)) - 1])


def _before_blank(data: bytes, cut: int) -> int:
    """Leave empty lines to the next block: at the end of the file they are none."""
    last = len(data[:cut].rstrip(b"\r\n"))
    if not last:
        return 0
    return last + (2 if data[last : last + 2] == b"\r\n" else 1)


def _without_blank_end(data: bytes) -> bytes:
    kept = len(data.rstrip(b"\r\n"))
    return data[: kept + 2 if data[kept : kept + 2] == b"\r\n" else kept + 1] if kept else b""


def row_ends(block: RowBlock) -> int:
    """How many rows a regular block has."""
    ends = line_ends(block.data)
    if block.quoted:
        signs = np.frombuffer(block.data, np.uint8)
        quotes = np.flatnonzero(signs == _QUOTE)
        following = np.append(signs[1:], 0)
        line_end = (signs == _LF) | ((signs == _CR) & (following != _LF))
        inside = np.searchsorted(quotes, np.flatnonzero(line_end)) % 2 == 1
        ends -= int(inside.sum())
    return ends if block.data.endswith((b"\n", b"\r")) else ends + 1


def line_ends(data: bytes) -> int:
    """How many lines end in these bytes, in any of the three ways."""
    ends = data.count(b"\n")
    if b"\r" in data:
        ends += data.count(b"\r") - data.count(b"\r\n")
    return ends

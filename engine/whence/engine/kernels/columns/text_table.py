"""A table of texts as bytes: numbers whole Arrow arrays without a Python object for each text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from whence.engine.kernels.columns.growing import roomy
from whence.engine.values.jit import jit

__all__ = ["TextTable"]

Codes = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

_SMALLEST = 2**14


class TextTable:
    """Distinct texts, one after the other in one array of bytes, found by their hash.

    The table is open-addressed and at most half full: 32 bits of the hash beside the number, so
    that growing never looks at the bytes again.

    Attributes:
        count: how many texts.
    """

    __slots__ = ("_arena", "_entries", "_starts", "count")

    def __init__(self) -> None:
        self.count = 0
        self._entries: Words = np.zeros(_SMALLEST, np.uint64)
        self._starts: Codes = np.zeros(_SMALLEST, np.int64)
        self._arena: Bytes = np.zeros(_SMALLEST, np.uint8)

    def number(self, offsets: Codes, data: Bytes, valid: npt.NDArray[np.bool_]) -> Codes:
        """The number of every text of an array; new ones are numbered, 0 where there is none.

        Args:
            offsets: where each text begins, and where the last one ends.
            data: the bytes.
            valid: which texts are there; empty if all are.
        """
        codes = np.empty(len(offsets) - 1, np.int64)
        row = 0
        while True:
            row, self.count = _number(
                offsets,
                data,
                _words(data),
                valid,
                row,
                self.count,
                self._entries,
                self._starts,
                self._arena,
                _words(self._arena),
                codes,
            )
            if row == len(codes):
                return codes
            self._make_room(int(offsets[row + 1] - offsets[row]))

    def _make_room(self, more: int) -> None:
        """Let another text of so many bytes fit."""
        if 2 * (self.count + 1) > len(self._entries):
            entries = np.zeros(2 * len(self._entries), np.uint64)
            _spread(self._entries, entries)
            self._entries = entries
        self._starts = roomy(self._starts, self.count + 2)
        self._arena = roomy(self._arena, int(self._starts[self.count]) + more)

    def number_bytes(self, texts: list[bytes]) -> Codes:
        """The same for texts that are encoded one by one."""
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        return self.number(offsets, _read_only(b"".join(texts)), np.zeros(0, np.bool_))

    def number_array(self, array: pa.Array) -> Codes:
        """The same for an Arrow array of texts."""
        wide = pa.types.is_large_string(array.type)
        _, starts, data = array.buffers()
        first = array.offset
        if starts is None or not len(array):
            return np.zeros(len(array), np.int64)
        ends = np.frombuffer(starts, np.int64 if wide else np.int32)
        offsets: Codes = ends[first : first + len(array) + 1].astype(np.int64)
        valid = np.zeros(0, np.bool_)
        if array.null_count:
            valid = np.asarray(array.is_valid())
        return self.number(offsets, _read_only(data), valid)

    def text(self, number: int) -> str:
        """One text."""
        lo, hi = int(self._starts[number]), int(self._starts[number + 1])
        return self._arena[lo:hi].tobytes().decode("utf-8", "surrogatepass")

    def texts(self, first: int) -> list[str]:
        """All texts from a number on."""
        ends = self._starts[first : self.count + 1]
        held = self._arena[int(ends[0]) : int(ends[-1])].tobytes()
        places = (ends - ends[0]).tolist()
        return [held[lo:hi].decode("utf-8", "surrogatepass") for lo, hi in pairwise(places)]

    def to_arrow(self) -> pa.Array:
        """All texts, in the order of their numbers."""
        starts = self._starts[: self.count + 1].copy()
        held = self._arena[: int(starts[-1])].copy()
        buffers = [None, pa.py_buffer(starts), pa.py_buffer(held)]
        return pa.Array.from_buffers(pa.large_string(), self.count, buffers)


def _read_only(data: pa.Buffer | bytes | None) -> Bytes:
    """Bytes as an array; always of the same type, so that the loop is compiled once."""
    found = np.frombuffer(data if data is not None and len(data) else bytes(8), np.uint8)
    found.flags.writeable = False
    return found


def _words(data: Bytes) -> Words:
    """The eight bytes that begin at every byte."""
    return np.ndarray((max(len(data) - 7, 0),), np.uint64, data, strides=(1,))


@jit
def _spread(entries: Words, more: Words) -> None:
    """Take the entries over into a table that is twice as long."""
    mask = np.uint64(len(more) - 1)
    one, half, none = np.uint64(1), np.uint64(32), np.uint64(0)
    for place in range(len(entries)):
        entry = entries[place]
        if entry != none:
            at = (entry >> half) & mask
            while more[at] != none:
                at = (at + one) & mask
            more[at] = entry


@jit
def _number(
    offsets: Codes,
    data: Bytes,
    words: Words,
    valid: npt.NDArray[np.bool_],
    row: int,
    count: int,
    entries: Words,
    starts: Codes,
    arena: Bytes,
    held: Words,
    codes: Codes,
) -> tuple[int, int]:
    """Number the texts from a row on; return the row that finds no room, and how many there are."""
    mask = np.uint64(len(entries) - 1)
    one, half, none, byte = np.uint64(1), np.uint64(32), np.uint64(0), np.uint64(8)
    low = np.uint64(0xFFFFFFFF)
    by = np.uint64(0x9E3779B97F4A7C15)
    some = len(valid) > 0
    signs = np.empty(256, np.uint64)
    looks = np.empty(256, np.uint64)
    for begin in range(row, len(codes), 256):
        stop = min(begin + 256, len(codes))
        # First the hashes of some texts: where they lead is then on its way to the processor.
        for k in range(begin, stop):
            lo, hi = offsets[k], offsets[k + 1]
            size = hi - lo
            mixed = np.uint64(size) * by
            if size < 8:
                word = none
                for place in range(size):
                    word = (word << byte) | np.uint64(data[lo + place])
                mixed = (mixed ^ word) * by
            else:
                # Eight bytes at a time, the last ones some of them again.
                for place in range(lo, hi - 8, 8):
                    mixed = (mixed ^ words[place]) * by
                    mixed ^= mixed >> half
                mixed = (mixed ^ words[hi - 8]) * by
            mixed = (mixed ^ (mixed >> half)) * by
            signs[k - begin] = mixed >> half
            looks[k - begin] = entries[(mixed >> half) & mask]
        for k in range(begin, stop):
            if some and not valid[k]:
                codes[k] = 0
                continue
            lo, hi = offsets[k], offsets[k + 1]
            size = hi - lo
            sign = signs[k - begin]
            at = sign & mask
            found = np.int64(-1)
            while entries[at] != none:
                entry = entries[at]
                if entry >> half == sign:
                    known = np.int64(entry & low) - 1
                    start = starts[known]
                    if starts[known + 1] - start == size:
                        place = 0
                        while place + 8 <= size and held[start + place] == words[lo + place]:
                            place += 8
                        while place < size and arena[start + place] == data[lo + place]:
                            place += 1
                        if place == size:
                            found = known
                            break
                at = (at + one) & mask
            if found < 0:
                start = starts[count]
                if (
                    2 * (count + 1) > len(entries)
                    or count + 2 > len(starts)
                    or start + size > len(arena)
                ):
                    return k, count
                for place in range(size):
                    arena[start + place] = data[lo + place]
                starts[count + 1] = start + size
                entries[at] = (sign << half) | np.uint64(count + 1)
                found = np.int64(count)
                count += 1
            codes[k] = found
    return len(codes), count

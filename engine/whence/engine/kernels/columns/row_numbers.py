"""Row numbers, and zeros, made once: most kernels ask for the same ones in every batch."""

from __future__ import annotations

from typing import overload

import numpy as np

from whence.engine.kernels.columns.column import Ints

__all__ = ["Counted", "rows_from", "zeros"]

_MOST = 2**20
_counted: list[Ints] = [np.arange(2**10)]
_zeros: list[Ints] = [np.zeros(2**10, np.int64)]


def rows_from(start: int, stop: int) -> Ints:
    """The numbers from start to stop - 1; nobody may write into the array.

    >>> rows_from(2, 5)
    array([2, 3, 4])
    """
    if stop > _MOST:
        return np.arange(start, stop)
    if stop > len(_counted[0]):
        _counted[0] = np.arange(min(_MOST, 2 * stop))
    return _counted[0][start:stop]


def zeros(count: int) -> Ints:
    """So many zeros; nobody may write into the array.

    >>> zeros(3)
    array([0, 0, 0])
    """
    if count > _MOST:
        return np.zeros(count, np.int64)
    if count > len(_zeros[0]):
        _zeros[0] = np.zeros(min(_MOST, 2 * count), np.int64)
    return _zeros[0][:count]


class Counted:
    """The numbers from one on, read like an array that is made only where somebody looks.

    >>> found = Counted(7, 3)
    >>> found[2], found[1:], found[np.array([0, 2])], found.tolist()
    (9, array([8, 9]), array([7, 9]), [7, 8, 9])
    """

    __slots__ = ("count", "first")

    def __init__(self, first: int, count: int) -> None:
        """Keep where they begin, and how many there are."""
        self.first = first
        self.count = count

    def __len__(self) -> int:
        """How many numbers."""
        return self.count

    @overload
    def __getitem__(self, rows: int) -> int: ...
    @overload
    def __getitem__(self, rows: slice | Ints) -> Ints: ...
    def __getitem__(self, rows: int | slice | Ints) -> int | Ints:
        """Some of them."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(self.count)
            return np.arange(self.first + start, self.first + stop, step)
        if isinstance(rows, int):
            return self.first + (rows if rows >= 0 else rows + self.count)
        return rows + self.first

    def tolist(self) -> list[int]:
        """All of them."""
        return list(range(self.first, self.first + self.count))

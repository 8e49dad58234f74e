"""Numbers that are made only where somebody looks at them, and row numbers that are made once.

At the top of a chain most moments and positions are simply one after the other, or the same many
times over, and nobody reads them before the record is written.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from whence.engine.kernels.columns.column import Ints

__all__ = ["Counted", "LazyInts", "Numbers", "Repeated", "made", "rows_from", "zeros"]

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


class LazyInts:
    """Numbers that are not there yet; read like an array, but nobody may write into them."""

    __slots__ = ("_made", "count")

    def __init__(self, count: int) -> None:
        """Make none of them."""
        self.count = count
        self._made: Ints | None = None

    def __len__(self) -> int:
        """How many."""
        return self.count

    @overload
    def __getitem__(self, rows: int) -> int: ...
    @overload
    def __getitem__(self, rows: Ints) -> Ints: ...
    @overload
    def __getitem__(self, rows: slice) -> Numbers: ...
    def __getitem__(self, rows: int | slice | Ints) -> int | Numbers:
        """Some of them."""
        if isinstance(rows, int):
            return self._at(rows if rows >= 0 else rows + self.count)
        if isinstance(rows, slice):
            start, stop, step = rows.indices(self.count)
            assert step == 1
            return self._part(start, stop)
        return self._some(rows)

    def array(self) -> Ints:
        """All of them."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def tolist(self) -> list[int]:
        """All of them, as Python has them."""
        found: list[int] = self.array().tolist()
        return found

    def _make(self) -> Ints:
        raise NotImplementedError

    def _at(self, row: int) -> int:
        return int(self.array()[row])

    def _some(self, rows: Ints) -> Ints:
        return self.array()[rows]

    def _part(self, start: int, stop: int) -> Numbers:
        return self.array()[start:stop]


Numbers = Ints | LazyInts
"""Numbers, or how to make them."""


class Counted(LazyInts):
    """One number after the other.

    >>> found = Counted(7, 4)
    >>> found[2], found[-1], len(found[1:]), found[np.array([0, 2])], made(found[1:3])
    (9, 10, 3, array([7, 9]), array([8, 9]))
    """

    __slots__ = ("first",)

    def __init__(self, first: int, count: int) -> None:
        super().__init__(count)
        self.first = first

    def _make(self) -> Ints:
        return np.arange(self.first, self.first + self.count)

    def _at(self, row: int) -> int:
        return self.first + row

    def _some(self, rows: Ints) -> Ints:
        return rows + self.first

    def _part(self, start: int, stop: int) -> Numbers:
        return Counted(self.first + start, max(stop - start, 0))


class Repeated(LazyInts):
    """Each of some numbers so many times, so many in all.

    >>> found = Repeated(np.array([3, 5]), np.array([1, 2]), 3)
    >>> found[2], made(found), found[1:]
    (5, array([3, 5, 5]), array([5, 5]))
    """

    __slots__ = ("numbers", "sizes")

    def __init__(self, numbers: Numbers, sizes: Ints, count: int) -> None:
        super().__init__(count)
        self.numbers, self.sizes = numbers, sizes

    def _make(self) -> Ints:
        return np.repeat(made(self.numbers), self.sizes)


def made(numbers: Numbers) -> Ints:
    """The numbers themselves."""
    return numbers.array() if isinstance(numbers, LazyInts) else numbers

"""When events appeared: numbers that are made only where somebody looks at them.

At the top of a chain most are simply one after the other, or the same many times over, and nobody
reads them before the record is written.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from whence.engine.kernels.columns.column import Ints

__all__ = ["Moments", "When", "counted", "made", "repeated"]


class Moments:
    """Numbers that are not there yet; read like an array."""

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
    def __getitem__(self, rows: slice) -> When: ...
    @overload
    def __getitem__(self, rows: Ints) -> Ints: ...
    def __getitem__(self, rows: int | slice | Ints) -> int | When:
        """Some of them."""
        found = self.array()[rows]
        return int(found) if isinstance(rows, int) else found

    def array(self) -> Ints:
        """All of them; nobody may write into the array."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def _make(self) -> Ints:
        raise NotImplementedError


When = Ints | Moments
"""When some events appeared; falls nowhere."""


class _Counted(Moments):
    __slots__ = ("first",)

    def __init__(self, first: int, count: int) -> None:
        super().__init__(count)
        self.first = first

    @overload
    def __getitem__(self, rows: int) -> int: ...
    @overload
    def __getitem__(self, rows: slice) -> When: ...
    @overload
    def __getitem__(self, rows: Ints) -> Ints: ...
    def __getitem__(self, rows: int | slice | Ints) -> int | When:
        if isinstance(rows, slice):
            start, stop, step = rows.indices(self.count)
            assert step == 1
            return _Counted(self.first + start, max(stop - start, 0))
        if isinstance(rows, int):
            return self.first + (rows if rows >= 0 else rows + self.count)
        return rows + self.first

    def _make(self) -> Ints:
        return np.arange(self.first, self.first + self.count)


class _Repeated(Moments):
    __slots__ = ("moments", "sizes")

    def __init__(self, moments: Ints, sizes: Ints, count: int) -> None:
        super().__init__(count)
        self.moments, self.sizes = moments, sizes

    def _make(self) -> Ints:
        return np.repeat(self.moments, self.sizes)


def counted(first: int, count: int) -> Moments:
    """One number after the other.

    >>> found = counted(7, 4)
    >>> found[2], found[-1], len(found[1:]), found[np.array([0, 2])], made(found[1:3])
    (9, 10, 3, array([7, 9]), array([8, 9]))
    """
    return _Counted(first, count)


def repeated(moments: Ints, sizes: Ints, count: int) -> Moments:
    """Each of some numbers so many times, so many in all.

    >>> found = repeated(np.array([3, 5]), np.array([1, 2]), 3)
    >>> found[2], made(found), found[1:]
    (5, array([3, 5, 5]), array([5, 5]))
    """
    return _Repeated(moments, sizes, count)


def made(moments: When) -> Ints:
    """The numbers themselves."""
    return moments.array() if isinstance(moments, Moments) else moments

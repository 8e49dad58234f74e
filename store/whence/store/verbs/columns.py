"""Sets of positions as columns: numbered rows, masks over them, and back to ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from whence.engine.lineage.positions import Intervals
from whence.store.packed import Ints

__all__ = ["Mask", "Numbered", "covered"]

Mask: TypeAlias = npt.NDArray[np.bool_]

SPREAD = 4
"""Up to so many times as many places as there are positions, each place has a row of its own."""


class Numbered:
    """The positions of a log or stream that something leads from or to, as rows from 0 on.

    >>> some = Numbered([np.array([5, 9]), np.array([5])], 1)
    >>> some.rows(np.array([9, 5])).tolist(), some.positions(np.array([0])).tolist()
    ([4, 0], [5])
    """

    def __init__(self, columns: Sequence[Ints], w: int, *, dense: bool = False) -> None:
        """Number what is in some columns.

        Args:
            columns: at least one, not all of them empty.
            w: by what outer positions are multiplied, inside a Slice; most positions are then
                multiples of it.
            dense: number all positions between the first and the last.
        """
        filled = [column for column in columns if len(column)]
        first = min(int(column.min()) for column in filled)
        last = max(int(column.max()) for column in filled)
        step = w if w > 1 and not any(bool((column % w).any()) for column in filled) else 1
        self._first, self._step = first, step
        self.size = (last - first) // step + 1
        self._known: Ints | None = None
        if not dense and self.size > SPREAD * sum(map(len, filled)) + 4096:
            self._known = np.unique(np.concatenate(filled))
            self.size = len(self._known)

    def rows(self, positions: Ints) -> Ints:
        """The rows of positions that are among those numbered."""
        if self._known is not None:
            found: Ints = np.searchsorted(self._known, positions)
            return found
        shifted = positions - self._first
        return shifted if self._step == 1 else shifted // self._step

    def positions(self, rows: Ints) -> Ints:
        """The positions of rows."""
        return rows * self._step + self._first if self._known is None else self._known[rows]

    def between(self, los: Ints, his: Ints) -> tuple[Ints, Ints]:
        """For each range its first row, and the first row after it; the same where it has none."""
        if self._known is None:
            begin = -((self._first - los) // self._step)
            end = (his - self._first) // self._step + 1
        else:
            begin = np.searchsorted(self._known, los)
            end = np.searchsorted(self._known, his, side="right")
        begin, end = np.clip(begin, 0, self.size), np.clip(end, 0, self.size)
        return begin, np.maximum(begin, end)

    def mask(self, ranges: Intervals) -> Mask:
        """The rows whose positions are in some ranges."""
        los, his = np.array(ranges, np.int64).reshape(-1, 2).T
        return covered(*self.between(los, his), self.size)


def covered(begin: Ints, end: Ints, size: int) -> Mask:
    """Which of so many rows lie in one of some ranges, each from its begin to before its end.

    >>> covered(np.array([0, 1]), np.array([1, 3]), 4).tolist()
    [True, True, True, False]
    """
    if len(begin) == 1:
        found = np.zeros(size, np.bool_)
        found[begin[0] : end[0]] = True
        return found
    changes = np.bincount(begin, minlength=size + 1) - np.bincount(end, minlength=size + 1)
    return np.cumsum(changes[:-1]) > 0

"""Row numbers, and zeros, made once: most kernels ask for the same ones in every batch."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.columns import Ints

__all__ = ["rows_from", "zeros"]

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

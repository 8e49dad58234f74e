"""Row numbers, counted once: most kernels ask for the same ones in every batch."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.columns import Ints

__all__ = ["rows_from"]

_MOST = 2**20
_counted: list[Ints] = [np.arange(2**10)]


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

"""Arrays with room for more: every state that is indexed by slot, or by number, grows this way."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["grown"]

T = TypeVar("T", bound=np.generic)


def grown(array: npt.NDArray[T], count: int, fill: Any) -> npt.NDArray[T]:
    """The array with room for so many; twice as long at least, if it has to be longer.

    >>> grown(np.array([4, 2, 7]), 4, -1)
    array([ 4,  2,  7, -1, -1, -1])
    """
    have = len(array)
    if have >= count:
        return array
    shape = (max(count, 2 * have), *array.shape[1:])
    if not fill:
        # Zeros come from the system as they are: pages that nobody uses cost nothing.
        more = np.zeros(shape, array.dtype)
    else:
        more = np.empty(shape, array.dtype)
        more[have:] = fill
    more[:have] = array
    return more

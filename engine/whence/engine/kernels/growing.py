"""Arrays with room for more: every state that is indexed by slot, or by number, grows this way."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["grown"]

T = TypeVar("T", bound=np.generic)

_MUCH = 2**20


def grown(array: npt.NDArray[T], count: int, fill: Any) -> npt.NDArray[T]:
    """The array with room for so many; at least twice as long, if it has to be longer.

    >>> grown(np.array([4, 2, 7]), 4, -1)
    array([ 4,  2,  7, -1, -1, -1])
    """
    have = len(array)
    if have >= count:
        return array
    if not np.array(fill, array.dtype).tobytes().strip(b"\0"):
        # Zeros come from the system as they are: pages that nobody uses yet cost nothing.
        times = 8 if array.nbytes > _MUCH else 2
        more = np.zeros((max(count, times * have), *array.shape[1:]), array.dtype)
    else:
        more = np.empty((max(count, 2 * have), *array.shape[1:]), array.dtype)
        more[have:] = fill
    more[:have] = array
    return more

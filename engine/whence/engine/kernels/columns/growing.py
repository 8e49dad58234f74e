"""Arrays with room for more: every state that is indexed by slot, or by number, grows this way."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["grown", "roomy"]

T = TypeVar("T", bound=np.generic)

_MUCH, _RESERVED = 2**20, 2**27


def grown(array: npt.NDArray[T], count: int, fill: Any) -> npt.NDArray[T]:
    """The array with room for so many; at least twice as long, if it has to be longer.

    >>> grown(np.array([4, 2, 7]), 4, -1)
    array([ 4,  2,  7, -1, -1, -1])
    """
    have = len(array)
    if have >= count:
        return array
    more = np.empty((max(count, 2 * have), *array.shape[1:]), array.dtype)
    more[:have] = array
    more[have:] = fill
    return more


def roomy(array: npt.NDArray[T], count: int) -> npt.NDArray[T]:
    """The same filled with zeros; a long one asks for so much room that it is seldom copied.

    Zeros come from the system as they are, and pages that nobody uses yet cost nothing: whoever
    asks for them keeps count of what is used, and looks at no more.
    """
    have = len(array)
    if have >= count:
        return array
    wanted = max(count, 2 * have)
    if array.nbytes > _MUCH:
        wanted = max(wanted, 8 * have, _RESERVED * have // array.nbytes)
    try:
        more = np.zeros((wanted, *array.shape[1:]), array.dtype)
    except MemoryError:
        more = np.zeros((max(count, 2 * have), *array.shape[1:]), array.dtype)
    more[:have] = array
    return more

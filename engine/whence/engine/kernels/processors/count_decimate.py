"""CountDecimate on batches: keep every n-th event."""

from __future__ import annotations

from whence.engine.kernels.kernel import Kernel, Place
from whence.engine.kernels.selecting import Selecting
from whence.engine.processors import CountDecimate

__all__ = ["kernel"]


def kernel(place: Place) -> Kernel:
    """The kernel of a CountDecimate: output k is input k*n and is explained by it."""
    assert isinstance(place.processor, CountDecimate)
    n = place.processor.n
    return Selecting(place, lambda numbers: numbers % n == 0)

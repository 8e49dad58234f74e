"""Trim on batches: drop the beginning."""

from __future__ import annotations

from whence.engine.kernels.kernel import Kernel, Place
from whence.engine.kernels.selecting import Selecting
from whence.engine.processors import Trim

__all__ = ["kernel"]


def kernel(place: Place) -> Kernel:
    """The kernel of a Trim: output k is input k+n and is explained by it."""
    assert isinstance(place.processor, Trim)
    n = place.processor.n
    return Selecting(place, lambda numbers: numbers >= n)

"""Passthrough on batches: the input as it is."""

from __future__ import annotations

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.kernel import Born, Kernel, Place

__all__ = ["kernel"]


class _Passthrough(Kernel):
    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Output k is input k and is explained by it."""
        return [front.pipes[0]]


def kernel(place: Place) -> Kernel:
    """The kernel of a Passthrough."""
    return _Passthrough(place)

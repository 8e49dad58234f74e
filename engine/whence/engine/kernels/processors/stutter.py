"""Stutter on batches: say every event several times."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.processors import Stutter

__all__ = ["kernel"]


class _Stutter(Kernel):
    def __init__(self, place: Place, n: int) -> None:
        super().__init__(place)
        self.n = n

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Output k comes from input k // n."""
        (batch,) = front.pipes
        return [batch.take(np.repeat(np.arange(len(batch)), self.n))]


def kernel(place: Place) -> Kernel:
    """The kernel of a Stutter."""
    assert isinstance(place.processor, Stutter)
    return _Stutter(place, place.processor.n)

"""Fork on batches: several copies of a stream."""

from __future__ import annotations

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.kernel import Born, Kernel, Place

__all__ = ["kernel"]


class _Fork(Kernel):
    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Output k of every pipe is input k and is explained by it."""
        return [front.pipes[0]] * len(self.place.outputs)


def kernel(place: Place) -> Kernel:
    """The kernel of a Fork."""
    return _Fork(place)

"""F: the first true decides every verdict that waits."""

from __future__ import annotations

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.expressions.conditions import conditions
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.kernels.operator import WaitsForOne

__all__ = ["kernel"]


class _Eventually(WaitsForOne):
    verdict = False
    decisive = True

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """A true brings a burst of verdicts."""
        (holds,) = conditions(self, front)
        return self.burst(front, born, holds)


def kernel(place: Place) -> Kernel:
    """The kernel of F."""
    return _Eventually(place)

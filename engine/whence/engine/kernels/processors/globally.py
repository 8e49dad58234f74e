"""G: the first false decides every verdict that waits."""

from __future__ import annotations

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.expressions.conditions import conditions
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.kernels.operator import WaitsForOne

__all__ = ["kernel"]


class _Globally(WaitsForOne):
    verdict = True
    decisive = False

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """A false brings a burst of verdicts."""
        (holds,) = conditions(self, front)
        return self.burst(front, born, ~holds)


def kernel(place: Place) -> Kernel:
    """The kernel of G."""
    return _Globally(place)

"""Multiplex on batches: several streams in one."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.batch import Batch, Front, join_batches
from whence.engine.kernels.kernel import Born, Kernel, Place

__all__ = ["kernel"]


class _Multiplex(Kernel):
    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Each output is explained by the one event it copies; the whole front has to be there."""
        exists = front.exists()
        copies = []
        for batch in front.pipes:
            reasons = batch.reasons.existing(exists)
            copies.append(Batch(batch.values, front.moment, front.slot, *reasons))
        count, pipes = len(front), len(copies)
        order = np.arange(count * pipes).reshape(pipes, count).T.reshape(-1)
        return [join_batches(copies).take(order)]


def kernel(place: Place) -> Kernel:
    """The kernel of a Multiplex."""
    return _Multiplex(place)

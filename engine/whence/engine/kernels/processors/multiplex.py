"""Multiplex on batches: several streams in one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whence.engine.kernels.batch import Batch, Front, join_batches
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.kernels.trails.composing import union

__all__ = ["kernel"]


class _Multiplex(Kernel):
    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Each output is explained by the one event it copies; the whole front has to be there."""
        exists = front.exists()
        copies = []
        for batch in front.pipes:
            sup = batch.sup if exists is None else union(batch.sup, exists)
            assert sup is not None
            copies.append(
                replace(batch, moment=front.moment, slot=front.slot, sup=sup, exists=exists)
            )
        count, pipes = len(front), len(copies)
        order = np.arange(count * pipes).reshape(pipes, count).T.reshape(-1)
        return [join_batches(copies).take(order)]


def kernel(place: Place) -> Kernel:
    """The kernel of a Multiplex."""
    return _Multiplex(place)

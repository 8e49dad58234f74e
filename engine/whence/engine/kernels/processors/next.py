"""X: the verdict at k is input k+1."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Column, Ints
from whence.engine.kernels.expressions.conditions import conditions
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.kernels.operator import OperatorKernel
from whence.engine.kernels.trails.entries import NONE, Entries
from whence.engine.kernels.trails.so_far import previous

__all__ = ["kernel"]


class _Next(OperatorKernel):
    """Once an instance has an event, every further one is a verdict."""

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Leave out the first event of every instance."""
        self.waiting.grow(born.count)
        (values,) = conditions(self, front)
        (batch,) = front.pipes
        waiting = self.waiting
        count = len(front)
        column = Column("boolean", values, None, self.run.texts)
        reasons = batch.reasons.ask()._replace(exists=batch.exists)
        found = Batch(column, front.moment, front.slot, *reasons)
        if front.slot is None:
            if count:
                skipped = 0 if waiting.count[0] else 1
                waiting.count[0] = 1
                self._wait(front, np.array([count - 1]), found)
                if skipped:
                    return [found.slice(1, count)]
            return [found]
        begins = (previous(front.slot, count) < 0) & (waiting.count[front.slot] == 0)
        last = np.full(len(waiting.count), -1)
        last[front.slot] = np.arange(count)  # of several rows of a slot the last one stays
        waiting.count[front.slot] = 1
        self._wait(front, np.sort(last[last >= 0]), found)
        return [found.take(np.flatnonzero(~begins)) if begins.any() else found]

    def _wait(self, front: Front, rows: Ints, found: Batch) -> None:
        """The last event of each instance waits for another; only closing asks which it was."""
        if self.closes:
            owners = np.zeros(1, np.int64) if front.slot is None else front.slot[rows]
            self.waiting.burst(owners)
            self.waiting.add(front.slot, rows, [found.reasons._replace(exists=None)])

    def open(self) -> Entries:
        """When the next verdict comes does not depend on values."""
        return NONE


def kernel(place: Place) -> Kernel:
    """The kernel of X."""
    return _Next(place)

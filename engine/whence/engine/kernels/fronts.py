"""Put the events of several pipes together: the k-th of each, instance by instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from whence.engine.kernels.batch import Batch, Front, join_batches
from whence.engine.kernels.columns import Bools, Ints

__all__ = ["Fronts", "ranks"]


def ranks(slot: Ints) -> Ints:
    """For every row, how many rows of its slot come before it.

    >>> ranks(np.array([0, 1, 0, 0, 1]))
    array([0, 0, 1, 2, 1])
    """
    order = np.argsort(slot, kind="stable")
    ordered = slot[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    counts = np.diff(np.append(begins, len(slot)))
    found = np.empty(len(slot), np.int64)
    found[order] = np.arange(len(slot)) - np.repeat(begins, counts)
    return found


class Fronts:
    """What waits on each pipe of a processor until the other pipes have as much."""

    def __init__(self, pipes: int) -> None:
        """Nothing waits yet."""
        self.waiting: list[Batch | None] = [None] * pipes

    def feed(self, arrived: Sequence[Batch]) -> Front:
        """Take what arrived; return every front that is complete now."""
        if len(arrived) == 1:
            (only,) = arrived
            return Front((only,), only.moment, only.slot)
        if not any(batch is not None for batch in self.waiting) and _in_step(arrived):
            return Front(tuple(arrived), arrived[0].moment, arrived[0].slot)
        held = [
            new if old is None else join_batches([old, new])
            for old, new in zip(self.waiting, arrived, strict=True)
        ]
        if held[0].slot is None:
            return self._in_a_row(held)
        rows = _meet(held)
        moment = reduce(np.maximum, [b.moment[r] for b, r in zip(held, rows, strict=True)])
        for pipe, (batch, used) in enumerate(zip(held, rows, strict=True)):
            left: Bools = np.ones(len(batch), np.bool_)
            left[used] = False
            rest = np.flatnonzero(left)
            self.waiting[pipe] = batch.take(rest).settled() if len(rest) else None
        order = np.argsort(moment, kind="stable")
        moment = moment[order]
        # An event of a front counts from the moment at which the front is complete.
        taken = [b.take(r[order]) for b, r in zip(held, rows, strict=True)]
        pipes = tuple(replace(batch, moment=moment, slot=taken[0].slot) for batch in taken)
        return Front(pipes, moment, taken[0].slot)

    def _in_a_row(self, held: Sequence[Batch]) -> Front:
        """With one instance the k-th events stand side by side."""
        count = min(len(batch) for batch in held)
        taken = [batch.slice(0, count) for batch in held]
        moment = reduce(np.maximum, [batch.moment for batch in taken])
        for pipe, batch in enumerate(held):
            rest = len(batch) - count
            self.waiting[pipe] = batch.slice(count, len(batch)).settled() if rest else None
        return Front(tuple(replace(batch, moment=moment) for batch in taken), moment, None)


def _in_step(arrived: Sequence[Batch]) -> bool:
    first = arrived[0]
    return all(b.moment is first.moment and b.slot is first.slot for b in arrived[1:])


def _meet(held: Sequence[Batch]) -> list[Ints]:
    """The rows of each pipe that stand at the same place of the same slot, in order of place."""
    keys = []
    for batch in held:
        assert batch.slot is not None
        keys.append(batch.slot * (2**32) + ranks(batch.slot))
    common = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), keys)
    found = []
    for key in keys:
        order = np.argsort(key)
        found.append(order[np.searchsorted(key[order], common)])
    return found

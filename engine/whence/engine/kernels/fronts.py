"""Put the events of several pipes together: the k-th of each, instance by instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from whence.engine.kernels.batch import Batch, Front, join_batches
from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.columns.lazy_ints import made

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
        self.parts: list[list[Batch]] = [[] for _ in range(pipes)]

    @property
    def waiting(self) -> list[Batch | None]:
        """What waits on each pipe; ``None`` if nothing does."""
        return [join_batches(parts) if parts else None for parts in self.parts]

    @waiting.setter
    def waiting(self, batches: Sequence[Batch | None]) -> None:
        self.parts = [[] if batch is None else [batch] for batch in batches]

    def feed(self, arrived: Sequence[Batch]) -> Front:
        """Take what arrived; return every front that is complete now."""
        if len(arrived) == 1:
            (only,) = arrived
            return Front((only,), only.moment, only.slot)
        if not any(self.parts) and _in_step(arrived):
            return Front(tuple(arrived), arrived[0].moment, arrived[0].slot)
        if arrived[0].slot is None:
            return self._in_line(arrived)
        held = [join_batches([*old, new]) for old, new in zip(self.parts, arrived, strict=True)]
        rows = _meet(held)
        moment = reduce(np.maximum, [b.moment[r] for b, r in zip(held, rows, strict=True)])
        for pipe, (batch, used) in enumerate(zip(held, rows, strict=True)):
            left: Bools = np.ones(len(batch), np.bool_)
            left[used] = False
            rest = np.flatnonzero(left)
            self.parts[pipe] = [batch.take(rest).settled()] if len(rest) else []
        order = np.argsort(moment, kind="stable")
        moment = moment[order]
        # An event of a front counts from the moment at which the front is complete.
        taken = [b.take(r[order]) for b, r in zip(held, rows, strict=True)]
        pipes = tuple(replace(batch, moment=moment, slot=taken[0].slot) for batch in taken)
        return Front(pipes, moment, taken[0].slot)

    def _in_line(self, arrived: Sequence[Batch]) -> Front:
        """With one instance the fronts are the first rows of every pipe."""
        held = self.parts
        waited = [sum([len(batch) for batch in parts]) for parts in held]
        count = min([before + len(new) for before, new in zip(waited, arrived, strict=True)])
        moment = arrived[0].moment
        # Pipes that appeared in step: a front is complete with the event that had to be waited for.
        if len(moment) != count or any([batch.moment is not moment for batch in arrived]):
            pairs = zip(held, arrived, strict=True)
            moment = reduce(np.maximum, [_moments([*old, new], count) for old, new in pairs])
        pipes = []
        for pipe, (batch, before) in enumerate(zip(arrived, waited, strict=True)):
            fresh = max(count - before, 0)
            used = [*_first(held[pipe], count), batch.slice(0, fresh)]
            pipes.append(join_batches(used, moment))
            self.parts[pipe] = _after(held[pipe], count) if count < before else []
            if len(batch) > fresh:
                self.parts[pipe].append(batch.slice(fresh, len(batch)).copied())
        return Front(tuple(pipes), moment, None)


def _first(parts: Sequence[Batch], count: int) -> list[Batch]:
    """The first rows of several batches."""
    found = []
    for batch in parts:
        some = min(len(batch), count)
        found.append(batch.slice(0, some))
        count -= some
    return found


def _after(parts: Sequence[Batch], count: int) -> list[Batch]:
    """What is left of several batches after the first rows."""
    found = []
    for batch in parts:
        some = min(len(batch), count)
        if some < len(batch):
            found.append(batch.slice(some, len(batch)))
        count -= some
    return found


def _moments(parts: Sequence[Batch], count: int) -> Ints:
    return np.concatenate([made(batch.moment) for batch in _first(parts, count)])


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

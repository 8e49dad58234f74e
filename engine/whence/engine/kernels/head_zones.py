"""The heads of a Slice as zones: from which output to which each was the head of its slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from whence.engine.compact import Block
from whence.engine.kernels.columns import Ints
from whence.engine.kernels.entries import Names
from whence.engine.kernels.growing import roomy
from whence.engine.kernels.jit import jit
from whence.engine.kernels.kernel import Heads
from whence.engine.kernels.row_numbers import zeros

__all__ = ["HeadZones"]


class HeadZones:
    """Turns the changes of a Slice's heads into zones; those that go on stay open.

    Attributes:
        heads: where the changes are.
        last: how far the outputs have come.
    """

    def __init__(self, heads: Heads) -> None:
        """Begin without slices."""
        self.heads = heads
        self.last = -1
        self.slots = 0
        self.since: Ints = np.zeros(64, np.int64)
        self.head: Ints = np.zeros(64, np.int64)

    def take(self, names: Names, chunk: int) -> Iterator[tuple[int, Block]]:
        """The zones that began or ended since the last time, by the part they belong to.

        A zone belongs to the part in which it ends, or as long as it is open in which it began.
        """
        changes, self.heads.changes = self.heads.changes, []
        if not changes:
            return
        at, slot, head = changes[0]
        if len(changes) > 1:
            at, slot, head = (np.concatenate(arrays) for arrays in zip(*changes, strict=True))
        if not len(at):
            return
        self.slots = max(self.slots, int(slot.max()) + 1)
        self.since = roomy(self.since, self.slots)
        self.head = roomy(self.head, self.slots)
        self.last = int(at[-1])
        to = names.targets[self.heads.head_target]
        first, last = int(at[0]) // chunk, self.last // chunk
        edges = np.searchsorted(at, np.arange(first, last + 2) * chunk).tolist()
        for number, (a, b) in enumerate(pairwise(edges), first):
            if a == b:
                continue
            room = np.empty((3, 2 * (b - a)), np.int64)
            count = _zones(at[a:b], slot[a:b], head[a:b], self.since, self.head, *room)
            lo, more, inner = room[:, :count]
            items = (lo, more, inner, zeros(count))
            yield number, Block("explains", "zones", to, None, False, 1, 0, 0, *items)

    def save(self) -> dict[str, object]:
        """The heads that go on."""
        since, head = self.since[: self.slots], self.head[: self.slots]
        return {"last": self.last, "since": since, "head": head}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""
        self.last = state["last"]
        self.since, self.head = state["since"], state["head"]
        self.slots = len(self.since)


@jit
def _zones(
    at: Ints, slot: Ints, head: Ints, since: Ints, now: Ints, lo: Ints, more: Ints, inner: Ints
) -> int:
    """The zones that changes end, then those that go on after them; return how many.

    In ``since`` outputs are counted from 1: 0 says that a slice has no head yet.
    """
    count = 0
    for change in range(len(at)):
        s = slot[change]
        began = since[s] - 1
        if began >= 0 and began < at[change]:
            lo[count] = began
            more[count] = at[change] - 1 - began
            inner[count] = now[s]
            count += 1
        since[s] = at[change] + 1
        now[s] = head[change]
    for change in range(len(at)):
        # Of the changes of a slice the last one goes on.
        s = slot[change]
        if since[s] == at[change] + 1 and now[s] == head[change]:
            lo[count] = at[change]
            more[count] = -1
            inner[count] = head[change]
            count += 1
    return count

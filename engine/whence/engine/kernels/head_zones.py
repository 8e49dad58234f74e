"""The heads of a Slice as zones: from which output to which each was the head of its slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.kernel import Heads
from whence.engine.kernels.trails.entries import Names
from whence.engine.lineage.block import Block
from whence.engine.lineage.heads import zone_block
from whence.engine.values.jit import jit

__all__ = ["HeadChanges"]


class HeadChanges(SlotTable):
    """Turns the changes of a Slice's heads into zones; those that go on stay open.

    Attributes:
        heads: where the changes are.
        last: how far the outputs have come.
        now: since when each slice has its head, and which it is, as `_zones` has them.
    """

    now: Ints

    def __init__(self, heads: Heads) -> None:
        super().__init__(0, now=(0, 0))
        self.heads = heads
        self.last = -1

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
        self.grow(int(slot.max()) + 1)
        self.last = int(at[-1])
        to = names.targets[self.heads.head_target]
        first, last = int(at[0]) // chunk, self.last // chunk
        edges = np.searchsorted(at, np.arange(first, last + 2) * chunk).tolist()
        for number, (a, b) in enumerate(pairwise(edges), first):
            if a == b:
                continue
            # A change ends at most one zone, and one continues; branch-free code writes one more.
            room = np.empty((3, 2 * (b - a) + 1), np.int64)
            met = np.empty(b - a, np.int64)
            count = _zones(at[a:b], slot[a:b], head[a:b], self.now, met, *room)
            lo, more, inner = room[:, :count]
            yield number, zone_block(to, lo, more, inner)

    def save(self) -> dict[str, Any]:
        since, head = self.now.T.copy()
        return {"last": self.last, "since": since, "head": head}

    def load(self, state: Mapping[str, Any]) -> None:
        self.last = state["last"]
        super().load({"now": np.stack((state["since"], state["head"]), axis=1)})


@jit
def _zones(
    at: Ints, slot: Ints, head: Ints, now: Ints, met: Ints, lo: Ints, more: Ints, inner: Ints
) -> int:
    """The zones that changes end, then those that go on after them; return how many.

    In ``now`` is since when each slice has its head, and which it is. Outputs are counted from 1
    there: 0 says that a slice has no head yet. What is written counts only if the count goes on.
    """
    since, which = np.uint64(0), np.uint64(1)
    count, slices = np.uint64(0), np.uint64(0)
    for change in range(len(at)):
        s, here = np.uint64(slot[change]), at[change]
        began = now[s, since]
        lo[count], more[count], inner[count] = began - 1, here - began, now[s, which]
        count += np.uint64((began > 0) & (began <= here))
        met[slices] = slot[change]
        slices += np.uint64(began <= at[0])
        now[s, since], now[s, which] = here + 1, head[change]
    for place in range(slices):
        s = np.uint64(met[place])
        lo[count], more[count], inner[count] = now[s, since] - 1, -1, now[s, which]
        count += which
    return int(count)

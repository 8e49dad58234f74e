"""The heads of a Slice as zones: from which output to which each was the head of its slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from whence.engine.compact import Associations, Block
from whence.engine.kernels.columns import Ints
from whence.engine.kernels.entries import Names
from whence.engine.kernels.kernel import Heads

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
        self.since: Ints = np.full(64, -1)
        self.head: Ints = np.full(64, -1)

    def take(self, names: Names, chunk: int) -> Iterator[tuple[int, Block]]:
        """The zones that began or ended since the last time, by the part they belong to.

        A zone belongs to the part in which it ends, or as long as it is open in which it began.
        """
        changes, self.heads.changes = self.heads.changes, []
        if not changes:
            return
        at, slot, head = (np.concatenate(arrays) for arrays in zip(*changes, strict=True))
        if not len(at):
            return
        self.last = int(at[-1])
        self._grow(int(slot.max()) + 1)
        order = np.argsort(slot, kind="stable")
        at, slot, head = at[order], slot[order], head[order]
        first = np.ones(len(slot), np.bool_)
        first[1:] = slot[1:] != slot[:-1]
        final = np.ones(len(slot), np.bool_)
        final[:-1] = first[1:]
        # What each change ends: the change before it, or what was there before this batch.
        since = np.where(first, self.since[slot], np.concatenate(([-1], at[:-1])))
        before = np.where(first, self.head[slot], np.concatenate(([-1], head[:-1])))
        self.since[slot[final]], self.head[slot[final]] = at[final], head[final]
        ended = np.flatnonzero((since >= 0) & (since < at))
        lo = np.concatenate([since[ended], at[final]])
        more = np.concatenate([at[ended] - 1 - since[ended], np.full(int(final.sum()), -1)])
        inner = np.concatenate([before[ended], head[final]])
        part = np.concatenate([at[ended], at[final]]) // chunk
        to = names.targets[self.heads.head_target]
        for number in range(int(part.min()), int(part.max()) + 1):
            chosen = part == number
            if not chosen.any():
                continue
            none = np.zeros(int(chosen.sum()), np.int64)
            items = (lo[chosen], more[chosen], inner[chosen], none)
            yield number, Block("explains", "zones", to, None, False, 1, 0, 0, *items)

    def _grow(self, count: int) -> None:
        if count > len(self.since):
            more = np.full(max(count, 2 * len(self.since)) - len(self.since), -1)
            self.since = np.concatenate([self.since, more])
            self.head = np.concatenate([self.head, more])

    def settled(self, associations: Associations) -> Associations:
        """The zones of a part, without those that are said to be open and ended in it too."""
        blocks = []
        for block in associations.joined().blocks:
            open_ = block.more < 0
            ended = block.inputs[~open_]
            blocks.append(block.where(~(open_ & np.isin(block.inputs, ended))))
        return Associations(associations.stream, tuple(blocks))

    def save(self) -> dict[str, object]:
        """The heads that go on."""
        return {"last": self.last, "since": self.since, "head": self.head}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""
        self.last = state["last"]
        self.since, self.head = state["since"], state["head"]

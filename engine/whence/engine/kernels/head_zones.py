"""The heads of a Slice as zones: from which output to which each was the head of its slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from whence.engine.compact import Associations, Block
from whence.engine.kernels.columns import Ints
from whence.engine.kernels.entries import Names
from whence.engine.kernels.jit import jit
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
        count = len(at)
        lo, more, inner, end = (np.empty(2 * count, np.int64) for _ in range(4))
        ended = _end(at, slot, head, self.since, self.head, lo, more, inner, end)
        # Of the changes of a slice, the last one of this batch goes on.
        final = np.flatnonzero((self.since[slot] == at) & (self.head[slot] == head))
        total = ended + len(final)
        lo[ended:total], inner[ended:total], end[ended:total] = at[final], head[final], at[final]
        more[ended:total] = -1
        lo, more, inner, part = lo[:total], more[:total], inner[:total], end[:total] // chunk
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
        for whole in associations.joined().blocks:
            block = whole
            begun = np.flatnonzero(block.more < 0)
            ended = np.sort(block.inputs[block.more >= 0])
            if len(begun) and len(ended):
                # Few begin, many end: only those that begin are looked up.
                at = np.searchsorted(ended, block.inputs[begun])
                over = ended[np.minimum(at, len(ended) - 1)] == block.inputs[begun]
                kept = np.ones(len(block.more), np.bool_)
                kept[begun[over]] = False
                block = block.where(kept)
            blocks.append(block)
        return Associations(associations.stream, tuple(blocks))

    def save(self) -> dict[str, object]:
        """The heads that go on."""
        return {"last": self.last, "since": self.since, "head": self.head}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""
        self.last = state["last"]
        self.since, self.head = state["since"], state["head"]


@jit
def _end(
    at: Ints,
    slot: Ints,
    head: Ints,
    since: Ints,
    now: Ints,
    lo: Ints,
    more: Ints,
    inner: Ints,
    end: Ints,
) -> int:
    """What each change ends; return how many zones ended."""
    count = 0
    for change in range(len(at)):
        s = slot[change]
        if since[s] >= 0 and since[s] < at[change]:
            lo[count] = since[s]
            more[count] = at[change] - 1 - since[s]
            inner[count] = now[s]
            end[count] = at[change]
            count += 1
        since[s] = at[change]
        now[s] = head[change]
    return count

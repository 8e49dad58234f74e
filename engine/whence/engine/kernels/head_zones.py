"""The heads of a Slice as zones: from which output to which each was the head of its slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from whence.engine.compact import Associations, Block
from whence.engine.kernels.columns import Ints
from whence.engine.kernels.entries import Names
from whence.engine.kernels.growing import grown
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
        most = int(slot.max()) + 1
        self.since, self.head = grown(self.since, most, -1), grown(self.head, most, -1)
        count = len(at)
        ended = np.empty((4, count), np.int64)
        gone = _end(at, slot, head, self.since, self.head, *ended)
        going = np.empty((2, count), np.int64)
        on = _go_on(at, slot, head, self.since, self.head, *going)
        to = names.targets[self.heads.head_target]
        # Both come in the order of outputs, so that the parts are neighbours.
        ends, begins = ended[3, :gone], going[0, :on]
        for number in range(int(at[0]) // chunk, self.last // chunk + 1):
            edges = (number * chunk, (number + 1) * chunk)
            a, b = np.searchsorted(ends, edges)
            c, d = np.searchsorted(begins, edges)
            if a == b and c == d:
                continue
            items = np.zeros((4, b - a + d - c), np.int64)
            items[:3, : b - a] = ended[:3, a:b]
            items[0, b - a :], items[2, b - a :] = going[:, c:d]
            items[1, b - a :] = -1
            yield number, Block("explains", "zones", to, None, False, 1, 0, 0, *items)

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


@jit
def _go_on(
    at: Ints, slot: Ints, head: Ints, since: Ints, now: Ints, lo: Ints, inner: Ints
) -> int:
    """Of the changes of a slice the last one goes on; return how many do."""
    count = 0
    for change in range(len(at)):
        s = slot[change]
        if since[s] == at[change] and now[s] == head[change]:
            lo[count] = at[change]
            inner[count] = head[change]
            count += 1
    return count

"""Count the events of every instance."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.fronts import ranks
from whence.engine.kernels.kernel import Born

__all__ = ["Counter"]


class Counter(SlotTable):
    """How many events each slot has had."""

    seen: Ints

    def __init__(self) -> None:
        super().__init__(1, seen=0)

    def number(self, slot: Ints | None, count: int, born: Born) -> Ints:
        """The numbers of so many events, each counted in its slot from 0 on."""
        if slot is None:
            first = int(self.seen[0])
            self.seen[0] = first + count
            return np.arange(first, first + count)
        self.grow(born.count)
        found = self.seen[slot] + ranks(slot)
        self.seen += np.bincount(slot, minlength=len(self))
        return found

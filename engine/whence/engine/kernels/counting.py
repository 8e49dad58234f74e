"""Count the events of every instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.columns.growing import grown
from whence.engine.kernels.fronts import ranks
from whence.engine.kernels.kernel import Born, State

__all__ = ["Counter"]


class Counter:
    """How many events each slot has had."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        """Begin at 0."""
        self.seen: Ints = np.zeros(1, np.int64)

    def number(self, slot: Ints | None, count: int, born: Born) -> Ints:
        """The numbers of so many events, each counted in its slot from 0 on."""
        if slot is None:
            first = int(self.seen[0])
            self.seen[0] = first + count
            return np.arange(first, first + count)
        self.seen = grown(self.seen, born.count, 0)
        found = self.seen[slot] + ranks(slot)
        self.seen += np.bincount(slot, minlength=len(self.seen))
        return found

    def save(self) -> State:
        """The counts."""
        return {"seen": self.seen}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""
        self.seen = state["seen"]

"""One row for every slot that must outlive its batch: what decided it, what attained its total."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.trails.entries import join_entries
from whence.engine.kernels.trails.reasons import Reasons, joined_reasons, together
from whence.engine.kernels.trails.trail import Sets, Trail

__all__ = ["SlotRows"]

_MOST_DEAD = 2**10


class SlotRows(SlotTable):
    """Where one row of each slot led, as explanation and as support."""

    row: Ints

    def __init__(self) -> None:
        super().__init__(1, row=-1)
        self.parts: list[Reasons] = []
        self.size = 0
        self.live = 0

    def put(self, slots: Ints, reasons: Reasons) -> None:
        """From now on the row of each of these slots, all distinct, is the one given."""
        if not len(slots):
            return
        self.grow(int(slots.max()) + 1)
        self.live += int((self.row[slots] < 0).sum())
        self.row[slots] = self.size + np.arange(len(slots))
        self.parts.append(reasons.each(Trail.settle))
        self.size += len(slots)
        if self.size > 2 * self.live + _MOST_DEAD:
            self._tidy()
        # Each part is much longer than the next one: few parts, and each row is seldom copied.
        while len(self.parts) > 1 and len(self.parts[-2].why) < 2 * len(self.parts[-1].why):
            self.parts[-2:] = [together(_one_after, *self.parts[-2:])]

    def _tidy(self) -> None:
        """Forget the rows that no slot has any more."""
        live = np.flatnonzero(self.row >= 0)
        self.parts = [self.trails().take(self.row[live]).each(Trail.settle)]
        self.row[live] = np.arange(len(live))
        self.size = self.live = len(live)

    def drop(self) -> None:
        """Forget all rows."""
        self.__init__()  # type: ignore[misc]

    def trails(self) -> Reasons:
        """All rows that are held, and which of them is a slot's is in ``row``."""
        return joined_reasons(self.parts) if self.parts else Reasons.nothing(0)

    def save(self) -> dict[str, Any]:
        if not self.parts:
            return {"held_row": self.row}
        self._tidy()
        (held,) = self.parts
        state = {"held_row": self.row, "held_why": held.why}
        return state if held.agree else {**state, "held_sup": held.sup}

    def load(self, state: Mapping[str, Any]) -> None:
        super().load({"row": state["held_row"]})
        why = state.get("held_why")
        if why is not None:
            self.parts = [Reasons(why, state.get("held_sup", why))]
            self.size = self.live = len(why)


def _one_after(first: Sets, second: Sets) -> Sets:
    """The rows of one, then those of the other, as one copy."""
    held = second.held.rows(second.held.row + len(first))
    starts = np.concatenate((first.starts, second.starts[1:] + first.starts[-1]))
    return Sets(starts, join_entries([first.held, held]))

"""One row for every slot that must outlive its batch: what decided it, what attained its total."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.columns.growing import grown
from whence.engine.kernels.kernel import State
from whence.engine.kernels.trails.composing import joined
from whence.engine.kernels.trails.entries import join_entries
from whence.engine.kernels.trails.trail import Nothing, Sets, Trail

__all__ = ["SlotRows"]

_MOST_DEAD = 2**10


class SlotRows:
    """Where one row of each slot led, as explanation and as support."""

    def __init__(self) -> None:
        """Begin with no row."""
        self.row: Ints = np.full(1, -1)
        self.why: list[Sets] = []
        self.sup: list[Sets] = []
        self.size = 0
        self.live = 0

    def put(self, slots: Ints, why: Trail, sup: Trail) -> None:
        """From now on the row of each of these slots, all distinct, is the one given."""
        if not len(slots):
            return
        self.row = grown(self.row, int(slots.max()) + 1, -1)
        self.live += int((self.row[slots] < 0).sum())
        self.row[slots] = self.size + np.arange(len(slots))
        settled = why.settle()
        self.why.append(settled)
        self.sup.append(settled if sup is why else sup.settle())
        self.size += len(slots)
        if self.size > 2 * self.live + _MOST_DEAD:
            self._tidy()
        # Each part is much longer than the next one: few parts, and each row is seldom copied.
        while len(self.why) > 1 and len(self.why[-2]) < 2 * len(self.why[-1]):
            self._join_last()

    def _join_last(self) -> None:
        same = all(w is s for w, s in zip(self.why[-2:], self.sup[-2:], strict=True))
        why = _one_after(*self.why[-2:])
        sup = why if same else _one_after(*self.sup[-2:])
        self.why[-2:], self.sup[-2:] = [why], [sup]

    def _tidy(self) -> None:
        """Forget the rows that no slot has any more."""
        live = np.flatnonzero(self.row >= 0)
        rows = self.row[live]
        same = all(w is s for w, s in zip(self.why, self.sup, strict=True))
        why = joined(self.why).take(rows).settle()
        sup = why if same else joined(self.sup).take(rows).settle()
        self.why, self.sup = [why], [sup]
        self.row[live] = np.arange(len(live))
        self.size = self.live = len(live)

    def drop(self) -> None:
        """Forget all rows."""
        self.__init__()  # type: ignore[misc]

    def trails(self) -> tuple[Trail, Trail]:
        """All rows that are held, and which of them is a slot's is in ``row``."""
        if not self.why:
            return Nothing(0), Nothing(0)
        if all(w is s for w, s in zip(self.why, self.sup, strict=True)):
            why = joined(self.why)
            return why, why
        return joined(self.why), joined(self.sup)

    def save(self) -> State:
        """Its rows."""
        if not self.why:
            return {"held_row": self.row}
        self._tidy()
        same = self.why[0] is self.sup[0]
        state = {"held_row": self.row, "held_why": self.why[0]}
        return state if same else {**state, "held_sup": self.sup[0]}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""
        self.row = state["held_row"]
        why = state.get("held_why")
        if isinstance(why, Sets):
            sup = state.get("held_sup")
            self.why, self.sup = [why], [sup if isinstance(sup, Sets) else why]
            self.size = self.live = len(why)


def _one_after(first: Sets, second: Sets) -> Sets:
    """The rows of one, then those of the other."""
    held = second.held.rows(second.held.row + len(first))
    starts = np.concatenate((first.starts, second.starts[1:] + first.starts[-1]))
    return Sets(starts, join_entries([first.held, held]))

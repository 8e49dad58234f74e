"""A set that only the end of a run asks for, in bounded memory.

Intervals are gathered until there are many; then they become one element of a helper stream of the
record, linked to the element before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.kernel import Place, State
from whence.engine.kernels.trails.entries import NONE, Entries, join_entries
from whence.engine.kernels.trails.linked_stream import LinkedStream
from whence.engine.kernels.trails.reasons import Reasons
from whence.engine.kernels.trails.so_far import settled_row
from whence.engine.kernels.trails.trail import Sets, Trail

__all__ = ["Refused"]

_MOST = 2**16


class Refused:
    """Everything that some rows led to, for all slots together.

    Args:
        place: where the kernel that asks stands.
        suffix: the name of the helper stream, if one is needed.
        most: how many intervals are gathered at most.
    """

    def __init__(self, place: Place, suffix: str = "refused", most: int = _MOST) -> None:
        self.place = place
        self.stream = LinkedStream(place, suffix)
        self.most = most
        self.held = NONE
        self.fresh: list[Entries] = []
        self.size = 0
        self.last = -1

    def add(self, trail: Trail, rows: Ints, moment: Ints) -> None:
        """Take in what some rows lead to; all fields are known."""
        if self.place.window or not self.place.run.tracked or not len(rows):
            return
        self.fresh.append(trail.entries(rows))
        self.size += len(self.fresh[-1].row)
        if self.size > self.most:
            self._settle()
            if self.size > self.most // 2:
                self._put_away(int(moment[-1]))

    def _settle(self) -> None:
        """Join what touches, all that is gathered at once."""
        self.held = settled_row(join_entries([self.held, *self.fresh]))
        self.fresh = []
        self.size = len(self.held.row)

    def _put_away(self, moment: int) -> None:
        moments = np.array([moment])
        position = int(self.stream.positions(moments)[0])
        held = settled_row(self.entries())
        element = Sets(np.array([0, len(held.row)]), held)
        self.stream.add(moments, Reasons.of(element))
        self.held = NONE
        self.size = 0
        self.last = position

    def entries(self) -> Entries:
        """All that was taken in."""
        self._settle()
        if self.last < 0:
            return self.held
        link = self.stream.link(np.array([self.last])).entries(np.zeros(1, np.int64))
        return join_entries([self.held, link])

    def save(self) -> State:
        """What is held, and where the rest is."""
        self._settle()
        return {"held": self.held, "kept": self.stream.save(), "last": self.last}

    def load(self, state: Mapping[str, Any]) -> None:
        self.held, self.fresh = state["held"], []
        self.size = len(self.held.row)
        self.stream.load(state["kept"])
        self.last = state["last"]

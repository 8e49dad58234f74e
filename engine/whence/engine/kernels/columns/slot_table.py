"""Arrays by slot: all that a kernel keeps for every slot grows, is saved, loaded and reset here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.engine.kernels.columns.growing import grown, roomy

__all__ = ["SlotTable"]


class SlotTable:
    """One array for each name, all as long as there are slots.

    A subclass names its arrays in annotations and says what a new slot holds, which also says of
    what kind and how wide a row is. The arrays are views: whoever grows the table reads them anew.

    >>> class Seen(SlotTable):
    ...     seen: npt.NDArray[np.int64]
    ...     last: npt.NDArray[np.int64]
    >>> table = Seen(1, seen=0, last=-1)
    >>> table.grow(3)
    >>> table.seen[2] += 5
    >>> len(table), table.seen, table.last
    (3, array([0, 0, 5]), array([-1, -1, -1]))
    """

    def __init__(self, slots: int, /, **fills: npt.ArrayLike) -> None:
        """Begin with some slots, at least 1 where there may be no others.

        Args:
            slots: how many.
            fills: what each array holds for a new slot.
        """
        self._least = slots
        self._fills = {name: np.asarray(fill) for name, fill in fills.items()}
        self.forget()

    def __len__(self) -> int:
        """How many slots there are."""
        return self._slots

    def forget(self) -> None:
        """Begin anew."""
        self._slots = 0
        self._rooms = {n: np.empty((0, *f.shape), f.dtype) for n, f in self._fills.items()}
        self.grow(self._least)
        self._show()

    def grow(self, slots: int) -> None:
        """Let there be so many slots, if there are not as many yet."""
        if slots > self._slots:
            self._slots = slots
            self._show()

    def _show(self) -> None:
        for name, fill in self._fills.items():
            room = self._rooms[name]
            if len(room) < self._slots:
                more = grown(room, self._slots, fill) if fill.any() else roomy(room, self._slots)
                room = self._rooms[name] = more
            setattr(self, name, room[: self._slots])

    def retype(self, name: str, kind: npt.DTypeLike) -> None:
        """Let an array hold another kind of number."""
        self._fills[name] = self._fills[name].astype(kind)
        self._rooms[name] = self._rooms[name].astype(kind)
        self._show()

    def save(self) -> dict[str, Any]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in self._fills}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on with saved arrays, which are this table's from now on."""
        self._rooms = {name: state[name] for name in self._fills}
        self._slots = max((len(room) for room in self._rooms.values()), default=0)
        self._show()

"""``min`` and ``max`` over slices."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from whence.engine.aggregates.base import Aggregate, picked_by
from whence.engine.functions import FUNCTIONS, Function
from whence.engine.language.events import Event, Term
from whence.engine.values import Value, check_ordered

__all__ = ["Max", "Min"]


class Extreme(Aggregate):
    """``min``, ``max``: the first slice that attains it explains; all support."""

    missing_over_none = True
    function: ClassVar[Function]
    sign: ClassVar[int]

    def __init__(self, **options: bool) -> None:
        """Begin without slices."""
        super().__init__(**options)
        self.size = 1
        self.best: list[tuple[Any, Term] | None] = [None, None]
        self.odd = 0
        self.nan = 0

    def change(self, slot: int, old: Value, head: Event) -> None:
        """Take in a changed head."""
        root = self.best[1]
        if root is not None:
            check_ordered(root[0], head.value)
        known = self.heads[slot] is not None
        self.odd += (head.value is None) - (known and old is None)
        self.nan += (head.value != head.value) - (known and old != old)
        while slot >= self.size:
            leaves = self.best[self.size :]
            self.size *= 2
            self.best = [None] * self.size + leaves + [None] * (self.size - len(leaves))
            for place in range(self.size - 1, 0, -1):
                self._merge(place)
        odd = head.value is None or head.value != head.value
        place = slot + self.size
        self.best[place] = None if odd else (head.value, head)
        place >>= 1
        while place:
            self._merge(place)
            place >>= 1

    def _merge(self, place: int) -> None:
        left, right = self.best[2 * place], self.best[2 * place + 1]
        if left is None or right is None:
            self.best[place] = right if left is None else left
        elif left[0] == right[0]:
            term = self.choose(left[1], right[1]) if self.tracked else None
            self.best[place] = (left[0], term)
        else:
            smaller = left[0] < right[0]
            self.best[place] = left if smaller == (self.sign < 0) else right

    def value(self) -> Value:
        """The value over all slices that speak."""
        if self.odd or self.speaking == 0:
            return None
        if self.nan:
            return math.nan
        assert self.best[1] is not None
        return self.best[1][0]

    def terms(self, heads: Event, inputs: Term) -> tuple[Term, Term]:
        """What explains and what supports the value."""
        if self.odd or self.nan or self.best[1] is None:
            return super().terms(heads, inputs)
        return self.best[1][1], inputs if self.irregular else heads

    def picked_slots(self) -> set[int]:
        """The slices that explain the value."""
        return picked_by(self.function, self.heads, self.value())

    @classmethod
    def kind(cls, inner: str) -> str:
        """The kind of the value, from that of P's output."""
        return inner


class Min(Extreme):
    """The smallest."""

    function = FUNCTIONS["min"]
    sign = -1


class Max(Extreme):
    """The largest."""

    function = FUNCTIONS["max"]
    sign = 1

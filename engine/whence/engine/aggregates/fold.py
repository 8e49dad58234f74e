"""``add`` and ``product`` over slices, folded from left to right."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

from whence.engine.aggregates.base import Aggregate, picked_by
from whence.engine.aggregates.term_tree import TermTree
from whence.engine.functions import FUNCTIONS, Function
from whence.engine.functions.arithmetic import is_zero
from whence.engine.language.events import Event, Term
from whence.engine.values import INT64_MAX, INT64_MIN, Value, check_integer, is_odd

__all__ = ["Add", "Product"]


class Fold(Aggregate):
    """A fold from left to right over the slices, every step checked."""

    function: ClassVar[Function]

    def __init__(self, **options: bool) -> None:
        """Begin without slices."""
        super().__init__(**options)
        self.prefixes: list[Value] = []
        self.stale = 0

    def new_slice(self, key: Value) -> None:
        """A key appears for the first time."""
        super().new_slice(key)
        self.prefixes.append(None)

    def change(self, slot: int, old: Value, head: Event) -> None:
        """Take in a changed head."""
        self.stale = min(self.stale, slot)

    def value(self) -> Value:
        """Fold again from the first slice that changed."""
        assert self.function.pair is not None
        step = self.function.pair
        total: Value = self.prefixes[self.stale - 1] if self.stale else self.function.neutral
        for slot in range(self.stale, len(self.heads)):
            head = self.heads[slot]
            if head is not None:
                alone = total is self.function.neutral and isinstance(head.value, timedelta)
                total = head.value if alone else step(total, head.value)
            self.prefixes[slot] = total
        self.stale = len(self.heads)
        return total

    @classmethod
    def kind(cls, inner: str) -> str:
        """The kind of the value, from that of P's output."""
        return cls.function.check([inner])


class Add(Fold):
    """Integers in a tree of sums; a float or missing value falls back to the fold."""

    function = FUNCTIONS["add"]

    def __init__(self, **options: bool) -> None:
        """Begin without slices."""
        super().__init__(**options)
        self.size = 1
        self.sums: list[tuple[int, int, int]] = [(0, 0, 0)] * 2
        self.others = 0

    def change(self, slot: int, old: Value, head: Event) -> None:
        """Take in a changed head."""
        super().change(slot, old, head)
        before = self.heads[slot] is not None and type(old) is not int
        self.others += (type(head.value) is not int) - before
        while slot >= self.size:
            leaves = self.sums[self.size :]
            self.size *= 2
            self.sums = [(0, 0, 0)] * self.size + leaves + [(0, 0, 0)] * (self.size - len(leaves))
            for place in range(self.size - 1, 0, -1):
                self._sum(place)
        number: Any = check_integer(head.value) if type(head.value) is int else 0
        place = slot + self.size
        self.sums[place] = (number, min(number, 0), max(number, 0))
        place >>= 1
        while place:
            self._sum(place)
            place >>= 1

    def _sum(self, place: int) -> None:
        """Total, lowest and highest partial sum: any overflow on the way shows in the last two."""
        left, right = self.sums[2 * place], self.sums[2 * place + 1]
        total = left[0]
        self.sums[place] = (
            total + right[0],
            min(left[1], total + right[1]),
            max(left[2], total + right[2]),
        )

    def value(self) -> Value:
        """The value over all slices that speak."""
        if self.others:
            return super().value()
        total, low, high = self.sums[1]
        if low < INT64_MIN or high > INT64_MAX:
            check_integer(low if low < INT64_MIN else high)
        return total


class Product(Fold):
    """The first zero explains alone, if every slice's value is present and finite."""

    function = FUNCTIONS["product"]

    def __init__(self, **options: bool) -> None:
        """Begin without slices."""
        super().__init__(**options)
        self.zeros = TermTree(self.choose)
        self.zero_supports = TermTree(self.choose)
        self.odd = 0

    def change(self, slot: int, old: Value, head: Event) -> None:
        """Take in a changed head."""
        super().change(slot, old, head)
        self.odd += is_odd(head.value) - (self.heads[slot] is not None and is_odd(old))
        if self.tracked:
            self.zeros.set(slot, head if is_zero(head.value) else None)
            if not is_zero(head.value):
                self.zero_supports.set(slot, None)

    def lean(self, slot: int, events: Term) -> None:
        """Take in what supports a slice that may be picked alone."""
        head = self.heads[slot]
        if head is not None and is_zero(head.value):
            self.zero_supports.set(slot, events)

    def terms(self, heads: Event, inputs: Term) -> tuple[Term, Term]:
        """What explains and what supports the value."""
        if self.odd or self.zeros.root is None:
            return super().terms(heads, inputs)
        if self.irregular:
            # A slice left out could speak and be missing; then zero times missing is missing.
            rest = inputs if self.may_be_missing else None
            return self.zeros.root, (self.zero_supports.root, rest)
        return self.zeros.root, (self.zeros.root, heads) if self.may_vanish else None

    def picked_slots(self) -> set[int]:
        """The slices that explain the value."""
        return picked_by(self.function, self.heads, self.value())

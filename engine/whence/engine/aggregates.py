"""What a Slice's slices give together: and, or, add, product, min, max, count, or the map.

Each keeps its value and its explanation up to date while one slice after another changes, with a
cost per event that grows with the logarithm of the number of slices.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from whence.engine.events import Event, Term
from whence.engine.functions import FUNCTIONS, Function
from whence.engine.functions.arithmetic import is_zero
from whence.engine.functions.base import takes
from whence.engine.slice_map import SliceMap, SliceMapHistory
from whence.engine.term_tree import TermTree, all_of, either_of, first_of
from whence.engine.traits import Traits
from whence.engine.values import (
    INT64_MAX,
    INT64_MIN,
    Value,
    as_condition,
    check_integer,
    check_ordered,
)

__all__ = ["AGGREGATES", "Aggregate"]


class Aggregate:
    """Explained by every slice: the base of all, and the rule of ``add`` and ``count``.

    Attributes:
        speaking: how many slices have an output.
    """

    never_missing: ClassVar[bool] = False
    missing_over_none: ClassVar[bool] = False

    def __init__(
        self,
        *,
        tracked: bool,
        all_witnesses: bool,
        irregular: bool,
        may_vanish: bool,
        may_be_missing: bool,
    ) -> None:
        """Begin without slices."""
        self.tracked = tracked
        self.choose = either_of if all_witnesses else first_of
        self.may_vanish = may_vanish
        self.may_be_missing = may_be_missing
        self.speaking = 0
        self.heads: list[Event | None] = []
        self.all_heads = TermTree(all_of)
        self.irregular = irregular

    def new_slice(self, key: Value) -> None:
        """A key appears for the first time."""
        self.heads.append(None)

    def update(self, slot: int, head: Event | None, events: Term = None) -> None:
        """A slice has a new head, or only new events.

        Args:
            slot: the slice, numbered by appearance.
            head: the output that counts; ``None`` while P is silent.
            events: what supports the slice if not its head: all its events (an irregular P).
        """
        old = self.heads[slot]
        if head is not old:
            assert head is not None
            self.change(slot, None if old is None else old.value, head)
            self.heads[slot] = head
            if old is None:
                self.speaking += 1
        if not self.tracked:
            return
        if head is not old:
            self.all_heads.set(slot, head)
        if events is not None and head is not None:
            self.lean(slot, events)

    def change(self, slot: int, old: Value, head: Event) -> None:
        """Take in a changed head."""

    def lean(self, slot: int, events: Term) -> None:
        """Take in what supports a changed slice, if it may be picked alone."""

    def value(self) -> Value:
        """The value over all slices that speak."""
        raise NotImplementedError

    def terms(self, heads: Event, inputs: Term) -> tuple[Term, Term]:
        """What explains and what supports the value: every slice.

        Args:
            heads: stands for the heads of all slices.
            inputs: all inputs so far. They support the value if P is irregular: those of the slices
                that speak, and those of the slices left out, which could.
        """
        return heads, (inputs if self.irregular else None)

    def picked_slots(self) -> set[int]:
        """The slices that explain the value."""
        return {slot for slot, head in enumerate(self.heads) if head is not None}

    @classmethod
    def missing(cls, inner: Traits, settled: bool) -> tuple[bool, bool]:
        """Whether the value may be missing, and whether it may become so.

        Args:
            inner: what is known of P's output.
            settled: P is regular and the key is given, so that only values can change.
        """
        if cls.never_missing:
            return False, False
        may_be = inner.may_be_missing or cls.missing_over_none
        return may_be, inner.may_vanish or (not settled and may_be)

    @classmethod
    def kind(cls, inner: str) -> str:
        """The kind of the value, from that of P's output."""
        return "any"


def _picked_by(function: Function, heads: list[Event | None], value: Value) -> set[int]:
    slots = [slot for slot, head in enumerate(heads) if head is not None]
    values = [head.value for head in heads if head is not None]
    return {slots[i] for i in function.rule.explain(values, value)[0]}


class _Logical(Aggregate):
    """``and``, ``or``: the first slice with the decisive value explains alone."""

    never_missing = True
    function: ClassVar[Function]

    def __init__(self, **options: bool) -> None:
        super().__init__(**options)
        self.decided = 0
        self.picks = TermTree(self.choose)
        self.pick_supports = TermTree(self.choose)

    def _decides(self, value: Value) -> bool:
        return as_condition(value) is self.function.absorbing

    def change(self, slot: int, old: Value, head: Event) -> None:
        now = self._decides(head.value)
        before = self.heads[slot] is not None and self._decides(old)
        self.decided += now - before
        if self.tracked and (now or before):
            self.picks.set(slot, head if now else None)
            if before and not now:
                self.pick_supports.set(slot, None)

    def lean(self, slot: int, events: Term) -> None:
        head = self.heads[slot]
        if head is not None and self._decides(head.value):
            self.pick_supports.set(slot, events)

    def value(self) -> Value:
        return self.function.absorbing if self.decided else self.function.neutral

    def terms(self, heads: Event, inputs: Term) -> tuple[Term, Term]:
        if not self.decided:
            return super().terms(heads, inputs)
        # Slices that are still silent cannot undo a decisive one.
        return self.picks.root, self.pick_supports.root if self.irregular else None

    def picked_slots(self) -> set[int]:
        return _picked_by(self.function, self.heads, self.value())

    @classmethod
    def kind(cls, inner: str) -> str:
        return takes("condition", "boolean")([inner])


class _And(_Logical):
    function = FUNCTIONS["and"]


class _Or(_Logical):
    function = FUNCTIONS["or"]


class _Count(Aggregate):
    """How many slices have an output."""

    never_missing = True

    def value(self) -> Value:
        return self.speaking

    @classmethod
    def kind(cls, inner: str) -> str:
        return "integer"


class _Map(Aggregate):
    """The map from key to last output, kept as its changes."""

    never_missing = True

    def __init__(self, **options: bool) -> None:
        super().__init__(**options)
        self.history = SliceMapHistory()

    def new_slice(self, key: Value) -> None:
        super().new_slice(key)
        self.history.keys.append(key)

    def change(self, slot: int, old: Value, head: Event) -> None:
        self.history.changes.append((slot, head.value))

    def value(self) -> Value:
        return SliceMap(self.history)

    @classmethod
    def kind(cls, inner: str) -> str:
        return "map"


class _Fold(Aggregate):
    """A fold from left to right over the slices, every step checked."""

    function: ClassVar[Function]

    def __init__(self, **options: bool) -> None:
        super().__init__(**options)
        self.prefixes: list[Value] = []
        self.stale = 0

    def new_slice(self, key: Value) -> None:
        super().new_slice(key)
        self.prefixes.append(None)

    def change(self, slot: int, old: Value, head: Event) -> None:
        self.stale = min(self.stale, slot)

    def value(self) -> Value:
        """Fold again from the first slice that changed."""
        assert self.function.pair is not None
        step = self.function.pair
        total: Value = self.prefixes[self.stale - 1] if self.stale else self.function.neutral
        for slot in range(self.stale, len(self.heads)):
            head = self.heads[slot]
            if head is not None:
                total = step(total, head.value)
            self.prefixes[slot] = total
        self.stale = len(self.heads)
        return total

    @classmethod
    def kind(cls, inner: str) -> str:
        return cls.function.check([inner])


class _Add(_Fold):
    """Integers in a tree of sums; a float or missing value falls back to the fold."""

    function = FUNCTIONS["add"]

    def __init__(self, **options: bool) -> None:
        super().__init__(**options)
        self.size = 1
        self.sums: list[tuple[int, int, int]] = [(0, 0, 0)] * 2
        self.others = 0

    def change(self, slot: int, old: Value, head: Event) -> None:
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
        if self.others:
            return super().value()
        total, low, high = self.sums[1]
        if low < INT64_MIN or high > INT64_MAX:
            check_integer(low if low < INT64_MIN else high)
        return total


class _Product(_Fold):
    """The first zero explains alone, if every slice's value is present and finite."""

    function = FUNCTIONS["product"]

    def __init__(self, **options: bool) -> None:
        super().__init__(**options)
        self.zeros = TermTree(self.choose)
        self.zero_supports = TermTree(self.choose)
        self.odd = 0

    def change(self, slot: int, old: Value, head: Event) -> None:
        super().change(slot, old, head)
        self.odd += _is_odd(head.value) - (self.heads[slot] is not None and _is_odd(old))
        if self.tracked:
            self.zeros.set(slot, head if is_zero(head.value) else None)
            if not is_zero(head.value):
                self.zero_supports.set(slot, None)

    def lean(self, slot: int, events: Term) -> None:
        head = self.heads[slot]
        if head is not None and is_zero(head.value):
            self.zero_supports.set(slot, events)

    def terms(self, heads: Event, inputs: Term) -> tuple[Term, Term]:
        if self.odd or self.zeros.root is None:
            return super().terms(heads, inputs)
        if self.irregular:
            # A slice left out could speak and be missing; then zero times missing is missing.
            rest = inputs if self.may_be_missing else None
            return self.zeros.root, (self.zero_supports.root, rest)
        return self.zeros.root, (self.zeros.root, heads) if self.may_vanish else None

    def picked_slots(self) -> set[int]:
        return _picked_by(self.function, self.heads, self.value())


def _is_odd(value: Value) -> bool:
    return value is None or (type(value) is float and not math.isfinite(value))


class _Extreme(Aggregate):
    """``min``, ``max``: the first slice that attains it explains; all support."""

    missing_over_none = True
    function: ClassVar[Function]
    sign: ClassVar[int]

    def __init__(self, **options: bool) -> None:
        super().__init__(**options)
        self.size = 1
        self.best: list[tuple[Any, Term] | None] = [None, None]
        self.odd = 0
        self.nan = 0

    def change(self, slot: int, old: Value, head: Event) -> None:
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
        if self.odd or self.speaking == 0:
            return None
        if self.nan:
            return math.nan
        assert self.best[1] is not None
        return self.best[1][0]

    def terms(self, heads: Event, inputs: Term) -> tuple[Term, Term]:
        if self.odd or self.nan or self.best[1] is None:
            return super().terms(heads, inputs)
        return self.best[1][1], inputs if self.irregular else heads

    def picked_slots(self) -> set[int]:
        return _picked_by(self.function, self.heads, self.value())

    @classmethod
    def kind(cls, inner: str) -> str:
        return inner


class _Min(_Extreme):
    function = FUNCTIONS["min"]
    sign = -1


class _Max(_Extreme):
    function = FUNCTIONS["max"]
    sign = 1


AGGREGATES: dict[str, type[Aggregate]] = {
    "and": _And,
    "or": _Or,
    "add": _Add,
    "product": _Product,
    "min": _Min,
    "max": _Max,
    "count": _Count,
    "map": _Map,
}

"""What a Slice keeps of its slices, whatever combines them."""

from __future__ import annotations

from typing import ClassVar

from whence.engine.aggregates.term_tree import TermTree, all_of, either_of, first_of
from whence.engine.functions import Function
from whence.engine.language.events import Event, Term
from whence.engine.language.traits import Traits
from whence.engine.values import Value

__all__ = ["Aggregate", "picked_by"]


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


def picked_by(function: Function, heads: list[Event | None], value: Value) -> set[int]:
    """The slices that a function's rule picks among the heads."""
    slots = [slot for slot, head in enumerate(heads) if head is not None]
    values = [head.value for head in heads if head is not None]
    return {slots[i] for i in function.rule.explain(values, value)[0]}

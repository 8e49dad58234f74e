"""``and`` and ``or`` over slices."""

from __future__ import annotations

from typing import ClassVar

from whence.engine.aggregates.base import Aggregate, picked_by
from whence.engine.aggregates.term_tree import TermTree
from whence.engine.functions import FUNCTIONS, Function
from whence.engine.functions.base import takes
from whence.engine.language.events import Event, Term
from whence.engine.values import Value, as_condition

__all__ = ["And", "Or"]


class Logical(Aggregate):
    """``and``, ``or``: the first slice with the decisive value explains alone."""

    never_missing = True
    function: ClassVar[Function]

    def __init__(self, **options: bool) -> None:
        """Begin without slices."""
        super().__init__(**options)
        self.decided = 0
        self.picks = TermTree(self.choose)
        self.pick_supports = TermTree(self.choose)

    def _decides(self, value: Value) -> bool:
        return as_condition(value) is self.function.absorbing

    def change(self, slot: int, old: Value, head: Event) -> None:
        """Take in a changed head."""
        now = self._decides(head.value)
        before = self.heads[slot] is not None and self._decides(old)
        self.decided += now - before
        if self.tracked and (now or before):
            self.picks.set(slot, head if now else None)
            if before and not now:
                self.pick_supports.set(slot, None)

    def lean(self, slot: int, events: Term) -> None:
        """Take in what supports a slice that may be picked alone."""
        head = self.heads[slot]
        if head is not None and self._decides(head.value):
            self.pick_supports.set(slot, events)

    def value(self) -> Value:
        """The value over all slices that speak."""
        return self.function.absorbing if self.decided else self.function.neutral

    def terms(self, heads: Event, inputs: Term) -> tuple[Term, Term]:
        """What explains and what supports the value."""
        if not self.decided:
            return super().terms(heads, inputs)
        # Slices that are still silent cannot undo a decisive one.
        return self.picks.root, self.pick_supports.root if self.irregular else None

    def picked_slots(self) -> set[int]:
        """The slices that explain the value."""
        return picked_by(self.function, self.heads, self.value())

    @classmethod
    def kind(cls, inner: str) -> str:
        """The kind of the value, from that of P's output."""
        return takes("condition", "boolean")([inner])


class And(Logical):
    """False as soon as one slice says false."""

    function = FUNCTIONS["and"]


class Or(Logical):
    """True as soon as one slice says true."""

    function = FUNCTIONS["or"]

"""``count`` of the slices that speak, and the map of all of them."""

from __future__ import annotations

from whence.engine.aggregates.base import Aggregate
from whence.engine.language.events import Event
from whence.engine.values import Value
from whence.engine.values.limits import current
from whence.engine.values.slice_limits import ENTRY, check_map, size_of
from whence.engine.values.slice_map import SliceMap, SliceMapHistory

__all__ = ["Count", "WholeMap"]


class Count(Aggregate):
    """How many slices have an output."""

    never_missing = True

    def value(self) -> Value:
        """The value over all slices that speak."""
        return self.speaking

    @classmethod
    def kind(cls, inner: str) -> str:
        """The kind of the value, from that of P's output."""
        return "integer"


class WholeMap(Aggregate):
    """The map from key to last output, kept as its changes."""

    never_missing = True

    def __init__(self, **options: bool) -> None:
        """Begin without slices."""
        super().__init__(**options)
        self.history = SliceMapHistory()

    def new_slice(self, key: Value) -> None:
        """A key appears for the first time."""
        super().new_slice(key)
        self.history.keys.append(key)

    def change(self, slot: int, old: Value, head: Event) -> None:
        """Take in a changed head."""
        history = self.history
        history.changes.append((slot, head.value))
        if self.heads[slot] is None:
            history.size += ENTRY + size_of(history.keys[slot])
        else:
            history.size -= size_of(old)
        history.size += size_of(head.value)

    def value(self) -> Value:
        """The value over all slices that speak; whoever reads it builds it, so its size counts."""
        check_map(self.speaking, self.history.size, current())
        return SliceMap(self.history)

    @classmethod
    def kind(cls, inner: str) -> str:
        """The kind of the value, from that of P's output."""
        return "map"

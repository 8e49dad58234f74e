"""``count`` of the slices that speak, and the map of all of them."""

from __future__ import annotations

from whence.engine.aggregates.base import Aggregate
from whence.engine.events import Event
from whence.engine.slice_map import SliceMap, SliceMapHistory
from whence.engine.values import Value

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
        self.history.changes.append((slot, head.value))

    def value(self) -> Value:
        """The value over all slices that speak."""
        return SliceMap(self.history)

    @classmethod
    def kind(cls, inner: str) -> str:
        """The kind of the value, from that of P's output."""
        return "map"

"""The output of a Slice without combine: a map from key to last output, kept as its changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whence.engine.values import Value, key_of

__all__ = ["SliceMap", "SliceMapHistory"]


class SliceMapHistory:
    """Every change of one Slice's map; the maps of all its outputs share it."""

    __slots__ = ("changes", "keys")

    def __init__(self) -> None:
        """Begin without keys."""
        self.keys: list[Value] = []
        self.changes: list[tuple[int, Value]] = []


class SliceMap(Mapping[Value, Value]):
    """The map as it was at one output, in the order in which the keys appeared.

    Taking one is free; it is only put together when someone looks.
    """

    __slots__ = ("_history", "_length", "_pairs")

    def __init__(self, history: SliceMapHistory) -> None:
        """Remember how far the history went."""
        self._history = history
        self._length = len(history.changes)
        self._pairs: dict[object, tuple[Value, Value]] | None = None

    def _known(self) -> dict[object, tuple[Value, Value]]:
        if self._pairs is None:
            latest: dict[int, Value] = {}
            for slot, value in self._history.changes[: self._length]:
                latest[slot] = value
            keys = self._history.keys
            self._pairs = {
                key_of(keys[slot]): (keys[slot], latest[slot]) for slot in sorted(latest)
            }
        return self._pairs

    def pairs(self) -> list[tuple[Value, Value]]:
        """Keys and values, in the order of the keys' first appearance."""
        return list(self._known().values())

    def __getitem__(self, key: Value) -> Value:
        """Find a key as slices do: 1 is 1.0, true is not 1."""
        return self._known()[key_of(key)][1]

    def __iter__(self) -> Iterator[Value]:
        """The keys."""
        return iter([key for key, _ in self._known().values()])

    def __len__(self) -> int:
        """How many slices have spoken."""
        return len(self._known())

    def __eq__(self, other: object) -> bool:
        """Equal to a map with the same keys and values."""
        if isinstance(other, SliceMap):
            mine = {k: v for k, (_, v) in self._known().items()}
            return mine == {k: v for k, (_, v) in other._known().items()}
        if isinstance(other, Mapping):
            return {k: v for k, (_, v) in self._known().items()} == {
                key_of(k): v for k, v in other.items()
            }
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """As a dictionary."""
        return "{" + ", ".join(f"{k!r}: {v!r}" for k, v in self.pairs()) + "}"

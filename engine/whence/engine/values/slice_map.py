"""The output of a Slice without combine: a map from key to last output, kept as its changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from whence.engine.values import Value, key_of

__all__ = ["SliceMap", "SliceMapHistory"]


class SliceMapHistory:
    """Every change of one Slice's map; the maps of all its outputs share it.

    Attributes:
        keys: of every slice, those that are still silent included.
        changes: slot and new value, in order.
        size: approximate number of bytes of the map so far.
    """

    __slots__ = ("changes", "keys", "size")

    def __init__(self) -> None:
        self.keys: list[Value] = []
        self.changes: list[tuple[int, Value]] = []
        self.size = 0


class SliceMap(Mapping[Value, Value]):
    """The map as it was at one output, in the order in which the keys appeared.

    Taking one is free; it is only put together when someone looks.

    Attributes:
        size: about how many bytes it takes, put together.
    """

    __slots__ = ("_history", "_length", "_pairs", "size")

    def __init__(self, history: SliceMapHistory) -> None:
        self._history = history
        self._length = len(history.changes)
        self.size = history.size
        self._pairs: dict[object, tuple[Value, Value]] | None = None

    @classmethod
    def of(cls, pairs: Iterable[tuple[Value, Value]]) -> SliceMap:
        """The map of some keys and values; a key that comes again is another slice.

        >>> SliceMap.of([(1, "one"), (True, "yes")])[True]
        'yes'
        """
        history = SliceMapHistory()
        for slot, (key, value) in enumerate(pairs):
            history.keys.append(key)
            history.changes.append((slot, value))
        return cls(history)

    def _known(self) -> dict[object, tuple[Value, Value]]:
        if self._pairs is None:
            self._pairs = {key_of(key): (key, value) for key, value in self.pairs()}
        return self._pairs

    def pairs(self) -> list[tuple[Value, Value]]:
        """Keys and values, in the order of the keys' first appearance.

        They are not held: the maps of many outputs would fill the memory.
        """
        latest = dict(islice(self._history.changes, self._length))
        keys = self._history.keys
        return [(keys[slot], latest[slot]) for slot in sorted(latest)]

    def __getitem__(self, key: Value) -> Value:
        """Find a key as slices do: 1 is 1.0, true is not 1."""
        return self._known()[key_of(key)][1]

    def __iter__(self) -> Iterator[Value]:
        return iter([key for key, _ in self._known().values()])

    def __len__(self) -> int:
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
        return "{" + ", ".join(f"{k!r}: {v!r}" for k, v in self.pairs()) + "}"

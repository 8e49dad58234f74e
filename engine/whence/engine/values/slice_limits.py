"""How large a map over all slices may be, which a Slice without ``combine`` outputs.

Each of its outputs holds every key so far. With 10,000 cases and 35,000 events that is hundreds of
millions of entries, more than a machine's memory holds. A map above a limit is refused, with a way
to say the same in less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whence.engine.errors import EventError
from whence.engine.values import Value, ValueFault
from whence.engine.values.limits import RunLimits
from whence.engine.values.slice_map import SliceMap

__all__ = ["ENTRY", "WAY_OUT", "MapRoom", "check_map", "size_of"]

ENTRY = 16
"""Bytes of a key and its value in a map, beside their own."""

WAY_OUT = (
    "`combine: count` (or and, or, add, min, max) to output one value, or a Filter before the Slice"
)


def check_map(keys: int, size: int, limits: RunLimits) -> None:
    """Refuse a map with too many keys or bytes.

    Raises:
        ValueFault: it is too large.
    """
    for name, got in (("map_keys", keys), ("value", size)):
        if got > limits.by_name(name):
            raise ValueFault(limits.expected(name), f"{got:,}", limits.hint(name, WAY_OUT, got))


class MapRoom:
    """Counts what the maps of a stream take, and refuses to write too many.

    Args:
        stream: whose outputs they are.
        limits: what is refused beyond.
    """

    def __init__(self, stream: str, limits: RunLimits) -> None:
        self.stream = stream
        self.limits = limits
        self.used = 0

    def take(self, value: Value) -> None:
        """Count a value, if it is a map over slices.

        Raises:
            EventError: together they are too large.
        """
        if not isinstance(value, SliceMap):
            return
        self.used += value.size
        if self.used > self.limits.maps:
            raise self.limits.exceeded("maps", self.stream, "more", WAY_OUT, kind=EventError)


def size_of(value: Value) -> int:
    """Approximate number of bytes of a value in a map."""
    size, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, SliceMap):
            size += item.size
        elif isinstance(item, Sequence):
            size += 8 * len(item)
            waiting.extend(item)
        elif isinstance(item, Mapping):
            size += 16 * len(item)
            waiting += [*item, *item.values()]
        else:
            size += 8
    return size

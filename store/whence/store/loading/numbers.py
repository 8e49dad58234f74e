"""The numbers of logs and streams: part of the keys of their events."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from whence.engine.errors import StoreError
from whence.engine.record.manifest import StreamInfo
from whence.store.places import WIDE, WIDE_BITS

__all__ = ["COUNTERS", "is_wide", "number", "take_numbers"]

COUNTERS: tuple[str, ...] = ("no", "wide")
"""What counts numbers: those of logs and streams, and those of streams inside a Slice."""


def is_wide(stream: StreamInfo) -> bool:
    """Whether a stream, as a manifest lists it, is inside a Slice: its positions are large."""
    return stream.w > 1


def number(counter: str, nth: int) -> int:
    """The n-th number that a counter gives, from 1 on.

    >>> number("no", 3), number("wide", 2) == WIDE + 512
    (3, True)

    Raises:
        StoreError: there are no more.
    """
    found, end = (nth, WIDE) if counter == "no" else (WIDE + (nth << WIDE_BITS), 2 * WIDE)
    if found >= end:
        what = "logs and streams" if counter == "no" else "streams inside a Slice"
        msg = (
            f"the graph: expected a number that is free for one of its {what}; got {nth - 1:,} "
            "in use, which is all; try whence store rebuild, or another database"
        )
        raise StoreError(msg)
    return found


def take_numbers(
    missing: Iterable[str], wide: frozenset[str], take: Callable[[str, int], int]
) -> dict[str, int]:
    """Give numbers to whatever has none.

    Args:
        missing: ids of logs and streams, in the order in which they get theirs.
        wide: those of them that are streams inside a Slice.
        take: takes so many of a counter, and says which is the first.
    """
    numbers: dict[str, int] = {}
    several = list(missing)
    for counter in COUNTERS:
        own = [id for id in several if (id in wide) == (counter == "wide")]
        if own:
            first = take(counter, len(own))
            numbers.update({id: number(counter, first + n) for n, id in enumerate(own)})
    return numbers

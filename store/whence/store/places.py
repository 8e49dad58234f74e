"""Sets of events as ranges of positions, by the number of their log or stream."""

from __future__ import annotations

from collections.abc import Iterable

from whence.engine.lineage.positions import Intervals, Range, minus, union

__all__ = [
    "LAST_POSITION",
    "POSITION_BITS",
    "WIDE",
    "WIDE_BITS",
    "Places",
    "key_of",
    "last_position",
    "merge",
    "no_of",
    "places_of_keys",
    "position_of",
]

Places = dict[int, Intervals]

POSITION_BITS = 40
LAST_POSITION = (1 << POSITION_BITS) - 1
"""The largest position that a key has room for; also stands for "and all that follow"."""
WIDE = 1 << 22
"""From here on, 256 numbers in a row are one stream, so that its positions may be as much larger.

Inside a Slice, positions are those of the whole stream times 2^24: 40 bits are 65,536 events.
"""
WIDE_BITS = 8


def key_of(no: int, position: int) -> int:
    """The key of an event.

    >>> key_of(1, 5) == 2**40 + 5
    True
    """
    return no << POSITION_BITS | position


def no_of(key: int) -> int:
    """The number of the log or stream in a key.

    >>> no_of(key_of(7, 5)), no_of(key_of(WIDE + 512, 2**40 + 3)) == WIDE + 512
    (7, True)
    """
    no = key >> POSITION_BITS
    return no if no < WIDE else no >> WIDE_BITS << WIDE_BITS


def position_of(key: int) -> int:
    """The position in a key.

    >>> position_of(key_of(WIDE + 512, 2**40 + 3)) == 2**40 + 3
    True
    """
    return key - (no_of(key) << POSITION_BITS)


def last_position(no: int) -> int:
    """The largest position that a key of this log or stream has room for."""
    return LAST_POSITION if no < WIDE else (1 << (POSITION_BITS + WIDE_BITS)) - 1


def merge(into: Places, other: Places) -> Places:
    """Add places to places; return what was new."""
    new: Places = {}
    for no, ranges in other.items():
        fresh = minus(ranges, into.get(no, ()))
        if fresh:
            new[no] = fresh
            into[no] = union(into.get(no, ()), fresh)
    return new


def places_of_keys(keys: Iterable[int]) -> Places:
    """Group keys by log or stream.

    >>> places_of_keys([key_of(2, 7), key_of(1, 1), key_of(1, 0)])
    {1: ((0, 1),), 2: ((7, 7),)}
    """
    pieces: dict[int, list[Range]] = {}
    for key in sorted(keys):
        position = position_of(key)
        known = pieces.setdefault(no_of(key), [])
        if known and position <= known[-1][1] + 1:
            known[-1] = (known[-1][0], position)
        else:
            known.append((position, position))
    return {no: tuple(ranges) for no, ranges in pieces.items()}

"""Sets of events as ranges of positions, by the number of their log or stream."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from whence.engine.intervals import Intervals

__all__ = [
    "LAST_POSITION",
    "POSITION_BITS",
    "WIDE",
    "WIDE_BITS",
    "Places",
    "Range",
    "difference",
    "joined",
    "key_of",
    "last_position",
    "meeting",
    "merge",
    "no_of",
    "overlap",
    "places_of_keys",
    "position_of",
]

Range = tuple[int, int]
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


def joined(pieces: Iterable[Range]) -> Intervals:
    """Sort ranges, and join those that overlap or touch.

    >>> joined([(5, 6), (0, 2), (3, 3)])
    ((0, 3), (5, 6))
    """
    result: list[Range] = []
    for lo, hi in sorted(pieces):
        if result and lo <= result[-1][1] + 1:
            if hi > result[-1][1]:
                result[-1] = (result[-1][0], hi)
        else:
            result.append((lo, hi))
    return tuple(result)


def difference(left: Intervals, right: Intervals) -> Intervals:
    """What is in the first but not in the second, in one pass over both.

    >>> difference(((0, 9),), ((3, 4), (9, 12)))
    ((0, 2), (5, 8))
    """
    rest: list[Range] = []
    at = 0
    for lo, hi in left:
        start = lo
        while at < len(right) and right[at][1] < start:
            at += 1
        ahead = at
        while ahead < len(right) and right[ahead][0] <= hi:
            if right[ahead][0] > start:
                rest.append((start, right[ahead][0] - 1))
            start = right[ahead][1] + 1
            ahead += 1
        # The last cut may reach into the next range, so that it is looked at again.
        at = max(at, ahead - 1)
        if start <= hi:
            rest.append((start, hi))
    return tuple(rest)


def overlap(left: Intervals, right: Intervals) -> Intervals:
    """What is in both.

    >>> overlap(((0, 4), (8, 9)), ((3, 8),))
    ((3, 4), (8, 8))
    """
    shared: list[Range] = []
    at = other = 0
    while at < len(left) and other < len(right):
        lo, hi = max(left[at][0], right[other][0]), min(left[at][1], right[other][1])
        if lo <= hi:
            shared.append((lo, hi))
        if left[at][1] < right[other][1]:
            at += 1
        else:
            other += 1
    return tuple(shared)


def meeting(ranges: Intervals, lo: int, hi: int) -> Iterator[Range]:
    """The parts of some ranges that lie in lo..hi.

    >>> list(meeting(((0, 4), (8, 9)), 3, 8))
    [(3, 4), (8, 8)]
    """
    at = bisect_left(ranges, lo, key=lambda each: each[1])
    while at < len(ranges) and ranges[at][0] <= hi:
        yield max(lo, ranges[at][0]), min(hi, ranges[at][1])
        at += 1


def merge(into: Places, other: Places) -> Places:
    """Add places to places; return what was new."""
    new: Places = {}
    for no, ranges in other.items():
        fresh = difference(ranges, into.get(no, ()))
        if fresh:
            new[no] = fresh
            into[no] = joined((*into.get(no, ()), *fresh))
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

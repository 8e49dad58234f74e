"""Sets of positions as intervals: sorted, disjoint, not touching, both ends included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["Intervals", "contains", "count", "minus", "of_positions", "positions", "union"]

Intervals = tuple[tuple[int, int], ...]


def of_positions(values: Iterable[int]) -> Intervals:
    """The intervals of some positions.

    >>> of_positions([3, 1, 2, 7])
    ((1, 3), (7, 7))
    """
    return _joined(sorted((v, v) for v in values))


def _joined(pieces: Iterable[tuple[int, int]]) -> Intervals:
    joined: list[tuple[int, int]] = []
    for lo, hi in pieces:
        if joined and lo <= joined[-1][1] + 1:
            if hi > joined[-1][1]:
                joined[-1] = (joined[-1][0], hi)
        else:
            joined.append((lo, hi))
    return tuple(joined)


def union(left: Intervals, right: Intervals) -> Intervals:
    """What is in either.

    >>> union(((0, 4),), ((5, 5), (8, 9)))
    ((0, 5), (8, 9))
    """
    if not left or not right:
        return left or right
    if len(left) == 1 and len(right) == 1:
        (a, b), (c, d) = left[0], right[0]
        if a <= c <= b + 1:
            return left if d <= b else ((a, d),)
    return _joined(sorted((*left, *right)))


def minus(left: Intervals, right: Intervals) -> Intervals:
    """What is in the first but not in the second.

    >>> minus(((0, 9),), ((3, 4), (9, 12)))
    ((0, 2), (5, 8))
    """
    if not right or left == right:
        return () if left == right else left
    rest: list[tuple[int, int]] = []
    for lo, hi in left:
        start = lo
        for cut_lo, cut_hi in right:
            if cut_hi < start:
                continue
            if cut_lo > hi:
                break
            if cut_lo > start:
                rest.append((start, cut_lo - 1))
            start = cut_hi + 1
        if start <= hi:
            rest.append((start, hi))
    return tuple(rest)


def count(intervals: Intervals) -> int:
    """How many positions."""
    return sum(hi - lo + 1 for lo, hi in intervals)


def contains(intervals: Intervals, position: int) -> bool:
    """Whether a position is among them."""
    return any(lo <= position <= hi for lo, hi in intervals)


def positions(intervals: Intervals) -> Iterator[int]:
    """Every position, in order."""
    for lo, hi in intervals:
        yield from range(lo, hi + 1)

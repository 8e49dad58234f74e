"""The one set of positions: intervals that are sorted, disjoint and not touching, ends included.

It has two forms. `Intervals` is a tuple of pairs: it can be hashed, compared and written as JSON,
and is the quicker one while there are a few intervals. `Positions` holds two columns, and is the
quicker one for many. Every operation takes one pass over what it is given, after sorting.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "NONE",
    "Bools",
    "Intervals",
    "Ints",
    "Positions",
    "Range",
    "contains",
    "count",
    "flat_ranges",
    "joined",
    "meeting",
    "minus",
    "of_positions",
    "overlap",
    "places_in_order",
    "positions",
    "union",
]

Range = tuple[int, int]
Intervals = tuple[Range, ...]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

DENSE = 4
"""Up to so many positions an interval it is quicker to mark each of them than to sort."""


def of_positions(values: Iterable[int]) -> Intervals:
    """The intervals of some positions.

    >>> of_positions([3, 1, 2, 7])
    ((1, 3), (7, 7))
    """
    return joined((v, v) for v in values)


def joined(pieces: Iterable[Range]) -> Intervals:
    """Sort ranges, and join those that overlap or touch.

    >>> joined([(5, 6), (0, 2), (3, 3)])
    ((0, 3), (5, 6))
    """
    found: list[Range] = []
    for lo, hi in sorted(pieces):
        if found and lo <= found[-1][1] + 1:
            if hi > found[-1][1]:
                found[-1] = (found[-1][0], hi)
        else:
            found.append((lo, hi))
    return tuple(found)


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
    return joined((*left, *right))


def minus(left: Intervals, right: Intervals) -> Intervals:
    """What is in the first but not in the second.

    >>> minus(((0, 9),), ((3, 4), (9, 12)))
    ((0, 2), (5, 8))
    """
    if not right or left == right:
        return () if left == right else left
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
        # The last cut may reach into the next interval: the search continues from it.
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


def meeting(intervals: Intervals, lo: int, hi: int) -> Iterator[Range]:
    """The parts of some intervals that lie in lo..hi.

    >>> list(meeting(((0, 4), (8, 9)), 3, 8))
    [(3, 4), (8, 8)]
    """
    at = bisect_left(intervals, lo, key=_end) if lo <= hi else len(intervals)
    while at < len(intervals) and intervals[at][0] <= hi:
        yield max(lo, intervals[at][0]), min(hi, intervals[at][1])
        at += 1


def _end(each: Range) -> int:
    return each[1]


def count(intervals: Intervals) -> int:
    """The number of positions."""
    return sum(hi - lo + 1 for lo, hi in intervals)


def contains(intervals: Intervals, position: int) -> bool:
    """Whether a position is among them."""
    at = bisect_left(intervals, position, key=_end)
    return at < len(intervals) and intervals[at][0] <= position


def positions(intervals: Intervals) -> Iterator[int]:
    """Every position, in order."""
    for lo, hi in intervals:
        yield from range(lo, hi + 1)


def flat_ranges(start: Ints, count: Ints) -> tuple[Ints, Ints]:
    """The numbers of several ranges one after the other, and which range each belongs to.

    >>> flat_ranges(np.array([5, 0]), np.array([2, 3]))
    (array([5, 6, 0, 1, 2]), array([0, 0, 1, 1, 1]))
    """
    which = np.repeat(np.arange(len(start), dtype=np.int64), count)
    before = np.cumsum(count) - count
    return np.arange(len(which), dtype=np.int64) - before[which] + start[which], which


def places_in_order(numbers: Ints) -> Ints:
    """The places of numbers from the smallest to the largest, equal ones as they stand.

    >>> places_in_order(np.array([7, 5, 7, 6]))
    array([1, 3, 0, 2])
    """
    low = int(numbers.min(initial=0))
    bits = len(numbers).bit_length()
    if (int(numbers.max(initial=0)) - low).bit_length() + bits > 62:
        return np.argsort(numbers, kind="stable")
    # Number and place in one word: to sort words is many times faster than to sort places.
    words = (numbers - low << bits) | np.arange(len(numbers), dtype=np.int64)
    words.sort()
    return words & ((1 << bits) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """The intervals as two columns: the first and the last position of each."""

    lo: Ints
    hi: Ints

    @classmethod
    def one(cls, lo: int, hi: int) -> Positions:
        """All from one position to another; none if that one comes first."""
        return cls.joined(np.array([lo], np.int64), np.array([hi], np.int64))

    @classmethod
    def of(cls, values: Ints) -> Positions:
        """Single positions, in any order."""
        return cls.joined(values, values)

    @classmethod
    def of_intervals(cls, intervals: Intervals) -> Positions:
        """From the other form."""
        pairs = np.array(intervals, np.int64).reshape(-1, 2)
        return cls(pairs[:, 0], pairs[:, 1])

    @classmethod
    def joined(cls, lo: Ints, hi: Ints) -> Positions:
        """Intervals in any order; those that overlap or touch become one, empty ones none.

        >>> Positions.joined(np.array([5, 0, 3, 9]), np.array([6, 2, 3, 8])).intervals
        ((0, 3), (5, 6))
        """
        there = lo <= hi
        if not there.all():
            lo, hi = lo[there], hi[there]
        if not len(lo):
            return NONE
        if not (lo[1:] >= lo[:-1]).all():
            first, end = int(lo.min()), int(hi.max()) + 1
            if end - first < DENSE * len(lo):
                return cls._counted(lo - first, hi - first, first, end - first)
            order = places_in_order(lo)
            lo, hi = lo[order], hi[order]
        hi = np.maximum.accumulate(hi)
        fresh = np.append(True, lo[1:] > hi[:-1] + 1)
        last = np.append(np.flatnonzero(fresh)[1:], len(lo)) - 1
        return cls(lo[fresh], hi[last])

    @classmethod
    def _counted(cls, lo: Ints, hi: Ints, first: int, size: int) -> Positions:
        """Intervals close together, from a first position on: counted, not sorted."""
        if (lo == hi).all():
            there = np.zeros(size + 2, np.bool_)
            there[lo + 1] = True
        else:
            begun = np.bincount(lo + 1, minlength=size + 2)
            there = np.cumsum(begun - np.bincount(hi + 2, minlength=size + 2)) > 0
        changes = np.flatnonzero(there[1:] != there[:-1])
        return cls(changes[::2] + first, changes[1::2] + first - 1)

    @classmethod
    def united(cls, several: Iterable[Positions]) -> Positions:
        """What is in any of them."""
        some = [each for each in several if each]
        if len(some) < 2:
            return some[0] if some else NONE
        lo, hi = ([*columns] for columns in zip(*((s.lo, s.hi) for s in some), strict=True))
        return cls.joined(np.concatenate(lo), np.concatenate(hi))

    @property
    def intervals(self) -> Intervals:
        """In the other form."""
        return tuple(zip(self.lo.tolist(), self.hi.tolist(), strict=True))

    def __bool__(self) -> bool:
        """Whether there is any."""
        return len(self.lo) > 0

    @property
    def count(self) -> int:
        """The number of positions."""
        return int((self.hi - self.lo + 1).sum())

    @property
    def positions(self) -> Ints:
        """One by one."""
        return flat_ranges(self.lo, self.hi - self.lo + 1)[0]

    def contains(self, values: Ints) -> Bools:
        """Which of some positions are among these.

        >>> Positions.one(2, 4).contains(np.array([1, 2, 4, 5])).tolist()
        [False, True, True, False]
        """
        if not self:
            return np.zeros(len(values), np.bool_)
        at = np.searchsorted(self.lo, values, side="right") - 1
        found: Bools = (at >= 0) & (values <= self.hi[np.maximum(at, 0)])
        return found

    def union(self, other: Positions) -> Positions:
        """Those of both."""
        if not self or not other:
            return self or other
        return Positions.joined(
            np.concatenate([self.lo, other.lo]), np.concatenate([self.hi, other.hi])
        )

    def minus(self, other: Positions) -> Positions:
        """Those that the other one does not hold.

        >>> Positions.one(0, 9).minus(Positions.of(np.array([3, 9]))).intervals
        ((0, 2), (4, 8))
        """
        if not self or not other:
            return self
        # Every gap between the others, cut to the intervals that it meets.
        first, last = self.lo[0] - 1, self.hi[-1] + 1
        begin = np.append(min(first, other.lo[0]), other.hi + 1)
        end = np.append(other.lo - 1, max(last, other.hi[-1] + 1))
        there = begin <= end
        return self.overlap(Positions(begin[there], end[there]))

    def overlap(self, other: Positions) -> Positions:
        """Those that are in both."""
        if not self or not other:
            return NONE
        begin = np.searchsorted(other.hi, self.lo)
        end = np.searchsorted(other.lo, self.hi, side="right")
        which, mine = flat_ranges(begin, np.maximum(end - begin, 0))
        return Positions(
            np.maximum(self.lo[mine], other.lo[which]), np.minimum(self.hi[mine], other.hi[which])
        )

    def met_by(self, lo: Ints, hi: Ints) -> Bools:
        """Which of some intervals, in any order, hold one of these positions.

        >>> Positions.one(2, 4).met_by(np.array([0, 4, 5]), np.array([1, 9, 5])).tolist()
        [False, True, False]
        """
        if not self:
            return np.zeros(len(lo), np.bool_)
        ahead = np.searchsorted(self.hi, lo)  # the first of these that ends there or later
        there = ahead < len(self.lo)
        found: Bools = there & (self.lo[np.where(there, ahead, 0)] <= hi)
        return found

    def meets(self, other: Positions) -> bool:
        """Whether any is in both."""
        return bool(self.met_by(other.lo, other.hi).any())


NONE = Positions(np.empty(0, np.int64), np.empty(0, np.int64))
"""No position."""

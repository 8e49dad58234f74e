"""Sets of positions as sorted intervals in two columns, for as many of them as a log has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from whence.engine.compact import Ints, flat_ranges

__all__ = ["Ranges"]


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Intervals that are sorted and do not touch, both ends included."""

    lo: Ints
    hi: Ints

    @classmethod
    def none(cls) -> Ranges:
        """No position."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))

    @classmethod
    def one(cls, lo: int, hi: int) -> Ranges:
        """All from one position to another."""
        return cls.joined(np.array([lo], np.int64), np.array([hi], np.int64))

    @classmethod
    def of(cls, positions: Ints) -> Ranges:
        """Single positions, in any order."""
        return cls.joined(positions, positions)

    @classmethod
    def joined(cls, lo: Ints, hi: Ints) -> Ranges:
        """Intervals in any order; those that overlap or touch become one, empty ones none.

        >>> found = Ranges.joined(np.array([5, 0, 3, 9]), np.array([6, 2, 3, 8]))
        >>> found.lo.tolist(), found.hi.tolist()
        ([0, 5], [3, 6])
        """
        there = lo <= hi
        lo, hi = lo[there], hi[there]
        if not len(lo):
            return cls.none()
        order = np.argsort(lo, kind="stable")
        lo, hi = lo[order], np.maximum.accumulate(hi[order])
        fresh = np.append(True, lo[1:] > hi[:-1] + 1)
        last = np.append(np.flatnonzero(fresh)[1:], len(lo)) - 1
        return cls(lo[fresh], hi[last])

    def __bool__(self) -> bool:
        """Whether there is any."""
        return len(self.lo) > 0

    @property
    def count(self) -> int:
        """How many positions."""
        return int((self.hi - self.lo + 1).sum())

    @property
    def positions(self) -> Ints:
        """One by one."""
        return flat_ranges(self.lo, self.hi - self.lo + 1)[0]

    def holds(self, positions: Ints) -> npt.NDArray[np.bool_]:
        """Which of some positions are among these.

        >>> Ranges.one(2, 4).holds(np.array([1, 2, 4, 5])).tolist()
        [False, True, True, False]
        """
        if not self:
            return np.zeros(len(positions), np.bool_)
        at = np.searchsorted(self.lo, positions, side="right") - 1
        found: npt.NDArray[np.bool_] = (at >= 0) & (positions <= self.hi[np.maximum(at, 0)])
        return found

    def union(self, other: Ranges) -> Ranges:
        """Those of both."""
        if not self or not other:
            return self or other
        return Ranges.joined(
            np.concatenate([self.lo, other.lo]), np.concatenate([self.hi, other.hi])
        )

    def minus(self, other: Ranges) -> Ranges:
        """Those that the other one does not hold.

        >>> left = Ranges.one(0, 9).minus(Ranges.of(np.array([3, 9])))
        >>> left.lo.tolist(), left.hi.tolist()
        ([0, 4], [2, 8])
        """
        if not self or not other:
            return self
        # Every gap between the others, cut to the intervals that it meets.
        first, last = self.lo[0] - 1, self.hi[-1] + 1
        begin = np.append(min(first, other.lo[0]), other.hi + 1)
        end = np.append(other.lo - 1, max(last, other.hi[-1] + 1))
        return self.overlap(Ranges.joined(begin, end))

    def overlap(self, other: Ranges) -> Ranges:
        """Those that are in both."""
        if not self or not other:
            return Ranges.none()
        from_ = np.searchsorted(other.hi, self.lo)
        to = np.searchsorted(other.lo, self.hi, side="right")
        which, mine = flat_ranges(from_, np.maximum(to - from_, 0))
        return Ranges(
            np.maximum(self.lo[mine], other.lo[which]), np.minimum(self.hi[mine], other.hi[which])
        )

    def met_by(self, lo: Ints, hi: Ints) -> npt.NDArray[np.bool_]:
        """Which of some intervals, in any order, hold one of these positions.

        >>> Ranges.one(2, 4).met_by(np.array([0, 4, 5]), np.array([1, 9, 5])).tolist()
        [False, True, False]
        """
        if not self:
            return np.zeros(len(lo), np.bool_)
        ahead = np.searchsorted(self.hi, lo)  # the first of these that ends there or later
        there = ahead < len(self.lo)
        found: npt.NDArray[np.bool_] = there & (self.lo[np.where(there, ahead, 0)] <= hi)
        return found

    def meets(self, other: Ranges) -> bool:
        """Whether any is in both."""
        return bool(self.overlap(other))

    def within(self, lo: int, hi: int) -> Iterator[tuple[int, int]]:
        """The intervals between two positions, cut there."""
        found = self.overlap(Ranges.one(lo, hi))
        yield from zip(found.lo.tolist(), found.hi.tolist(), strict=True)

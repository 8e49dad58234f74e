"""Sets of positions as arrays of ranges."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from whence.engine.compact import Ints, flat_ranges
from whence.engine.intervals import Intervals

__all__ = [
    "Ranges",
    "Rows",
    "as_intervals",
    "as_ranges",
    "contains",
    "led_to",
    "union_of",
    "without",
]

Rows = Ints
"""Columns: first output, last output, first position, last position."""
Ranges = Ints
"""Columns: first and last position; in order, and apart."""


def as_ranges(places: Intervals) -> Ranges:
    """Intervals as an array."""
    return np.array(places, np.int64).reshape(-1, 2)


def as_intervals(ranges: Ranges) -> Intervals:
    """And back."""
    return tuple((lo, hi) for lo, hi in ranges.tolist())


def union_of(several: Iterable[Ranges]) -> Ranges:
    """What is in any of them, in order and apart."""
    ranges = np.concatenate(list(several))
    if not len(ranges):
        return ranges
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    last = np.maximum.accumulate(ranges[:, 1])
    fresh = np.ones(len(ranges), bool)
    fresh[1:] = ranges[1:, 0] > last[:-1] + 1
    firsts = np.flatnonzero(fresh)
    ends = np.append(firsts[1:], len(ranges)) - 1
    return np.stack([ranges[firsts, 0], last[ends]], axis=1)


def without(ranges: Ranges, seen: Ranges | None) -> Ranges:
    """What is in the first and not in the second; both in order, and each apart."""
    if seen is None or not len(seen):
        return union_of([ranges])
    ranges = union_of([ranges])
    # Every place where something begins or ends, and what holds from there on.
    marks = np.concatenate([ranges[:, 0], ranges[:, 1] + 1, seen[:, 0], seen[:, 1] + 1])
    marks.sort(kind="stable")  # four runs that are in order: quicker than to look for what is twice
    inside = contains(ranges, marks) & ~contains(seen, marks)
    left = np.flatnonzero(inside[:-1] & (marks[1:] > marks[:-1]))
    return union_of([np.stack([marks[left], marks[left + 1] - 1], axis=1)])


def contains(ranges: Ranges, positions: Ints) -> np.ndarray:
    """Which of some positions are in one of them."""
    if not len(ranges):
        return np.zeros(len(positions), np.bool_)
    at = np.searchsorted(ranges[:, 0], positions, side="right") - 1
    return np.asarray((at >= 0) & (positions <= ranges[np.maximum(at, 0), 1]))


def led_to(rows: Rows, new: Ranges) -> Ranges:
    """Where the outputs of some ranges lead to, by rows in the order of their first outputs."""
    if len(new) * 8 < len(rows) and bool((rows[:, 0] == rows[:, 1]).all()):
        begins = np.searchsorted(rows[:, 0], new[:, 0])
        ends = np.searchsorted(rows[:, 0], new[:, 1], side="right")
        places, _ = flat_ranges(begins, ends - begins)
        return union_of([rows[places, 2:]])
    at = np.searchsorted(new[:, 1], rows[:, 0])
    hit = at < len(new)
    hit[hit] = new[at[hit], 0] <= rows[hit, 1]
    return union_of([rows[hit, 2:]])

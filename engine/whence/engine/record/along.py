"""Along a stream whose events build on earlier ones of their own: all that is reached.

A few steps are taken at once for all events. A chain of them may be as long as the log, though; to
follow it step by step, each time through all associations, would take time that grows with its
square, so that then the events are gone through one by one, in one pass.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from whence.engine.record.ranges import Ranges, Rows, contains, led_to, union_of, without

__all__ = ["reached_within"]

STEPS = 32
"""After so many steps at once one pass is quicker."""


def reached_within(rows: Rows, start: Ranges) -> Ranges | None:
    """What some events lead to in their own stream, however far.

    ``None`` if the rows lead neither all from single events to earlier ones nor all to single later
    ones.

    >>> back = np.array([[1, 1, 0, 0], [2, 2, 1, 1], [5, 5, 3, 4]])
    >>> reached_within(back, np.array([[2, 2]])).tolist()
    [[0, 1]]
    >>> reached_within(back[:, [2, 3, 0, 1]], np.array([[0, 0]])).tolist()
    [[1, 2]]

    Args:
        rows: from where to where within one stream.
        start: the events to begin with.
    """
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    found = new = led_to(rows, start)
    for _ in range(STEPS):
        new = without(led_to(rows, new), found)
        if not len(new):
            return found
        found = union_of([found, new])
    single, single_end = rows[:, 0] == rows[:, 1], rows[:, 2] == rows[:, 3]
    if bool((single & (rows[:, 3] < rows[:, 0])).all()):
        return _earlier(rows, start)
    if bool((single_end & (rows[:, 1] < rows[:, 2])).all()):
        return _later(rows, start)
    return None


def _earlier(rows: Rows, start: Ranges) -> Ranges:
    """From single events to earlier ones: the last event first, so that each is decided once.

    The rows are in the order of where they lead from.
    """
    source = rows[:, 0]
    first = np.searchsorted(source, rows[:, 2]).tolist()
    last = (np.searchsorted(source, rows[:, 3], side="right") - 1).tolist()
    taken = contains(start, source).tolist()
    begins, ends = [0] * len(rows), [0] * len(rows)
    over = 0  # ranges that are reached and hold the row that is looked at
    for at in range(len(rows) - 1, -1, -1):
        over += begins[at]
        if over or taken[at]:
            taken[at] = True
            if first[at] <= last[at]:
                begins[last[at]] += 1
                ends[first[at]] += 1
        over -= ends[at]
    return union_of([rows[np.array(taken, np.bool_), 2:]])


def _later(rows: Rows, start: Ranges) -> Ranges:
    """To single later events: the first of them first."""
    rows = rows[np.argsort(rows[:, 2], kind="stable")]
    at = np.searchsorted(start[:, 1], rows[:, 0])
    hit = at < len(start)
    hit[hit] = start[at[hit], 0] <= rows[hit, 1]
    found: list[int] = []
    for begun, lo, hi, to in zip(
        hit.tolist(), rows[:, 0].tolist(), rows[:, 1].tolist(), rows[:, 2].tolist(), strict=True
    ):
        if not begun:
            near = bisect_right(found, hi) - 1
            begun = near >= 0 and found[near] >= lo
        if begun and not (found and found[-1] == to):
            found.append(to)
    points = np.array(found, np.int64)
    return union_of([np.stack([points, points], axis=1)])

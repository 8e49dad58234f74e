"""Rows that lead to one interval each, as items: the pointers of machines, and what was picked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.columns.lazy_ints import zeros
from whence.engine.kernels.trails.composing import Chosen
from whence.engine.kernels.trails.trail import Line, Spans, Trail
from whence.engine.values.jit import jit

__all__ = ["Single", "compared", "runs_of", "single"]

_ALL: Bools = np.zeros(0, np.bool_)


class Single(NamedTuple):
    """Outputs in order, each with one interval that is not empty.

    Attributes:
        target: the stream, by number.
        fields: the fields that matter, by number.
        here: the outputs.
        lo: where each interval begins.
        hi: where it ends; the very same array if all are single positions.
    """

    target: int
    fields: int
    here: Ints
    lo: Ints
    hi: Ints


def single(trail: Trail, rows: Ints, positions: Ints) -> Single | None:
    """Some rows of a trail, if it leads each to one interval at most; else ``None``."""
    chosen = _ALL
    if isinstance(trail, Chosen) and len(trail.parts) == 1:
        mask, trail = trail.parts[0]
        chosen = _ALL if mask is None else mask
    if isinstance(trail, Line):
        if len(chosen):
            rows = rows[chosen[rows]]
        lo, hi = trail.a + rows * trail.sa, trail.b + rows * trail.sb
        if len(rows) and not bool((lo <= hi).all()):
            return None
        return Single(trail.target, trail.fields, positions[rows], lo, hi)
    if not isinstance(trail, Spans):
        return None
    here, lo, hi = _room(trail, len(rows))
    count = _compacted(trail.lo, trail.hi, chosen, rows, positions, here, lo, hi)
    return _of(trail, count, here, lo, hi)


def compared(left: Spans, right: Spans, rows: Ints, positions: Ints) -> list[Single]:
    """Two trails to one stream: what is the same in both, what only the first says, the second."""
    wider = left if right.lo is right.hi else right
    rooms = [_room(wider, len(rows)) for _ in range(3)]
    same, one, other = rooms
    counts = np.zeros(3, np.int64)
    if left.lo is left.hi and right.lo is right.hi:
        points = (*same[:2], *one[:2], *other[:2])
        _compared_points(left.lo, right.lo, rows, positions, *points, counts)
    else:
        ends = (left.lo, left.hi, right.lo, right.hi)
        _compared(*ends, rows, positions, *same, *one, *other, counts)
    return [_of(left, int(count), *room) for count, room in zip(counts, rooms, strict=True)]


def _room(trail: Spans, count: int) -> tuple[Ints, Ints, Ints]:
    """Arrays for outputs and their intervals; of single positions one array holds both ends."""
    if trail.lo is trail.hi:
        here, lo = np.empty((2, count), np.int64)
        return here, lo, lo
    here, lo, hi = np.empty((3, count), np.int64)
    return here, lo, hi


def _of(trail: Spans, count: int, here: Ints, lo: Ints, hi: Ints) -> Single:
    points = hi is lo
    here, lo, hi = here[:count], lo[:count], hi[:count]
    return Single(trail.target, trail.fields, here, lo, lo if points else hi)


def runs_of(
    here: Ints, lo: Ints, hi: Ints, step: int, unit: int
) -> Iterator[tuple[int, int, tuple[Ints, Ints, Ints, Ints]]]:
    """Neighbouring outputs whose intervals go on in step, by step; single ones among them.

    Args:
        here: the outputs, in order.
        lo: where the interval of each begins.
        hi: where it ends.
        step: how outputs go on.
        unit: how positions in the other stream may go on, beside 0 and 1.
    """
    count = len(here)
    slopes = [0, 1] if unit == 1 else [0, 1, unit]
    code = np.empty(count, np.int8)
    begun = _coded(here, lo, hi, step, np.array(slopes, np.int64), code)
    if 2 * begun > count:
        # With less than two outputs an item on average runs are not worth their trouble.
        yield 0, 0, (here, zeros(count), lo, zeros(count) if hi is lo else hi - lo)
        return
    # A run ends where the step changes; what follows is measured from the next one on.
    begins = np.ones(count, np.bool_)
    begins[1:] = (code[1:] < 0) | ((code[:-1] >= 0) & (code[1:] != code[:-1]))
    starts = np.flatnonzero(begins)
    more = np.diff(np.append(starts, count)) - 1
    of_run = np.where(more > 0, code[np.minimum(starts + 1, count - 1)], -1)
    kinds = np.unique(of_run[of_run >= 0]).tolist()
    of_run = np.where(of_run < 0, kinds[0] if kinds else 0, of_run)
    for kind in kinds or [0]:
        chosen = starts[of_run == kind]
        item = (here[chosen], more[of_run == kind], lo[chosen], hi[chosen] - lo[chosen])
        yield slopes[kind // len(slopes)], slopes[kind % len(slopes)], item


@jit
def _compacted(
    lo: Ints, hi: Ints, chosen: Bools, rows: Ints, positions: Ints, here: Ints, to: Ints, till: Ints
) -> int:
    """The chosen rows that lead anywhere; return how many."""
    count = 0
    every = len(chosen) == 0
    for place in range(len(rows)):
        row = rows[place]
        if (every or chosen[row]) and hi[row] >= lo[row] and hi[row] >= 0:
            here[count] = positions[row]
            to[count] = lo[row]
            till[count] = hi[row]
            count += 1
    return count


@jit
def _compared_points(
    left: Ints,
    right: Ints,
    rows: Ints,
    positions: Ints,
    same_here: Ints,
    same_to: Ints,
    one_here: Ints,
    one_to: Ints,
    two_here: Ints,
    two_to: Ints,
    counts: Ints,
) -> None:
    """The same for single positions: each row is written into all three, and counted where it is.

    Branch-free: a redundant write is cheaper than a misprediction.
    """
    same, one, two = np.uint64(0), np.uint64(0), np.uint64(0)
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        a, b, here = left[row], right[row], positions[row]
        same_here[same], one_here[one], two_here[two] = here, here, here
        same_to[same], one_to[one], two_to[two] = a, a, b
        same += np.uint64((a >= 0) & (a == b))
        one += np.uint64((a >= 0) & (a != b))
        two += np.uint64((b >= 0) & (a != b))
    counts[0], counts[1], counts[2] = same, one, two


@jit
def _compared(
    lo: Ints,
    hi: Ints,
    other_lo: Ints,
    other_hi: Ints,
    rows: Ints,
    positions: Ints,
    same_here: Ints,
    same_to: Ints,
    same_till: Ints,
    one_here: Ints,
    one_to: Ints,
    one_till: Ints,
    two_here: Ints,
    two_to: Ints,
    two_till: Ints,
    counts: Ints,
) -> None:
    """Sort the rows into those that lead to the same, and what each trail says alone."""
    same, one, two = 0, 0, 0
    for place in range(len(rows)):
        row = rows[place]
        a, b, c, d = lo[row], hi[row], other_lo[row], other_hi[row]
        if a == c and b == d:
            if b >= a and b >= 0:
                same_here[same] = positions[row]
                same_to[same] = a
                same_till[same] = b
                same += 1
            continue
        if b >= a and b >= 0:
            one_here[one] = positions[row]
            one_to[one] = a
            one_till[one] = b
            one += 1
        if d >= c and d >= 0:
            two_here[two] = positions[row]
            two_to[two] = c
            two_till[two] = d
            two += 1
    counts[0], counts[1], counts[2] = same, one, two


@jit
def _coded(here: Ints, lo: Ints, hi: Ints, step: int, slopes: Ints, code: np.ndarray) -> int:
    """By which step each output goes on from the one before it, -1 if it does not.

    Returns:
        How many runs there are; no further than is needed to know that they are not worth it.
    """
    most = len(here) // 2
    begun = 0
    before = -1
    for place in range(len(here)):
        now = -1
        if place > 0 and here[place] - here[place - 1] == step:
            by_lo, by_hi = lo[place] - lo[place - 1], hi[place] - hi[place - 1]
            a, b = -1, -1
            for number in range(len(slopes)):
                if by_lo == slopes[number]:
                    a = number
                if by_hi == slopes[number]:
                    b = number
            if a >= 0 and b >= 0:
                now = a * len(slopes) + b
        code[place] = now
        if now < 0 or (before >= 0 and now != before):
            begun += 1
            if begun > most:
                return begun
        before = now
    return begun

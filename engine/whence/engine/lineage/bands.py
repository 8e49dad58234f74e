"""Bands: outputs in a row, each of which leads to a range that moves with it; never written out.

Output o of ``first..last`` leads to the positions ``o*sa + a`` to ``o*sb + b``, which may be none.
A window over 10^6 events is one row of these columns. Only where the ranges of neighbours leave
gaps are outputs looked at one by one, some of them at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from whence.engine.lineage.positions import NONE, Bools, Ints, Positions, flat_ranges

__all__ = ["NO_BANDS", "Bands", "portions"]

AT_ONCE = 1 << 21
"""So many outputs, or pieces, are in memory at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """Columns of one length, a band a row, in any order."""

    first: Ints
    last: Ints
    a: Ints
    b: Ints
    sa: Ints
    sb: Ints

    def __len__(self) -> int:
        """How many bands."""
        return len(self.first)

    @property
    def columns(self) -> tuple[Ints, ...]:
        """All columns."""
        return tuple(getattr(self, each.name) for each in fields(self))

    @classmethod
    def together(cls, several: Sequence[Bands]) -> Bands:
        """All of some bands."""
        some = [each for each in several if len(each)]
        if len(some) < 2:
            return some[0] if some else NO_BANDS
        return cls(*map(np.concatenate, zip(*(each.columns for each in some), strict=True)))

    def where(self, chosen: Bools | Ints) -> Bands:
        """Some of them."""
        return Bands(*(column[chosen] for column in self.columns))

    @property
    def hull(self) -> tuple[Ints, Ints]:
        """Of each band the first and the last position that any of its outputs may lead to."""
        low = np.minimum(self.first * self.sa, self.last * self.sa) + self.a
        high = np.maximum(self.first * self.sb, self.last * self.sb) + self.b
        return low, high

    def singles(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Each output that leads anywhere, with the first and the last position, some at a time."""
        for some in portions(self.last - self.first + 1):
            first, last, a, b, sa, sb = (column[some] for column in self.columns)
            output, row = flat_ranges(first, last - first + 1)
            lo, hi = output * sa[row] + a[row], output * sb[row] + b[row]
            there = lo <= hi
            yield (output, lo, hi) if there.all() else (output[there], lo[there], hi[there])

    def reached(self, outputs: Positions) -> Positions:
        """Where some outputs lead to.

        >>> window = Bands(*(np.array([n]) for n in (0, 9, 0, 2, 1, 1)))
        >>> window.reached(Positions.one(8, 20)).intervals
        ((8, 11),)
        """
        begin, count = _met(outputs, self.first, self.last)
        found = NONE
        for some in portions(count):
            which, row = flat_ranges(begin[some], count[some])
            pieces = self.where(row + some.start)
            first = np.maximum(pieces.first, outputs.lo[which])
            last = np.minimum(pieces.last, outputs.hi[which])
            found = found.union(Bands(first, last, *pieces.columns[2:])._all_reached())
        return found

    def _all_reached(self) -> Positions:
        """Where all of them lead to."""
        # Ranges that share an end lie within each other; others may touch from output to output.
        touch = (self.sa == self.sb) & (np.abs(self.sa) <= self.b - self.a + 1)
        whole = touch | (self.sa == 0) | (self.sb == 0) | (self.first == self.last)
        if whole.all():
            return Positions.joined(*self.hull)
        found = Positions.joined(*self.where(whole).hull)
        for _, lo, hi in self.where(~whole).singles():
            found = found.union(Positions.joined(lo, hi))
        return found

    def leading_to(self, inputs: Positions) -> Positions:
        """The outputs that lead to some positions.

        >>> window = Bands(*(np.array([n]) for n in (0, 9, 0, 2, 1, 1)))
        >>> window.leading_to(Positions.one(4, 4)).intervals
        ((2, 4),)
        """
        begin, count = _met(inputs, *self.hull)
        # A look at each output is never more than that, whatever there is to be met.
        singly = count > self.last - self.first + 1
        found = NONE
        for output, lo, hi in self.where(singly).singles():
            found = found.union(Positions.of(output[inputs.met_by(lo, hi)]))
        count = np.where(singly, 0, count)
        for some in portions(count):
            which, row = flat_ranges(begin[some], count[some])
            pieces = self.where(row + some.start)
            found = found.union(pieces._meeting(inputs.lo[which], inputs.hi[which]))
        return found

    def _meeting(self, lo: Ints, hi: Ints) -> Positions:
        """The outputs of each band that lead into the range that stands beside it."""
        first, last = self.first, self.last
        # Three conditions, each linear in the output: its range begins at hi or before, ends at lo
        # or after, and is not empty.
        for slope, constant in (
            (-self.sa, hi - self.a),
            (self.sb, self.b - lo),
            (self.sb - self.sa, self.b - self.a),
        ):
            limit = constant // np.where(slope == 0, 1, np.abs(slope))
            first = np.where(slope > 0, np.maximum(first, -limit), first)
            last = np.where(slope < 0, np.minimum(last, limit), last)
            last = np.where((slope == 0) & (constant < 0), first - 1, last)
        return Positions.joined(first, last)


_EMPTY = np.empty(0, np.int64)
NO_BANDS = Bands(*[_EMPTY] * 6)
"""No band."""


def _met(places: Positions, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
    """Of each range the first interval that it meets, and how many it does."""
    begin = np.searchsorted(places.hi, lo)
    return begin, np.maximum(np.searchsorted(places.lo, hi, side="right") - begin, 0)


def portions(counts: Ints) -> Iterator[slice]:
    """Rows that make so many things each, in portions that make about `AT_ONCE` together.

    >>> list(portions(np.array([1, 2])))
    [slice(0, 2, None)]
    """
    if not len(counts):
        return
    made = np.cumsum(counts)
    if not made[-1]:
        return
    starts = np.flatnonzero(np.diff((made - counts) // AT_ONCE, prepend=-1)).tolist()
    for begin, end in zip(starts, [*starts[1:], len(counts)], strict=True):
        yield slice(begin, end)

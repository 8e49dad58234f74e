"""How many outputs each input event explains, counted from associations, not output by output.

Where outputs lead to the logs directly, the intervals of all outputs are summed up at once. Where
they lead there through other streams (the heads of slices, events inside a Slice), each event on
the way carries the outputs that it explains, as ranges, from the outputs down to the logs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import inf

import numpy as np

from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.lineage.positions import Intervals, Ints, count, union

__all__ = ["counted"]


def counted(
    rows: Iterable[Association], lengths: Mapping[str, int], outputs: Mapping[str, int]
) -> dict[str, Ints]:
    """Of every input event, by log and position, how many outputs it explains.

    >>> window = Association("w", "explains", "band", 0, 1, "log:log", a=0, b=2, sa=1, sb=1)
    >>> counted([window], {"log": 4}, {"w": 2})["log"].tolist()
    [1, 2, 2, 1]

    Args:
        rows: the associations of a run.
        lengths: how many events each log has.
        outputs: how many outputs each pipe has.
    """
    by_stream: dict[str, list[Association]] = {}
    ended: dict[tuple[str, str, tuple[int, ...], int], Association] = {}
    for row in rows:
        if row.relation == "supports" or (row.witness is not None and 0 not in row.witness):
            continue
        key = (row.stream, row.to, row.inputs, row.lo)
        if row.kind != "zone":
            by_stream.setdefault(row.stream, []).append(row)
        elif key not in ended or ended[key].hi is None:
            ended[key] = row  # a later row of an open zone says where it ends
    for row in ended.values():
        by_stream.setdefault(row.stream, []).append(row)
    totals = {name: np.zeros(length, np.int64) for name, length in lengths.items()}
    for pipe, length in outputs.items():
        own = by_stream.get(pipe, [])
        if all(row.to.startswith(LOG_PREFIX) for row in own):
            for name in lengths:
                mine = [row for row in own if row.to == LOG_PREFIX + name]
                totals[name] += _direct(mine, lengths[name], length)
        else:
            for name, numbers in _Carried(by_stream, lengths, pipe, length).counts().items():
                totals[name] += numbers
    return totals


def _direct(rows: list[Association], inputs: int, outputs: int) -> Ints:
    """Count over outputs that lead to a log directly: an input counts once for each output."""
    if not rows or not inputs:
        return np.zeros(inputs, np.int64)
    parts = [_leads(row, outputs) for row in rows]
    output, lo, hi = (np.concatenate([part[n] for part in parts]) for n in range(3))
    lo, hi = np.maximum(lo, 0), np.minimum(hi, inputs - 1)
    there = lo <= hi
    # All outputs side by side on one line, so that ranges of different outputs never touch.
    begin = output[there] * (inputs + 1)
    lo, hi = begin + lo[there], begin + hi[there]
    order = np.argsort(lo, kind="stable")
    lo, hi = lo[order], np.maximum.accumulate(hi[order])
    if not len(lo):
        return np.zeros(inputs, np.int64)
    fresh = np.ones(len(lo), bool)
    fresh[1:] = lo[1:] > hi[:-1]
    firsts = np.flatnonzero(fresh)
    lasts = np.append(firsts[1:], len(lo)) - 1
    change = np.bincount(lo[firsts] % (inputs + 1), minlength=inputs + 1).astype(np.int64)
    change -= np.bincount(hi[lasts] % (inputs + 1) + 1, minlength=inputs + 1)
    return np.cumsum(change)[:inputs]


def _leads(row: Association, outputs: int) -> tuple[Ints, Ints, Ints]:
    """The outputs of a row, and the ranges that they lead to."""
    last = outputs - 1 if row.hi is None else min(row.hi, outputs - 1)
    at = np.arange(row.lo, last + 1, dtype=np.int64)
    if row.kind == "band":
        return at, at * row.sa + row.a, at * row.sb + row.b
    places = np.array(row.inputs, np.int64)
    return np.repeat(at, len(places)), np.tile(places, len(at)), np.tile(places, len(at))


class _Stream:
    """The outputs that the events of one stream explain."""

    def __init__(self) -> None:
        self.diagonal: list[tuple[int, int, int]] = []
        """Events lo..hi that explain one output each: the one at their position plus something."""
        self.sets: dict[int, Intervals] = {}

    def add(self, position: int, explained: Intervals) -> None:
        self.sets[position] = union(self.sets.get(position, ()), explained)

    def add_diagonal(self, lo: int, hi: int, shift: int) -> None:
        """Events lo..hi explain the outputs lo + shift .. hi + shift, one each."""
        if self.diagonal:
            first, last, before = self.diagonal[-1]
            if before == shift and first <= lo <= last + 1:
                self.diagonal[-1] = (first, max(last, hi), shift)
                return
        self.diagonal.append((lo, hi, shift))

    def spread(self) -> None:
        """Write the diagonal out, event by event."""
        for lo, hi, shift in self.diagonal:
            for at in range(lo, hi + 1):
                self.add(at, ((at + shift, at + shift),))
        self.diagonal = []


class _Known:
    """The same of a stream of which all is known: ranges of events are found without a search."""

    def __init__(self, stream: _Stream) -> None:
        self._lines = sorted(stream.diagonal)
        self._firsts = [first for first, _, _ in self._lines]
        self._reach = list(accumulate((last for _, last, _ in self._lines), max))
        """How far the diagonal has come up to each of its pieces."""
        self._places = sorted(stream.sets)
        self._sets = stream.sets
        self.last = max([*self._reach[-1:], *self._places[-1:], -1])

    def lines(self, lo: int, hi: int) -> Iterator[tuple[int, int, int]]:
        """What the diagonal has of a range."""
        at = bisect_right(self._firsts, hi) - 1
        while at >= 0 and self._reach[at] >= lo:
            first, last, shift = self._lines[at]
            if last >= lo:
                yield max(lo, first), min(hi, last), shift
            at -= 1

    def sets(self, lo: int, hi: int) -> Iterator[tuple[int, Intervals]]:
        """The other events of a range, each with the outputs that it explains."""
        places = self._places
        for at in places[bisect_left(places, lo) : bisect_right(places, hi)]:
            yield at, self._sets[at]

    def over(self, lo: int, hi: int) -> Intervals:
        """What the events of a range explain together."""
        found: Intervals = ()
        for first, last, shift in self.lines(lo, hi):
            found = union(found, ((first + shift, last + shift),))
        for _, explained in self.sets(lo, hi):
            found = union(found, explained)
        return found


def _single(explained: Intervals) -> bool:
    return len(explained) == 1 and explained[0][0] == explained[0][1]


class _Spans:
    """Bands and zones of one stream; those at a position are found without looking at all."""

    def __init__(self, rows: Iterable[Association]) -> None:
        self._rows = sorted(rows, key=lambda row: row.lo)
        self._firsts = [row.lo for row in self._rows]
        self._reach = list(accumulate((_last(row) for row in self._rows), max))
        """How far the rows have come up to each of them."""

    def at(self, position: int) -> Iterator[Association]:
        """The rows that hold at a position."""
        number = bisect_right(self._firsts, position) - 1
        while number >= 0 and self._reach[number] >= position:
            if _last(self._rows[number]) >= position:
                yield self._rows[number]
            number -= 1


def _last(row: Association) -> float:
    return inf if row.hi is None else row.hi


class _Carried:
    """Carries the outputs of one pipe down to the logs."""

    def __init__(
        self,
        rows: Mapping[str, list[Association]],
        lengths: Mapping[str, int],
        pipe: str,
        outputs: int,
    ) -> None:
        self.rows = rows
        self.lengths = lengths
        self.streams: dict[str, _Stream] = {pipe: _Stream()}
        if outputs:
            self.streams[pipe].diagonal.append((0, outputs - 1, 0))
        self.pipe = pipe

    def counts(self) -> dict[str, Ints]:
        for name in self._in_order():
            if name.startswith(LOG_PREFIX) or name not in self.streams:
                continue
            own = self.rows.get(name, [])
            if any(row.to == name for row in own):
                self._down_inside(name, own)
            self._down([row for row in own if row.to != name], self.streams[name])
        found = {}
        for log, length in self.lengths.items():
            numbers = np.zeros(length, np.int64)
            stream = self.streams.get(LOG_PREFIX + log)
            for at, explained in (stream.sets if stream is not None else {}).items():
                if 0 <= at < length:
                    numbers[at] = count(explained)
            found[log] = numbers
        return found

    def _in_order(self) -> list[str]:
        """The streams that are reached, each before those that it leads to."""
        done: dict[str, None] = {}
        stack = [(self.pipe, False)]
        while stack:
            name, over = stack.pop()
            if over:
                done[name] = None
            elif name not in done:
                stack.append((name, True))
                below = dict.fromkeys(row.to for row in self.rows.get(name, ()))
                stack += [(to, False) for to in below if to != name and to not in done]
        return list(reversed(done))

    def _down(self, rows: list[Association], source: _Stream) -> None:
        """From a stream to what it leads to; all is known of the stream itself."""
        known = _Known(source)
        for row in rows:
            target = self.streams.setdefault(row.to, _Stream())
            last = known.last if row.hi is None else row.hi
            if row.kind == "band":
                self._band(row, last, known, target)
                continue
            explained = known.over(row.lo, last)
            if not explained:
                continue
            if len(row.inputs) == 1 and not row.to.startswith(LOG_PREFIX) and _single(explained):
                (at,) = row.inputs
                target.add_diagonal(at, at, explained[0][0] - at)
                continue
            for at in row.inputs:
                target.add(at, explained)

    def _band(self, row: Association, last: int, known: _Known, target: _Stream) -> None:
        for a, b, shift in known.lines(row.lo, last):
            if row.sa == row.sb == 1 and row.a == row.b and not row.to.startswith(LOG_PREFIX):
                target.add_diagonal(a + row.a, b + row.a, shift - row.a)
                continue
            if self._line(row, a, b, shift, target):
                continue
            for at in range(a, b + 1):
                self._each(row, at, ((at + shift, at + shift),), target)
        for at, explained in known.sets(row.lo, last):
            self._each(row, at, explained, target)

    def _line(self, row: Association, a: int, b: int, shift: int, target: _Stream) -> bool:
        """Events a..b, one output each, target by target, where that is less work.

        A band that reaches back to the beginning of its log leads from every event to all before
        it. The events that lead to one target lie side by side: their outputs are one range.
        """
        begin, end = max(a * row.sa + row.a, 0), b * row.sb + row.b
        if row.to.startswith(LOG_PREFIX):
            end = min(end, self.lengths[row.to.removeprefix(LOG_PREFIX)] - 1)
        pairs = (b - a + 1) * ((row.b - row.a + 1) * 2 + (row.sb - row.sa) * (a + b)) // 2
        if row.sa < 0 or row.sb < 0 or pairs <= 2 * (end - begin + 1):
            return False
        for position in range(begin, end + 1):
            if (not row.sb and position > row.b) or (not row.sa and position < row.a):
                continue
            first = max(a, -((row.b - position) // row.sb)) if row.sb else a
            last = min(b, (position - row.a) // row.sa) if row.sa else b
            if first <= last:
                target.add(position, ((first + shift, last + shift),))
        return True

    def _each(self, row: Association, at: int, explained: Intervals, target: _Stream) -> None:
        lo, hi = at * row.sa + row.a, at * row.sb + row.b
        if row.to.startswith(LOG_PREFIX):
            hi = min(hi, self.lengths[row.to.removeprefix(LOG_PREFIX)] - 1)
        for position in range(max(lo, 0), hi + 1):
            target.add(position, explained)

    def _down_inside(self, name: str, rows: list[Association]) -> None:
        """Along a stream that builds on its own earlier events, the latest first."""
        stream = self.streams[name]
        stream.spread()
        own = [row for row in rows if row.to == name]
        lists: dict[int, list[Association]] = {}
        spans = _Spans(row for row in own if row.kind != "list")
        for row in own:
            if row.kind == "list":
                lists.setdefault(row.lo, []).append(row)
        waiting = [-at for at in stream.sets]
        heapify(waiting)
        done: set[int] = set()
        while waiting:
            at = -heappop(waiting)
            if at in done:
                continue
            done.add(at)
            explained = stream.sets[at]
            for row in (*lists.get(at, ()), *spans.at(at)):
                for lo, hi in row.reaches(at, at):
                    for below in range(max(lo, 0), min(hi, at - 1) + 1):
                        if below not in stream.sets:
                            heappush(waiting, -below)
                        stream.add(below, explained)

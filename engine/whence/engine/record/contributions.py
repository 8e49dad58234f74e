"""How many outputs each input event explains, counted from a record, not output by output.

Where outputs lead to the logs directly, the intervals of all outputs are summed up at once. Where
they lead there through other streams (the heads of slices, events inside a Slice), each event on
the way carries the outputs that it explains, as ranges, from the outputs down to the logs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.engine.associations import LOG_PREFIX, Association, AssociationIndex
from whence.engine.intervals import Intervals, count, union
from whence.engine.record.compact import from_compact_table
from whence.engine.record.runs import RunRecord
from whence.engine.record.schema import associations_of

__all__ = ["contributions", "counted"]

Ints = npt.NDArray[np.int64]


def contributions(record: RunRecord) -> dict[str, Ints]:
    """Of every input event, by log and position, how many outputs of the chain it explains.

    A log that the chain reads under several names is counted under the first of them, and so is a
    stream of another run, whatever its columns are said to mean.

    Args:
        record: a run that was tracked.
    """
    manifest = record.manifest
    logs = {name: record.log(name) for name in manifest["logs"]}
    first: dict[object, str] = {}
    for name, log in logs.items():
        first.setdefault(log.made_by or log.id, name)
    same = {
        LOG_PREFIX + name: LOG_PREFIX + first[log.made_by or log.id] for name, log in logs.items()
    }
    rows = (
        row if same.get(row.to, row.to) == row.to else replace(row, to=same[row.to])
        for row in _reasons(record, manifest)
    )
    lengths = {name: logs[name].length for name in first.values()}
    outputs = {s["name"]: s["length"] for s in manifest["streams"] if s["role"] == "output"}
    return counted(rows, lengths, outputs)


def _reasons(record: RunRecord, manifest: Mapping[str, Any]) -> Iterator[Association]:
    """Every association but those that only support; neighbours that go on alike are one band."""
    for stream in manifest["streams"]:
        name = stream["name"]
        for part in stream["associations"]:
            table = record.associations(name, part["part"])
            if "back" not in table.schema.names:
                yield from associations_of(table, name)
                continue
            for block in from_compact_table(table, name).blocks:
                if block.relation != "supports":
                    yield from block.as_bands(name)


def counted(
    rows: Iterable[Association], lengths: Mapping[str, int], outputs: Mapping[str, int]
) -> dict[str, Ints]:
    """The same from associations.

    >>> window = Association("w", "explains", "band", 0, 1, "log:log", a=0, b=2, sa=1, sb=1)
    >>> counted([window], {"log": 4}, {"w": 2})["log"].tolist()
    [1, 2, 2, 1]

    Args:
        rows: the associations of a run.
        lengths: how many events each log has.
        outputs: how many outputs each pipe has.
    """
    by_stream: dict[str, list[Association]] = {}
    for stream, found in AssociationIndex(rows).by_stream.items():
        by_stream[stream] = [
            row
            for row in found
            if row.relation != "supports" and (row.witness is None or 0 in row.witness)
        ]
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
            for at in range(a, b + 1):
                self._each(row, at, ((at + shift, at + shift),), target)
        for at, explained in known.sets(row.lo, last):
            self._each(row, at, explained, target)

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
        spans = [row for row in own if row.kind != "list"]
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
            for row in (*lists.get(at, ()), *spans):
                for lo, hi in row.reaches(at, at):
                    for below in range(max(lo, 0), min(hi, at - 1) + 1):
                        if below not in stream.sets:
                            heappush(waiting, -below)
                        stream.add(below, explained)

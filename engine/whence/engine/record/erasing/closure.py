"""What follows from some input events, through all runs of a record: where their values may live.

An output whose explanation names one of them may tell its value; so may an output that is explained
by such an output, in this run or in one that read its stream as a log. What was not tracked may be
made from anything that had arrived by then. A verdict, true or false or missing, that rests on
events of others as well tells of none of them; it may stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.arrow_compute import pc
from whence.engine.associations import LOG_PREFIX, Association, AssociationIndex
from whence.engine.compact import Ints
from whence.engine.intervals import Intervals, count, minus, of_positions, union
from whence.engine.record.erasing.logs import erased_in, same_events, within
from whence.engine.record.logs import LogRecord
from whence.engine.record.runs import RunRecord, list_runs

__all__ = ["Touched", "touched_by"]


@dataclass(frozen=True)
class Touched:
    """Events that are meant, and what follows from them.

    Attributes:
        logs: the events of each log, by the log's id.
        streams: the events of each stream, by run and stream; a run that read the events without
            saying anything of them is there without any.
        untracked: streams, by run, some of whose events are meant because nobody knows better.
        verdicts: true, false or missing, by run and stream, that follow as well and stay.
    """

    logs: Mapping[str, Intervals]
    streams: Mapping[str, Mapping[str, Intervals]]
    untracked: Mapping[str, tuple[str, ...]]
    verdicts: Mapping[str, Mapping[str, Intervals]]

    @property
    def count(self) -> int:
        """How many events there are in all."""
        several = [*self.logs.values(), *(p for s in self.streams.values() for p in s.values())]
        return sum(count(places) for places in several)


def touched_by(root: Path, logs: Mapping[str, Intervals], *, verdicts: bool = False) -> Touched:
    """Find all that follows from some events of logs.

    The same events in another version of the log, and in logs that are streams of runs, are meant
    as well.

    Args:
        root: the record's place.
        logs: the events, by the log's id.
        verdicts: whether verdicts that rest on events of others as well are meant, too.
    """
    records = {path.name: LogRecord.open(path) for path in _logs(root)}
    found: dict[str, Intervals] = {}
    streams: dict[str, dict[str, Intervals]] = {}
    untracked: dict[str, tuple[str, ...]] = {}
    staying: dict[str, Mapping[str, Intervals]] = {}
    waiting = dict(logs)
    while waiting:
        id, places = waiting.popitem()
        new = minus(places, found.get(id, ()))
        if not new:
            continue
        found[id] = union(found.get(id, ()), new)
        for other in records.values():
            if other.id != id and (alike := same_events(records[id], new, other)):
                waiting[other.id] = union(waiting.get(other.id, ()), alike)
        for run in _readers(root, id):
            meant = {name: found[log] for name, log in run.manifest["logs"].items() if log in found}
            inside = _Inside(run, meant)
            if inside.unknown:
                untracked[run.id] = inside.unknown
            if not verdicts and (spared := inside.spare_verdicts()):
                staying[run.id] = spared
            streams[run.id] = {name: at for name, at in inside.found.items() if at}
            for other in records.values():
                made = other.made_by
                if made is not None and made[0] == run.id and made[1] in streams[run.id]:
                    more = streams[run.id][made[1]]
                    waiting[other.id] = union(waiting.get(other.id, ()), more)
    return Touched(found, streams, untracked, staying)


def _logs(root: Path) -> list[Path]:
    return sorted(path.parent for path in (root / "logs").glob("[!.]*/manifest.json"))


def _readers(root: Path, log: str) -> Iterator[RunRecord]:
    for id in list_runs(root):
        run = RunRecord(root, id)
        if log in run.manifest["logs"].values():
            yield run


class _Inside:
    """What follows inside a run.

    Attributes:
        found: the events of each stream.
        unknown: the streams of which nobody knows.
    """

    def __init__(self, run: RunRecord, meant: Mapping[str, Intervals]) -> None:
        """Follow some events of the run's logs, by their names."""
        self._run, self._meant, self._manifest = run, meant, run.manifest
        index = AssociationIndex(run.rows())
        self._down = _Down(index.by_stream)
        reached = self._down.from_({LOG_PREFIX + name: at for name, at in meant.items()})
        found = {name: at for name, at in reached.items() if not name.startswith(LOG_PREFIX)}
        known = {s["name"]: _places(run, s) for s in self._manifest["streams"]}
        self.found = {
            name: there for name, at in found.items() if (there := _there(known[name], at))
        }
        self._untracked = dict(self._without_reason(index.by_stream))
        for name, places in self._untracked.items():
            self.found[name] = union(self.found.get(name, ()), places)
        self.unknown = tuple(self._untracked)

    def _without_reason(
        self, rows: Mapping[str, list[Association]]
    ) -> Iterator[tuple[str, Intervals]]:
        """Outputs that were not tracked, and are not older than the first of the events."""
        options = self._manifest["options"]
        if options.get("tracked", True) and not options.get("where"):
            return
        first = min(places[0][0] for places in self._meant.values() if places)
        for stream in self._manifest["streams"]:
            if stream["role"] == "output":
                told = _told(rows.get(stream["name"], []), stream["length"])
                if more := minus(_since(self._run, stream, first), told):
                    yield stream["name"], more

    def spare_verdicts(self) -> dict[str, Intervals]:
        """Take away verdicts that rest on other events as well; give them."""
        others = {}
        for name in self._manifest["logs"]:
            log = self._run.log(name)
            gone = union(erased_in(log.manifest), self._meant.get(name, ()))
            others[LOG_PREFIX + name] = minus(((0, log.length - 1),) if log.length else (), gone)
        reached = self._down.from_(others)
        spared: dict[str, Intervals] = {}
        for stream in self._manifest["streams"]:
            name = stream["name"]
            shared = minus(self.found.get(name, ()), self._untracked.get(name, ()))
            if not shared or name not in reached:
                continue
            both = minus(shared, minus(shared, reached[name]))
            kept = _verdicts(self._run, stream, both)
            if kept:
                spared[name] = kept
                self.found[name] = minus(self.found[name], kept)
        return spared


def _verdicts(run: RunRecord, stream: Mapping[str, Any], among: Intervals) -> Intervals:
    found: Intervals = ()
    for part in stream["outputs"]:
        table = run.outputs(stream["name"], part["part"])
        positions = table.column("position").to_numpy()
        kinds = table.column("kind").cast(pa.string())
        plain = pc.is_in(kinds, value_set=pa.array(["boolean", "missing"])).to_numpy()
        found = union(found, of_positions(positions[plain & within(positions, among)].tolist()))
    return found


def _told(rows: list[Association], length: int) -> Intervals:
    """The outputs that something is known of."""
    found: Intervals = ()
    for row in rows:
        last = row.lo if row.kind == "list" else row.hi
        found = union(found, ((row.lo, length - 1 if last is None else last),))
    return found


def _since(run: RunRecord, stream: Mapping[str, Any], first: int) -> Intervals:
    """The outputs that appeared after an input event or later."""
    found: Intervals = ()
    for part in stream["outputs"]:
        table = run.outputs(stream["name"], part["part"])
        late = table.column("moment").to_numpy() >= first
        found = union(found, of_positions(table.column("position").to_numpy()[late].tolist()))
    return found


def _places(run: RunRecord, stream: Mapping[str, Any]) -> Ints:
    """The positions that a stream has events at, in order."""
    parts = [
        run.outputs(stream["name"], part["part"]).column("position").to_numpy()
        for part in stream["outputs"]
    ]
    return np.sort(np.concatenate([np.empty(0, np.int64), *parts]))


def _there(known: Ints, places: Intervals) -> Intervals:
    """Those of some places where a stream has an event: bands may lead beyond its end."""
    pieces = [
        known[np.searchsorted(known, lo) : np.searchsorted(known, hi, side="right")]
        for lo, hi in places
    ]
    return of_positions(np.concatenate(pieces).tolist()) if pieces else ()


class _Down:
    """From what is led to, to what leads there."""

    def __init__(self, rows: Mapping[str, list[Association]]) -> None:
        """Sort the rows by where they lead to."""
        single: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
        self._bands: dict[str, list[Association]] = {}
        for stream, several in rows.items():
            for row in several:
                if row.relation == "supports":
                    continue
                if row.kind == "band":
                    self._bands.setdefault(row.to, []).append(row)
                    continue
                last = row.lo if row.kind == "list" else _END if row.hi is None else row.hi
                items = single.setdefault((row.to, stream), [])
                items += [(at, row.lo, last) for at in row.inputs]
        self._single: dict[str, list[tuple[str, Ints]]] = {}
        for (to, stream), items in single.items():
            table = np.array(items, np.int64).reshape(-1, 3)
            order = np.argsort(table[:, 0], kind="stable")
            self._single.setdefault(to, []).append((stream, table[order]))

    def from_(self, start: Mapping[str, Intervals]) -> dict[str, Intervals]:
        """All that is reached, the start included."""
        seen: dict[str, Intervals] = {}
        waiting = dict(start)
        while waiting:
            name, places = waiting.popitem()
            new = minus(places, seen.get(name, ()))
            if not new:
                continue
            seen[name] = union(seen.get(name, ()), new)
            for stream, reached in self._step(name, new):
                waiting[stream] = union(waiting.get(stream, ()), reached)
        return seen

    def _step(self, name: str, places: Intervals) -> Iterator[tuple[str, Intervals]]:
        for stream, table in self._single.get(name, ()):
            for lo, hi in places:
                first, last = np.searchsorted(table[:, 0], [lo, hi + 1])
                found = table[first:last]
                if len(found):
                    yield stream, _joined(found[:, 1], found[:, 2])
        for row in self._bands.get(name, ()):
            for lo, hi in places:
                if outputs := _leading(row, lo, hi):
                    yield row.stream, outputs


_END = 2**62
"""Stands for the end of a stream, however long it is."""


def _joined(first: Ints, last: Ints) -> Intervals:
    found: list[tuple[int, int]] = []
    for lo, hi in sorted(zip(first.tolist(), last.tolist(), strict=True)):
        if found and lo <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], hi))
        else:
            found.append((lo, hi))
    return tuple(found)


def _leading(row: Association, lo: int, hi: int) -> Intervals:
    """The outputs of a band that lead to something of a range.

    >>> _leading(Association("w", "explains", "band", 0, 9, "log:log", a=0, b=2, sa=1, sb=1), 4, 4)
    ((2, 4),)
    """
    first, last = row.lo, _END if row.hi is None else row.hi
    if row.sa:
        last = min(last, (hi - row.a) // row.sa)
    elif row.a > hi:
        return ()
    if row.sb:
        first = max(first, -((row.b - lo) // row.sb))
    elif row.b < lo:
        return ()
    return ((first, last),) if first <= last else ()

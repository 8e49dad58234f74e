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

import numpy as np
import pyarrow as pa

from whence.engine.lineage.positions import NONE, Intervals, Ints, Positions, count, minus, union
from whence.engine.record.erasing.logs import same_events
from whence.engine.record.listing import list_runs
from whence.engine.record.logs import LogRecord
from whence.engine.record.manifest import MANIFEST, StreamInfo
from whence.engine.record.reaching import Reaching
from whence.engine.record.runs import RunRecord
from whence.engine.values.arrow_compute import pc

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
            meant = {name: found[log] for name, log in run.manifest.logs.items() if log in found}
            inside = _Inside(run, meant)
            if inside.unknown:
                untracked[run.id] = inside.unknown
            if not verdicts and (spared := inside.spare_verdicts()):
                staying[run.id] = spared
            streams[run.id] = {name: at.intervals for name, at in inside.found.items() if at}
            for other in records.values():
                made = other.made_by
                if made is not None and made[0] == run.id and made[1] in streams[run.id]:
                    more = streams[run.id][made[1]]
                    waiting[other.id] = union(waiting.get(other.id, ()), more)
    return Touched(found, streams, untracked, staying)


def _logs(root: Path) -> list[Path]:
    return sorted(path.parent for path in (root / "logs").glob(f"[!.]*/{MANIFEST}"))


def _readers(root: Path, log: str) -> Iterator[RunRecord]:
    for id in list_runs(root):
        run = RunRecord(root, id)
        if log in run.manifest.logs.values():
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
        self._reaching = Reaching(run, every=True)
        self._untracked = dict(self._without_reason())
        self.unknown = tuple(self._untracked)
        self.found: dict[str, Positions] = {}
        reached = self._reaching.explained_by(meant)
        for stream in self._manifest.streams:
            name = stream.name
            places = [reached[name]] if name in reached else []
            places += [self._untracked[name]] if name in self._untracked else []
            if places:
                # Bands may lead beyond the end of a stream, and between its events.
                self.found[name] = _there(_places(run, stream), Positions.united(places))

    def _without_reason(self) -> Iterator[tuple[str, Positions]]:
        """Outputs that were not tracked, and are not older than the first of the events."""
        options = self._manifest.options
        if options.tracked and not options.where:
            return
        first = min(places[0][0] for places in self._meant.values() if places)
        for stream in self._manifest.streams:
            if stream.role.is_output:
                told = self._reaching.told(stream.name)
                more = _since(self._run, stream, first).minus(told)
                if more:
                    yield stream.name, more

    def spare_verdicts(self) -> dict[str, Intervals]:
        """Take away verdicts that rest on other events as well; give them."""
        others = {}
        for name in self._manifest.logs:
            log = self._run.log(name)
            gone = union(log.manifest.erased, self._meant.get(name, ()))
            others[name] = minus(((0, log.length - 1),) if log.length else (), gone)
        reached = self._reaching.explained_by(others)
        spared: dict[str, Intervals] = {}
        for stream in self._manifest.streams:
            name = stream.name
            shared = self.found.get(name, NONE).minus(self._untracked.get(name, NONE))
            if not shared or name not in reached:
                continue
            kept = _verdicts(self._run, stream, shared.overlap(reached[name]))
            if kept:
                spared[name] = kept.intervals
                self.found[name] = self.found[name].minus(kept)
        return spared


def _verdicts(run: RunRecord, stream: StreamInfo, among: Positions) -> Positions:
    found = []
    for part in stream.outputs.numbers:
        table = run.outputs(stream.name, part)
        positions = table.column("position").to_numpy()
        kinds = table.column("kind").cast(pa.string())
        plain = pc.is_in(kinds, value_set=pa.array(["boolean", "missing"])).to_numpy()
        found.append(Positions.of(positions[plain & among.contains(positions)]))
    return Positions.united(found)


def _since(run: RunRecord, stream: StreamInfo, first: int) -> Positions:
    """The outputs that appeared after an input event or later."""
    found = []
    for part in stream.outputs.numbers:
        table = run.outputs(stream.name, part)
        late = table.column("moment").to_numpy() >= first
        found.append(Positions.of(table.column("position").to_numpy()[late]))
    return Positions.united(found)


def _places(run: RunRecord, stream: StreamInfo) -> Ints:
    """The positions that a stream has events at, in order."""
    parts = [
        run.outputs(stream.name, part).column("position").to_numpy()
        for part in stream.outputs.numbers
    ]
    return np.sort(np.concatenate([np.empty(0, np.int64), *parts]))


def _there(known: Ints, places: Positions) -> Positions:
    """Those of some places where a stream has an event."""
    return Positions.of(known[places.contains(known)])

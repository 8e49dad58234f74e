"""Compare: what is different between two runs, and which inputs explain that?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.engine.errors import LogError, StoreError
from whence.engine.lineage.positions import Intervals, overlap, union
from whence.engine.record import LogRecord, record_place
from whence.engine.record.folders import log_folder
from whence.store.catalog import RunGraph, StoredLog, StoredStream, find_run
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import Places
from whence.store.questions.answers import Coverage, InputRange, coverage_of
from whence.store.questions.log_differences import LogDifference, compare_logs, same_log
from whence.store.questions.output_pairs import How, Pair, Said, outputs_of, pairs_that_differ
from whence.store.questions.whole import require_whole
from whence.store.verbs import up

__all__ = ["ChangedOutput", "Comparison", "PipeCount", "compare"]

QUERIES = ("run_read", "run_plan", "outputs_read", "up_explains", "up_supports", "edges_up")


@dataclass(frozen=True)
class ChangedOutput:
    """An output that two runs do not have alike, and why.

    Attributes:
        output: the pipe's name.
        how: ``changed``, ``appeared`` or ``vanished``.
        old: the first run's output; ``None`` if it has none.
        new: the second run's output; ``None`` if it has none.
        old_inputs: the inputs of the first run that explain the difference: if the log was changed,
            those of the output's reasons that were changed or removed; else all its reasons.
        new_inputs: likewise those of the second run, changed or added.
    """

    output: str
    how: How
    old: Said | None
    new: Said | None
    old_inputs: tuple[InputRange, ...]
    new_inputs: tuple[InputRange, ...]


@dataclass(frozen=True)
class PipeCount:
    """How the outputs of one pipe differ.

    Attributes:
        output: the pipe's name.
        lengths: how many outputs each run has.
        changed: how many have another value.
        appeared: how many only the second run has.
        vanished: how many only the first run has.
        erased: how many cannot be compared, as a value was erased.
    """

    output: str
    lengths: tuple[int, int]
    changed: int
    appeared: int
    vanished: int
    erased: int = 0

    @property
    def same(self) -> int:
        """How many are alike."""
        return self.lengths[0] - self.changed - self.vanished - self.erased


@dataclass(frozen=True)
class Comparison:
    """What differs between two runs.

    Attributes:
        runs: their ids.
        chain_changed: whether they followed different chains.
        closed_changed: whether only one of them closed its logs.
        logs: what differs between their logs.
        paired_by: ``position``, or ``event``: the input after which an output appeared, as events
            were inserted or removed.
        pipes: how many outputs differ.
        outputs: the first of them, with what explains the difference.
        coverage: how much of each run was tracked.
        cypher: the queries that were used, by name.
    """

    runs: tuple[str, str]
    chain_changed: bool
    closed_changed: bool
    logs: tuple[LogDifference, ...]
    paired_by: str
    pipes: tuple[PipeCount, ...]
    outputs: tuple[ChangedOutput, ...]
    coverage: tuple[Coverage, Coverage]
    cypher: Mapping[str, str] = field(repr=False)

    @property
    def logs_changed(self) -> bool:
        """Whether they read different events."""
        return not all(log.same for log in self.logs)

    @property
    def count(self) -> int:
        """How many outputs differ."""
        return sum(each.changed + each.appeared + each.vanished for each in self.pipes)


def compare(
    connection: Connection,
    first: str,
    second: str,
    *,
    most: int = 20,
    record: Path | None = None,
    only: tuple[str, int] | None = None,
) -> Comparison:
    """Ask what differs between two runs.

    Args:
        connection: where the graph is.
        first: the id of a run, or ``latest``.
        second: the id of another.
        most: so many outputs are listed with what explains the difference.
        record: where the record is; needed if the runs read different logs.
        only: list no output but this one of the second run, by its pipe and position.
    """
    old, new = find_run(connection, first, record), find_run(connection, second, record)
    for run in (old, new):
        require_whole(run, connection)
    plans = [connection.read(cypher("run_plan"), id=run.id)[0]["digest"] for run in (old, new)]
    logs = tuple(_log_differences(old, new, record))
    single = logs[0] if len(logs) == 1 and not logs[0].keeps_positions else None
    pipes = []
    found: list[ChangedOutput] = []
    reasons = _Reasons(connection, (old, new), logs)
    for name in dict.fromkeys(s.name for run in (old, new) for s in run.outputs):
        streams = [_stream(run, name) for run in (old, new)]
        said = [
            outputs_of(connection, run, stream, record) if stream is not None else []
            for run, stream in zip((old, new), streams, strict=True)
        ]
        pairs = list(pairs_that_differ(said[0], said[1], single.moved_to if single else None))
        hows = [pair.how for pair in pairs]
        lengths = (len(said[0]), len(said[1]))
        counts = [hows.count(how) for how in ("changed", "appeared", "vanished", "erased")]
        pipes.append(PipeCount(name, lengths, *counts))
        known = [pair for pair in pairs if pair.how != "erased" and _is(name, pair, only)]
        some = known[: max(most - len(found), 0)]
        found += [reasons.explained(name, streams, pair) for pair in some]
    return Comparison(
        (old.id, new.id),
        plans[0] != plans[1],
        old.options.closed != new.options.closed,
        logs,
        "event" if single else "position",
        tuple(pipes),
        tuple(found),
        (coverage_of(old, old.outputs), coverage_of(new, new.outputs)),
        {name: cypher(name) for name in QUERIES},
    )


def _is(name: str, pair: Pair, only: tuple[str, int] | None) -> bool:
    return only is None or (pair.new is not None and (name, pair.new.position) == only)


def _stream(run: RunGraph, name: str) -> StoredStream | None:
    return next((stream for stream in run.outputs if stream.name == name), None)


def _log_differences(old: RunGraph, new: RunGraph, record: Path | None) -> Iterator[LogDifference]:
    names = [{name: log for log in run.logs for name in log.names} for run in (old, new)]
    for name in dict.fromkeys((*names[0], *names[1])):
        one, other = names[0].get(name), names[1].get(name)
        if one is None or other is None:
            whole: Intervals = (
                ((0, log.length - 1),) if (log := one or other) and log.length else ()
            )
            removed, added = (whole, ()) if other is None else ((), whole)
            yield LogDifference(name, "identity", (), (), removed, added, {})
        elif one.id == other.id:
            yield same_log(name)
        else:
            yield compare_logs(name, *(_log(log.id, record) for log in (one, other)))


def _whole(log: StoredLog | None) -> Intervals:
    return ((0, log.length - 1),) if log is not None and log.length else ()


def _log(id: str, record: Path | None) -> LogRecord:
    folder = log_folder(record_place(record), id)
    try:
        return LogRecord.open(folder)
    except (LogError, OSError) as fault:
        msg = (
            f"the log {id}: expected it in the record, since the runs read different logs and only "
            f"the record can match their events; got none at {folder}; try --record"
        )
        raise StoreError(msg) from fault


class _Reasons:
    """Finds the inputs that explain why an output differs."""

    def __init__(
        self,
        connection: Connection,
        runs: tuple[RunGraph, RunGraph],
        logs: Sequence[LogDifference],
    ) -> None:
        self.connection = connection
        self.runs = runs
        self.sides: tuple[dict[str, Intervals], dict[str, Intervals]] = (
            {log.log: union(log.changed, log.removed) for log in logs},
            {log.log: union(log.now, log.added) for log in logs},
        )
        self.any = any(not log.same for log in logs)

    def explained(
        self, name: str, streams: Sequence[StoredStream | None], pair: Pair
    ) -> ChangedOutput:
        sides = [
            (run, stream, said, changed)
            for run, stream, said, changed in zip(
                self.runs, streams, (pair.old, pair.new), self.sides, strict=True
            )
        ]
        for support, touched in ((False, True), (True, True), (False, False)):
            if touched and not self.any:
                continue
            found = [self._inputs(*side, support=support, touched=touched) for side in sides]
            if any(found) or not touched:
                break
        return ChangedOutput(name, pair.how, pair.old, pair.new, *found)

    def _inputs(
        self,
        run: RunGraph,
        stream: StoredStream | None,
        said: Said | None,
        changed: Mapping[str, Intervals],
        *,
        support: bool,
        touched: bool,
    ) -> tuple[InputRange, ...]:
        """What an output is explained or supported by, perhaps only as far as it was changed."""
        if stream is None or said is None:
            return ()
        start: Places = {stream.no: ((said.position, said.position),)}
        reached = up(self.connection, run, start, support=support)
        found: list[Any] = []
        for log in run.logs:
            ranges = reached.get(log.no, ())
            if touched:
                ranges = overlap(ranges, changed.get(log.name, ()))
            found += [InputRange(log.name, lo, hi) for lo, hi in ranges]
        return tuple(found)

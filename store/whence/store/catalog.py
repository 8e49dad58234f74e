"""What the graph knows of a run: its logs and streams, and under which numbers their events are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from whence.engine.errors import LogError, StoreError
from whence.engine.language.events import position_text
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.positions import Intervals
from whence.engine.record import RunRecord, latest_run, record_place
from whence.engine.record.folders import LATEST
from whence.engine.record.manifest import RunChoices, StreamRole
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import last_position

__all__ = [
    "LATEST_SHOWN",
    "NotInGraphError",
    "RunGraph",
    "StoredLog",
    "StoredStream",
    "find_run",
    "run_is_loaded",
]

LATEST_SHOWN = 5
_STREAM = ("name", "no", "processor", "pipe", "w", "length", "tracked")


class NotInGraphError(StoreError):
    """A run that was asked about is not in the graph."""


@dataclass(frozen=True)
class StoredLog:
    """A log in the graph.

    Attributes:
        id: its identity.
        no: its number; part of the keys of its events.
        names: what chains of this run call it.
        length: how many events it has.
        plain: its events are plain values, which have no fields.
        mapped: which columns are its case, activity and time, as far as they are mapped.
        made: whether it is the stream of another run, whose events lead on there.
        columns: the names of its columns.
        erased: the events whose values were erased.
        partly_made: whether that other run has only its selected outputs in the graph.
    """

    id: str
    no: int
    names: tuple[str, ...]
    length: int
    plain: bool
    mapped: Mapping[str, str]
    made: bool = False
    columns: tuple[str, ...] = ()
    erased: Intervals = ()
    partly_made: bool = False

    @property
    def name(self) -> str:
        """The first of its names."""
        return self.names[0]


@dataclass(frozen=True)
class StoredStream:
    """A stream in the graph.

    Attributes:
        name: as in the record: ``total``, ``fork.1``, ``per-case/order``.
        no: its number; part of the keys of its events.
        processor: the processor's id.
        pipe: its output pipe.
        role: output, step, inner, choices, heads or end.
        w: by what the outer position is multiplied, inside a Slice.
        length: how many events it has.
        tracked: how many of them have associations.
        erased: the events whose values were erased.
        sparse: whether only those, of an output pipe, are in the graph.
    """

    name: str
    no: int
    processor: str
    pipe: int
    role: StreamRole
    w: int
    length: int
    tracked: int
    erased: Intervals = ()
    sparse: bool = False

    def label(self, position: int) -> str:
        """The name of one of its events for people: ``total@41``, inside a Slice ``order@41:1``."""
        return f"{self.name}@{position_text(divmod(position, self.w))}"


@dataclass(frozen=True)
class RunGraph:
    """A run in the graph.

    Attributes:
        id: the run's id.
        status: running, complete, failed or interrupted.
        loaded: whether all of its record is in the graph.
        chunk: events a part.
        options: tracked, detail, witnesses, where, closed.
        started: when it began.
        logs: what it read.
        streams: what it generated.
        counted: whether it is kept how many outputs each input explains.
        selected: whether only its tracked outputs are there, with what they need.
        erasures: what took values of it or its logs; as `told_of` gives them.
    """

    id: str
    status: str
    loaded: bool
    chunk: int
    options: RunChoices
    started: str
    logs: tuple[StoredLog, ...]
    streams: tuple[StoredStream, ...]
    counted: bool = False
    selected: bool = False
    erasures: tuple[Mapping[str, Any], ...] = ()

    @property
    def outputs(self) -> tuple[StoredStream, ...]:
        """The pipes that leave the chain."""
        return tuple(s for s in self.streams if s.role.is_output)

    @property
    def ends(self) -> tuple[StoredStream, ...]:
        """What stands for the ends of the output pipes."""
        return tuple(s for s in self.streams if s.role.is_end)

    @cached_property
    def by_no(self) -> dict[int, StoredLog | StoredStream]:
        """Logs and streams by number."""
        known: list[StoredLog | StoredStream] = [*self.logs, *self.streams]
        return {each.no: each for each in known}

    def name_in_record(self, no: int) -> str:
        """What the record calls a log or stream: ``log:NAME``, or the stream's name."""
        found = self.by_no[no]
        return LOG_PREFIX + found.name if isinstance(found, StoredLog) else found.name

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers of logs and streams, by what the record calls them."""
        return {self.name_in_record(no): no for no in self.by_no}

    @cached_property
    def event_streams(self) -> dict[int, StoredStream]:
        """The streams that have events of their own, by number."""
        return {s.no: s for s in self.streams if s.role.has_events}

    @cached_property
    def choices(self) -> frozenset[int]:
        """The numbers of the streams whose events are choices."""
        return frozenset(s.no for s in self.streams if s.role.is_choices)

    @property
    def keeps_alternatives(self) -> bool:
        """Whether all witnesses of each output were kept."""
        return self.options.witnesses == "all"

    def log_named(self, name: str | None) -> StoredLog:
        """Find a log by its name in the chain; the only one, unless named."""
        names = [n for log in self.logs for n in log.names]
        if name is None and len(self.logs) == 1:
            return self.logs[0]
        for log in self.logs:
            if name in log.names:
                return log
        got = "no name" if name is None else repr(name)
        msg = f"a log: expected one of {', '.join(names)}; got {got}; try {names[0]}:3"
        raise StoreError(msg)


def find_run(
    connection: Connection, run: str, record: Path | None = None, *, as_it_is: bool = False
) -> RunGraph:
    """Read what the graph knows of a run.

    ``latest`` is the newest run of the record, imported ones left out. Where the record has none,
    as on a machine that only has the graph, it is the newest of the graph.

    Args:
        connection: where the graph is.
        run: the run's id, or ``latest``.
        record: where the record is, if it is not where records usually are. Only it can tell
            whether a run that was going on when it was last loaded still goes on.
        as_it_is: also a run that an older release loaded in a way that makes answers wrong.

    Raises:
        NotInGraphError: the graph does not have it.
    """
    newest = latest_run(record_place(record)) if run == LATEST else None
    known = _newest_runs(connection)
    wanted = newest or run
    if wanted == LATEST:
        wanted = next(iter(_newest_runs(connection, made_here=True)), run)
    rows = connection.read(cypher("run_read"), id=wanted)
    if not rows and newest is not None:
        raise _newest_is_away(newest, known, record)
    if not rows:
        hint = f"one of: {', '.join(known)}" if known else "whence load RUN first"
        got = f"{run!r}, but only imported runs" if run == LATEST and known else repr(run)
        msg = f"a run: expected one that is in the graph; got {got}; try {hint}"
        raise NotInGraphError(msg)
    found = _run(rows[0], record)
    if not as_it_is:
        _require_room(found)
    return found


def _newest_runs(connection: Connection, *, made_here: bool = False) -> list[str]:
    imported = [False] if made_here else [False, True]
    rows = connection.read(cypher("runs_latest"), most=LATEST_SHOWN, imported=imported)
    return [row["id"] for row in rows]


def _newest_is_away(id: str, known: Sequence[str], record: Path | None) -> NotInGraphError:
    """The newest run of the record is not in the graph: no other one may answer for it."""
    root = record_place(record)
    place = "" if record is None or root == record_place() else f" --record {root}"
    hint = f"whence load {id}{place}"
    got = "is not loaded"
    if not RunRecord(root, id).manifest.options.tracked:
        got = "was made without --track"
        hint = "whence run --track" + (f", or one of: {', '.join(known)}" if known else "")
    return NotInGraphError(
        f"a run: expected one that is in the graph; got {id}, the newest of the record, which "
        f"{got}; try {hint}"
    )


def _require_room(run: RunGraph) -> None:
    """Refuse a run some of whose keys ran into those of other streams.

    Older releases gave streams inside a Slice numbers whose keys have room for 65,536 events of the
    whole stream, and did not count.
    """
    outer = [stream.length for stream in run.streams if stream.w == 1]
    longest = max([*outer, *(log.length for log in run.logs)], default=0)
    for stream in run.event_streams.values():
        if stream.w > 1 and (longest - 1) * stream.w > last_position(stream.no):
            msg = (
                f"run {run.id}: expected keys that distinguish all events of {stream.name}; got "
                "those of an older release, which have room for 65,536 events, so that answers "
                "may be wrong; try whence store rebuild, or whence runs remove and whence load"
            )
            raise StoreError(msg)


def run_is_loaded(connection: Connection, run: str) -> bool:
    """Whether all of a run is in the graph."""
    rows = connection.read(cypher("run_read"), id=run)
    return bool(rows and rows[0]["run"].get("loaded"))


def _status(run: Mapping[str, Any], record: Path | None) -> str:
    """How a run stands; one that was going on when it was last loaded may have been killed since.

    The record knows, where it can be seen.
    """
    status = str(run["status"])
    if status != "running":
        return status
    try:
        return RunRecord(record_place(record), run["id"]).manifest.status
    except (LogError, OSError):
        return status


def _run(row: Mapping[str, Any], record: Path | None) -> RunGraph:
    run = row["run"]
    names: dict[str, list[str]] = {}
    for log in row["logs"]:
        names.setdefault(log["id"], []).append(log["as"])
    logs = {log["id"]: log for log in row["logs"]}.values()
    options = {name.removeprefix("option_"): v for name, v in run.items() if name[:7] == "option_"}
    if "limits" in options:  # a map, which no property can be
        options["limits"] = json.loads(options["limits"])
    return RunGraph(
        id=run["id"],
        status=_status(run, record),
        loaded=run.get("loaded", False),
        chunk=run["chunk"],
        options=RunChoices.read(options),
        started=run["started"],
        counted=run.get("counted", False),
        selected=run.get("selected", False),
        erasures=tuple(json.loads(run.get("erasures", "[]"))),
        logs=tuple(
            StoredLog(
                log["id"],
                log["no"],
                tuple(sorted(names[log["id"]])),
                log["length"],
                log["plain"],
                {m: log[m] for m in ("case", "activity", "time") if log.get(m)},
                "role" in log,
                tuple(log.get("columns", ())),
                _pairs(log.get("erased")),
                bool(log["partly"]),
            )
            for log in sorted(logs, key=lambda log: int(log["no"]))
        ),
        streams=tuple(
            _stream(node, selected=bool(run.get("selected")))
            for node in sorted([*row["streams"], *row["ends"]], key=lambda node: int(node["no"]))
        ),
    )


def _stream(node: Mapping[str, Any], *, selected: bool) -> StoredStream:
    role = StreamRole(node["role"])
    return StoredStream(
        **{name: node[name] for name in _STREAM},
        role=role,
        erased=_pairs(node.get("erased")),
        sparse=selected and role.is_output,
    )


def _pairs(ends: Sequence[int] | None) -> Intervals:
    """Ranges from a list of their ends: a property holds no lists of lists."""
    return tuple(zip((ends or ())[::2], (ends or ())[1::2], strict=True))

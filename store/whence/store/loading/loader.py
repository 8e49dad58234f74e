"""Load a run: every part of its record that is there and not yet in the graph."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.engine.associations import LOG_PREFIX, Association
from whence.engine.errors import LogError, StoreError
from whence.engine.intervals import positions
from whence.engine.record import RunRecord
from whence.engine.record.schema import associations_of
from whence.store.catalog import find_run, run_is_loaded
from whence.store.connection import Connection
from whence.store.loading.chunks import chunk_id, loaded_chunks, write_chunk
from whence.store.loading.content import Directory, add_choices, log_content, stream_content
from whence.store.loading.contributions import keep_contributions
from whence.store.loading.register import prepare_schema, register, run_state
from whence.store.places import LAST_POSITION

__all__ = ["LoadReport", "Progress", "follow", "load", "parts_listed"]

Progress = Callable[[int, int, str], None]
"""Called with how many parts are done, how many there are, and what is being done."""

ENDED = ("complete", "failed")
"""How a run stands that has ended by itself: its record will not change any more."""
POLL_SECONDS = 0.5
AWAY_SECONDS = 30.0
"""How long a store that does not answer is waited for after the run has ended."""


@dataclass(frozen=True)
class LoadReport:
    """What loading did.

    Attributes:
        run: the run's id.
        status: how the run stands: running, complete, failed or interrupted.
        parts: how many parts its record has by now.
        written: how many of them this call wrote; the others were there.
        events: how many event nodes this call wrote.
        edges: how many relationships this call wrote.
        complete: whether the run is over and all of it is in the graph.
    """

    run: str
    status: str
    parts: int
    written: int
    events: int
    edges: int
    complete: bool


@dataclass(frozen=True, order=True)
class _Part:
    owner: str
    number: int


def load(
    record: Path, run: str, connection: Connection, progress: Progress | None = None
) -> LoadReport:
    """Bring the graph up to date with a run's record; what is there already is left alone.

    Args:
        record: the record's place.
        run: the run's id, or ``latest``.
        connection: where to.
        progress: told how far it has come.
    """
    return _Loader(RunRecord(record, run), connection, progress).catch_up()


def parts_listed(record: RunRecord) -> Iterator[str]:
    """The ids of the chunks that a run's record has parts for, those of its logs included."""
    manifest = record.manifest
    for name in manifest["logs"]:
        log = record.log(name)
        if log.made_by is None:
            for number in range(log.manifest["parts"]):
                yield chunk_id("log", log.id, number)
    for stream in manifest["streams"]:
        if stream["role"] != "choices":  # loaded with the parts of the stream that meets them
            for number in {p["part"] for p in (*stream["outputs"], *stream["associations"])}:
                yield chunk_id("run", record.id, number, stream["name"])


def follow(
    record: Path,
    run: str,
    connection: Connection,
    progress: Progress | None = None,
    *,
    over: Callable[[], bool] | None = None,
    poll: float = POLL_SECONDS,
    patience: float = AWAY_SECONDS,
) -> LoadReport:
    """Load a run while it goes on, until it has ended, by itself or because it was killed.

    A store that does not answer is asked again; the run itself never waits for it.

    Args:
        record: the record's place.
        run: the run's id.
        connection: where to.
        progress: told how far it has come.
        over: says that the run will write no more; given by whoever runs it, and then an
            interrupted run is waited for, since it will be taken up again.
        poll: seconds between two looks at the record.
        patience: seconds to wait for a store that is away, once the run has ended.
    """
    kept = RunRecord(record, run)
    away_until: float | None = None
    while True:
        status = kept.manifest["status"]
        ended = status in ENDED or (status == "interrupted" if over is None else over())
        try:
            report = _Loader(kept, connection, progress).catch_up()
            if ended:
                return report
        except StoreError as error:
            if not _is_away(error):
                raise
            now = time.monotonic()
            if ended and away_until is None:
                away_until = now + patience
            if away_until is not None and now >= away_until:
                raise
        time.sleep(poll)


def _is_away(error: StoreError) -> bool:
    """Whether the store may well answer later; a refusal stays one."""
    from neo4j.exceptions import DriverError, Neo4jError

    cause = error.__cause__
    return isinstance(cause, (DriverError, Neo4jError)) and cause.is_retryable()


class _Loader:
    """One pass over a record."""

    def __init__(
        self, record: RunRecord, connection: Connection, progress: Progress | None
    ) -> None:
        self.record = record
        self.connection = connection
        self.progress = progress or (lambda done, total, text: None)
        self.manifest = record.manifest
        self.written = self.events = self.edges = 0

    def catch_up(self) -> LoadReport:
        prepare_schema(self.connection)
        self._load_makers()
        register(self.connection, self.record, self.manifest)
        self._learn_numbers()
        parts = list(self._parts())
        self.there = loaded_chunks(self.connection, "run", self.record.id)
        for log in {log.id for log in self.logs.values()}:
            self.there |= loaded_chunks(self.connection, "log", log)
        waiting = [part for part in parts if self._id(part) not in self.there]
        while waiting:
            self.progress(len(parts) - len(waiting), len(parts), f"loading {self.record.id}")
            left = [part for part in waiting if not self._try(part)]
            if len(left) == len(waiting):
                break
            waiting = left
        ended = self.manifest["status"] in ENDED
        if waiting and ended:
            self._refuse(waiting[0])
        self.progress(len(parts) - len(waiting), len(parts), f"loading {self.record.id}")
        complete = ended and not waiting
        if complete:
            keep_contributions(self.connection, self.record)
        run_state(self.connection, self.manifest, loaded=complete)
        return LoadReport(
            self.record.id,
            self.manifest["status"],
            len(parts),
            self.written,
            self.events,
            self.edges,
            complete,
        )

    def _load_makers(self) -> None:
        """First the runs whose streams this one read: their events are its inputs."""
        for name in self.manifest["logs"]:
            made_by = self.record.log(name).made_by
            if made_by is None or run_is_loaded(self.connection, made_by[0]):
                continue
            try:
                maker = RunRecord(self.record.root, made_by[0])
            except LogError as gone:
                msg = (
                    f"run {self.record.id}: expected run {made_by[0]}, whose stream {made_by[1]} "
                    "it read, in the graph or in the record; got it in neither; "
                    "try the record that it was written to"
                )
                raise StoreError(msg) from gone
            _Loader(maker, self.connection, self.progress).catch_up()

    def _learn_numbers(self) -> None:
        run = find_run(self.connection, self.record.id)
        self.logs = {name: self.record.log(name) for name in self.manifest["logs"]}
        self.streams = {stream["name"]: stream for stream in self.manifest["streams"]}
        numbers = {LOG_PREFIX + name: log.no for log in run.logs for name in log.names}
        numbers.update({stream.name: stream.no for stream in run.streams})
        self.directory = Directory(
            numbers, {name: stream["role"] for name, stream in self.streams.items()}
        )
        self.choices = {
            name: sorted((part["first"], part["part"]) for part in stream["outputs"])
            for name, stream in self.streams.items()
            if stream["role"] == "choices"
        }
        self.needs: dict[_Part, set[str]] = {}

    def _parts(self) -> Iterator[_Part]:
        for name, log in self.logs.items():
            if log.made_by is not None:
                continue  # loaded with the run that made it
            for number in range(log.manifest["parts"]):
                yield _Part(LOG_PREFIX + name, number)
        for name, stream in self.streams.items():
            if name in self.choices:
                continue  # loaded with the parts of the stream that meets them
            listed = {p["part"] for p in (*stream["outputs"], *stream["associations"])}
            for number in sorted(listed):
                yield _Part(name, number)

    def _id(self, part: _Part) -> str:
        if part.owner.startswith(LOG_PREFIX):
            return self._log_chunk(part.owner, part.number)
        return chunk_id("run", self.record.id, part.number, part.owner)

    def _log_chunk(self, owner: str, number: int) -> str:
        return chunk_id("log", self.logs[owner.removeprefix(LOG_PREFIX)].id, number)

    def _try(self, part: _Part) -> bool:
        """Load a part, unless something that it leads to is not there yet."""
        id = self._id(part)
        if id in self.there:  # two names of one log
            return True
        if not self.needs.get(part, set()) <= self.there:
            return False
        if part.owner.startswith(LOG_PREFIX):
            log = self.logs[part.owner.removeprefix(LOG_PREFIX)]
            no = self.directory.numbers[part.owner]
            content = log_content(no, log.manifest, log.part(part.number))
        else:
            rows = self._rows(part)
            met = _Part(f"{part.owner}/choices", part.number)
            choice_rows = self._rows(met) if met.owner in self.choices else []
            self.needs[part] = set(self._leads_to([*rows, *choice_rows])) - {id}
            if not self.needs[part] <= self.there:
                return False
            stream = self.streams[part.owner]
            content = stream_content(
                stream,
                self.directory,
                self._outputs(part),
                rows,
                selected=self.manifest["options"].get("where") is not None,
            )
            choices = self._outputs(met) if met.owner in self.choices else None
            if choices is not None:
                choosing = self.streams[met.owner]
                add_choices(content, choosing, self.directory, choices, choice_rows)
        if write_chunk(self.connection, id, content):
            self.written += 1
            self.events += len(content.events) + len(content.choices)
            self.edges += content.edges
        self.there.add(id)
        return True

    def _rows(self, part: _Part) -> list[Association]:
        listed = {p["part"] for p in self.streams[part.owner]["associations"]}
        if part.number not in listed:
            return []
        return associations_of(self.record.associations(part.owner, part.number), part.owner)

    def _outputs(self, part: _Part) -> Any:
        listed = {p["part"] for p in self.streams[part.owner]["outputs"]}
        return self.record.outputs(part.owner, part.number) if part.number in listed else None

    def _leads_to(self, rows: list[Association]) -> Iterator[str]:
        """The chunks that hold what these rows lead to."""
        for row in rows:
            if self.directory.roles.get(row.to) in ("heads", "end"):
                continue  # no events of their own
            if row.to in self.choices:
                owner = row.to.removesuffix("/choices")
                last = row.lo if row.hi is None else row.hi
                for position in positions(row.reaches(row.lo, last)):
                    at = bisect_right(self.choices[row.to], (position, LAST_POSITION)) - 1
                    yield self._id(_Part(owner, self.choices[row.to][at][1]))
                continue
            if row.to.startswith(LOG_PREFIX):
                log = self.logs.get(row.to.removeprefix(LOG_PREFIX))
                if log is not None and log.made_by is not None:
                    continue  # was loaded before
                width = log.manifest["chunk"] if log else 1
            else:
                width = self.manifest["chunk"] * self.streams.get(row.to, {"w": 1})["w"]
            if row.kind != "band":
                numbers = {position // width for position in row.inputs}
            else:
                lo, hi = row.lo, row.lo if row.hi is None else row.hi
                low = min(lo * row.sa + row.a, hi * row.sa + row.a)
                high = max(lo * row.sb + row.b, hi * row.sb + row.b)
                numbers = set(range(low // width, high // width + 1)) if low <= high else set()
            for number in numbers:
                yield self._id(_Part(row.to, number))

    def _refuse(self, part: _Part) -> None:
        lacking = sorted(self.needs[part] - self.there)
        msg = (
            f"the record of {self.record.id}: expected the parts that {self._id(part)} leads to; "
            f"got none of {', '.join(lacking[:3])}; try running the chain again"
        )
        raise StoreError(msg)

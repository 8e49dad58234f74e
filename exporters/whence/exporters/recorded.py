"""A run of the record, as an export needs it: read a part at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from whence.engine.errors import LogError, ParameterError
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.block import Associations
from whence.engine.lineage.positions import Ints
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.erasing import told_of
from whence.engine.record.manifest import StreamInfo
from whence.engine.values import Value, kind_of
from whence.engine.values.columns import canonical
from whence.exporters.describing import facts
from whence.exporters.model import Adjusted, Agent, Erased, Log, Processor, Run, Stream
from whence.exporters.prov.identifiers import Name
from whence.exporters.prov.rows import AT_ONCE, Column, number_column
from whence.exporters.prov.statements import VALUE
from whence.exporters.values import EventColumns, typed_columns, value_columns
from whence.exporters.vocabulary import term

__all__ = ["RecordedRun", "agents_of", "erased_of", "json_text", "processors_of", "run_of"]

_TREE_WORDS = {"id", "logs"}
_ANSWERABLE: dict[str, Literal["Person", "Organization"]] = {
    "owner": "Person",
    "controller": "Organization",
}
_MAPPED = ("case", "activity", "time")


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def json_text(value: Any) -> str | None:
    """Canonical JSON; nothing for what is empty."""
    if not value:
        return None
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def run_of(record: RunRecord) -> Run:
    """The description of a run and its logs in the manifests."""
    manifest = record.manifest
    tree = manifest.chain
    error = manifest.error
    return Run(
        id=record.id,
        logs=tuple(_log(name, record.log(name)) for name in manifest.logs),
        streams=tuple(
            Stream(s.name, s.processor, s.pipe, s.role, *_counts(s), s.w) for s in manifest.streams
        ),
        chain_digest=manifest.chain_digest if tree else None,
        chain=json_text(tree),
        processors=tuple(processors_of(tree or {}, manifest.streams)),
        engine=manifest.versions.get("whence"),
        started=_time(manifest.started),
        ended=_time(manifest.ended),
        agents=agents_of(manifest.metadata),
        single_steps=manifest.options.detail == "steps",
        erased=erased_of(told_of(record.root, record.id, manifest.logs)),
        facts=facts(
            status=manifest.status,
            error=error,
            runner=manifest.runner,
            options=json_text(manifest.options.json()),
            versions=json_text(manifest.versions),
            metadata=json_text(manifest.metadata),
            pending=json_text(manifest.pending),
        ),
    )


def erased_of(told: Iterable[Mapping[str, Any]]) -> tuple[Erased, ...]:
    """What was erased of a run and its logs, according to the record or the graph."""
    return tuple(
        Erased(
            each["id"],
            each["who"],
            each["reason"],
            datetime.fromisoformat(each["begun"]),
            _time(each["done"]),
            tuple((place, lo, hi) for place, lo, hi in each["ranges"]),
        )
        for each in told
    )


def agents_of(metadata: Mapping[str, Any]) -> tuple[Agent, ...]:
    """Who answers for a run, by its metadata: its owner, and the controller of the data."""
    found: dict[str, Agent] = {}
    for word, kind in _ANSWERABLE.items():
        if isinstance(metadata.get(word), str) and metadata[word]:
            found.setdefault(metadata[word], Agent(metadata[word], kind))
    return tuple(found.values())


def _log(name: str, log: LogRecord) -> Log:
    told = log.manifest.adjustment
    return Log(
        name,
        log.id,
        log.length,
        log.manifest.digest,
        log.manifest.source or None,
        revises=log.manifest.revision_of,
        adjusted=None
        if told is None
        else Adjusted(
            told["who"], told["reason"], datetime.fromisoformat(told["time"]), told["count"]
        ),
    )


def _counts(stream: StreamInfo) -> tuple[int | None, int | None]:
    if not stream.role.has_events:
        return None, None  # no events of their own
    return stream.length, stream.tracked


def processors_of(
    tree: Mapping[str, Any], streams: Iterable[Stream | StreamInfo]
) -> Iterator[Processor]:
    """The chain's own processors with their definitions; then those inside them, by id."""
    if "graph" in tree:
        written = [{"id": id, **node["is"]} for id, node in tree["graph"]["nodes"].items()]
    else:
        # What is neither a line nor a processor is a job that was no chain.
        written = tree.get("line", [tree] if "id" in tree else [])
    told = set()
    for part in written:
        ((kind, _),) = ((k, v) for k, v in part.items() if k not in _TREE_WORDS)
        told.add(part["id"])
        yield Processor(part["id"], kind, json_text({k: v for k, v in part.items() if k != "logs"}))
    if tree:
        inner = (s.processor for s in streams if s.role.has_pipe)
        for id in dict.fromkeys(id for id in inner if id not in told):
            yield Processor(id)


@contextmanager
def _reading(record: RunRecord) -> Iterator[None]:
    """Check that what the manifest lists is there and complete; if not, fail with one line."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        msg = (
            f"run {record.id}: expected all parts of its record; got: {error}; "
            "try the record's copy, or run the chain again"
        )
        raise LogError(msg) from error


def _linked(
    record: RunRecord, run: Run, chained: Mapping[str, str], revised: Mapping[str, str]
) -> Run:
    """The run with its logs tied to earlier runs and logs."""
    known = {log.name for log in run.logs}
    for name in (*chained, *revised):
        if name not in known:
            msg = (
                f"run {run.id}: expected one of its logs; got {name!r}; "
                f"try {', '.join(sorted(known)) or 'another run'}"
            )
            raise ParameterError(msg)
    logs = tuple(
        replace(
            log,
            stream=_stream_of(record.root, log, chained[log.name]) if log.name in chained else None,
            revises=revised.get(log.name, log.revises),
        )
        for log in run.logs
    )
    return replace(run, logs=logs)


def _stream_of(root: Path, log: Log, place: str) -> tuple[str, str, str]:
    """The output stream that a log is, as ``RUN/STREAM``; they must be of one length."""
    run, _, name = place.partition("/")
    earlier = RunRecord(root, run)
    streams = {s.place: s for s in run_of(earlier).streams if s.role.is_output}
    stream = streams.get(name)
    if stream is None or stream.count != log.count:
        known = ", ".join(f"{earlier.id}/{each}" for each in streams) or "another run"
        got = f"no such output in run {earlier.id}" if stream is None else f"{stream.count} events"
        msg = (
            f"log {log.name}: expected an output of {log.count} events as RUN/STREAM; got {got} "
            f"for {place!r}; try {known}"
        )
        raise ParameterError(msg)
    return earlier.id, stream.processor, str(stream.pipe)


class RecordedRun:
    """Reads a run's events and associations from the record.

    Attributes:
        record: where they are.
        run: what is known of the run as a whole.
        values: whether to include the values of input events, and not only those of outputs.
    """

    def __init__(
        self,
        root: Path,
        id: str,
        *,
        values: bool = False,
        chained: Mapping[str, str] | None = None,
        revised: Mapping[str, str] | None = None,
    ) -> None:
        """Open a run that has ended.

        Args:
            root: the record's place.
            id: the run's id, or ``latest``.
            values: include the values of input events too.
            chained: of each log, by its name, that is an output of an earlier run of the record:
                ``RUN/STREAM``; its events are then that run's.
            revised: of each log that corrects another one: the other's identity.
        """
        self.record = RunRecord(root, id)
        self.manifest = self.record.manifest
        if self.manifest.is_running:
            msg = (
                f"run {self.record.id}: expected a run that has ended; got one that is running; "
                "try again when it is complete"
            )
            raise ParameterError(msg)
        with _reading(self.record):
            self.run = _linked(self.record, run_of(self.record), chained or {}, revised or {})
        self.values = values
        self._streams = {stream.name: stream for stream in self.manifest.streams}

    @property
    def size(self) -> int:
        """How many events and associations there are in all."""
        inputs = {log.id: log.count or 0 for log in self.run.logs}
        parts = (
            part.rows
            for stream in self._streams.values()
            for part in (*stream.outputs, *stream.associations)
        )
        ends = sum(stream.role.is_end for stream in self._streams.values())
        return int(sum(inputs.values()) + sum(parts) + ends)

    def events(self, place: str) -> Iterator[tuple[Ints, EventColumns]]:
        """The positions of the events of a log or stream and what is said of them, by and by."""
        if place.startswith(LOG_PREFIX):
            yield from self._inputs(place)
            return
        if self._streams[place].role.is_end:
            yield np.zeros(1, np.int64), ()
        helpers = {stream.place for stream in self.run.streams if stream.helper is not None}
        for part in self._streams[place].outputs:
            with _reading(self.record):
                table = self.record.outputs(place, part.part)
            for some in table.to_batches(AT_ONCE):
                values: EventColumns = ()
                if place not in helpers:  # they have none
                    values = value_columns(some.column("kind"), some.column("value"))
                moment = (term("moment"), number_column(some.column("moment").to_numpy()))
                yield some.column("position").to_numpy(), (*values, moment)

    def _inputs(self, place: str) -> Iterator[tuple[Ints, EventColumns]]:
        log = self.record.log(place.removeprefix(LOG_PREFIX))
        columns = log.columns
        mapped = {word: log.manifest.column_of(word) for word in _MAPPED}
        for number in range(log.manifest.parts):
            with _reading(self.record):
                table = log.part(number)
            for some in table.to_batches(AT_ONCE):
                said = [
                    (term(word), written)
                    for word, column in mapped.items()
                    if column in columns
                    for key, written in typed_columns(some.column(column), columns[column])
                    if key == VALUE
                ]
                if self.values and columns:
                    said += _whole(log.events(some))
                yield some.column("position").to_numpy(), tuple(said)

    def associations(self, place: str) -> Iterator[tuple[int, Associations]]:
        """The associations of a stream, a part at a time, with how many rows they are."""
        for part in self._streams[place].associations:
            with _reading(self.record):
                yield part.rows, self.record.blocks(place, part.part)


def _whole(events: list[Value]) -> list[tuple[Name, Column]]:
    kinds = pa.array([kind_of(event) for event in events], pa.string())
    return list(value_columns(kinds, pa.array([canonical(event) for event in events])))

"""A run of the record, as an export needs it: read a part at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from whence.engine.associations import LOG_PREFIX, Association
from whence.engine.errors import LogError, ParameterError
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.schema import associations_of, canonical, from_canonical, records_of
from whence.engine.values import Value, kind_of
from whence.exporters.describing import facts
from whence.exporters.identifiers import XSD, Name
from whence.exporters.model import Event, Log, Processor, Run, Stream
from whence.exporters.statements import VALUE, Attributes, Typed, clean
from whence.exporters.vocabulary import term

__all__ = ["RecordedRun", "json_text", "run_of", "value_attributes", "written_value"]

_COMPOSED = ("list", "record", "map")
_TREE_WORDS = {"id", "logs"}
_MAPPED = ("case", "activity", "time")


def value_attributes(value: Value) -> Attributes:
    """What an event's value becomes: PROV's one ``prov:value``, and its kind where that is needed.

    >>> [(key.short, v) for key, v in value_attributes([1, None])]
    [('prov:value', '[1,null]'), ('whence:kind', 'list')]
    """
    if value is None:
        return facts(kind="missing")
    if isinstance(value, timedelta):
        return ((VALUE, Typed(_duration(value), Name(XSD, "duration"))),)
    if isinstance(value, str):
        return ((VALUE, clean(value)),)
    if isinstance(value, (bool, int, float, datetime)):
        return ((VALUE, value),)
    return ((VALUE, clean(canonical(value))), *facts(kind=kind_of(value)))


def written_value(kind: str, text: str) -> Attributes:
    """The same from canonical JSON and its kind, as the record and the graph keep values.

    >>> [(key.short, v) for key, v in written_value("map", '{"map":[["a",1]]}')]
    [('prov:value', '{"map":[["a",1]]}'), ('whence:kind', 'map')]
    """
    if kind in _COMPOSED:
        return ((VALUE, clean(text)), *facts(kind=kind))
    return value_attributes(from_canonical(text))


def _duration(value: timedelta) -> str:
    sign = "-" if value < timedelta(0) else ""
    size = abs(value)
    seconds = f"{size.days * 86400 + size.seconds}"
    part = f".{size.microseconds:06d}" if size.microseconds else ""
    return f"{sign}PT{seconds}{part}S"


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def json_text(value: Any) -> str | None:
    """Canonical JSON; nothing for what is empty."""
    if not value:
        return None
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def run_of(record: RunRecord) -> Run:
    """What the manifests say of a run and its logs."""
    manifest = record.manifest
    tree = manifest.get("chain")
    error = manifest.get("error")
    return Run(
        id=record.id,
        logs=tuple(_log(name, record.log(name)) for name in manifest["logs"]),
        streams=tuple(
            Stream(s["name"], s["processor"], s["pipe"], s["role"], *_counts(s))
            for s in manifest["streams"]
        ),
        chain_digest=manifest.get("chain_digest") if tree else None,
        chain=json_text(tree),
        processors=tuple(_processors(tree or {}, manifest["streams"])),
        engine=manifest["versions"].get("whence"),
        started=_time(manifest["started"]),
        ended=_time(manifest["ended"]),
        facts=facts(
            status=manifest["status"],
            error=error,
            runner=manifest["runner"],
            options=json_text(manifest["options"]),
            versions=json_text(manifest["versions"]),
            metadata=json_text(manifest["metadata"]),
            pending=json_text(manifest["pending"]),
        ),
    )


def _log(name: str, log: LogRecord) -> Log:
    return Log(name, log.id, log.length, log.manifest["digest"], log.manifest["source"] or None)


def _counts(stream: Mapping[str, Any]) -> tuple[int | None, int | None]:
    if stream["role"] in ("heads", "end"):
        return None, None  # no events of their own
    return stream["length"], stream["tracked"]


def _processors(tree: Mapping[str, Any], streams: list[dict[str, Any]]) -> Iterator[Processor]:
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
        inner = (s["processor"] for s in streams if s["role"] in ("step", "inner", "output"))
        for id in dict.fromkeys(id for id in inner if id not in told):
            yield Processor(id)


@contextmanager
def _reading(record: RunRecord) -> Iterator[None]:
    """What the manifest lists is there and whole; if it is not, say so in one line."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        msg = (
            f"run {record.id}: expected all parts of its record; got: {error}; "
            "try the record's copy, or run the chain again"
        )
        raise LogError(msg) from error


class RecordedRun:
    """Reads a run's events and associations from the record.

    Attributes:
        record: where they are.
        run: what is known of the run as a whole.
        values: whether the values of input events are told, and not only those of outputs.
    """

    def __init__(self, root: Path, id: str, *, values: bool = False) -> None:
        """Open a run that has ended."""
        self.record = RunRecord(root, id)
        self.manifest = self.record.manifest
        if self.manifest["status"] == "running":
            msg = (
                f"run {self.record.id}: expected a run that has ended; got one that is running; "
                "try again when it is complete"
            )
            raise ParameterError(msg)
        with _reading(self.record):
            self.run = run_of(self.record)
        self.values = values
        self._streams = {stream["name"]: stream for stream in self.manifest["streams"]}

    @property
    def size(self) -> int:
        """How many events and associations there are in all."""
        inputs = {log.id: log.count or 0 for log in self.run.logs}
        parts = (
            part["rows"]
            for stream in self._streams.values()
            for part in (*stream["outputs"], *stream["associations"])
        )
        ends = sum(stream["role"] == "end" for stream in self._streams.values())
        return int(sum(inputs.values()) + sum(parts) + ends)

    def events(self, place: str) -> Iterator[list[Event]]:
        """The events of a log or stream, a part at a time."""
        if place.startswith(LOG_PREFIX):
            yield from self._inputs(place)
            return
        if self._streams[place]["role"] == "end":
            yield [Event(place, 0)]
        for part in self._streams[place]["outputs"]:
            with _reading(self.record):
                table = self.record.outputs(place, part["part"])
            columns = (table.column(n).to_pylist() for n in ("position", "moment", "kind", "value"))
            yield [
                Event(place, position, (*written_value(kind, value), (term("moment"), moment)))
                for position, moment, kind, value in zip(*columns, strict=True)
            ]

    def _inputs(self, place: str) -> Iterator[list[Event]]:
        log = self.record.log(place.removeprefix(LOG_PREFIX))
        mapped = {word: log.manifest[word] for word in _MAPPED if log.manifest.get(word)}
        for number in range(log.manifest["parts"]):
            with _reading(self.record):
                table = log.part(number)
            positions = table.column("position").to_pylist()
            if not log.columns or not (mapped or self.values):
                yield [Event(place, position) for position in positions]
                continue
            records = records_of(table, log.columns)
            whole = log.events(table) if self.values else [None] * len(positions)
            yield [
                Event(place, position, self._said(fields, mapped, value))
                for position, fields, value in zip(positions, records, whole, strict=True)
            ]

    def _said(
        self, fields: Mapping[str, Value], mapped: Mapping[str, str], whole: Value
    ) -> Attributes:
        said: list[tuple[Name, Any]] = []
        for word, column in mapped.items():
            for key, value in value_attributes(fields.get(column)):
                if key == VALUE:
                    said.append((term(word), value))
        return (*said, *(value_attributes(whole) if self.values else ()))

    def associations(self, place: str) -> Iterator[list[Association]]:
        """The associations of a stream, a part at a time."""
        for part in self._streams[place]["associations"]:
            with _reading(self.record):
                table = self.record.associations(place, part["part"])
            yield associations_of(table, place)

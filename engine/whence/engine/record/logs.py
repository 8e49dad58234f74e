"""Logs in the record: put in order once, with an identity."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from whence.engine.chain import Log
from whence.engine.columns import as_column, canonical, kind_of_column, records_of
from whence.engine.errors import LogError
from whence.engine.record.files import read_json, write_json, write_table
from whence.engine.record.schema import log_schema
from whence.engine.values import Value, describe

__all__ = ["LogRecord", "ingest"]


@dataclass(frozen=True)
class LogRecord:
    """A log as the record has it.

    Attributes:
        folder: where it is.
        manifest: what is known of it.
    """

    folder: Path
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, folder: Path) -> LogRecord:
        """Read the manifest."""
        return cls(folder, read_json(folder / "manifest.json"))

    @property
    def id(self) -> str:
        """The log's identity: its content and how it was ordered."""
        return str(self.manifest["id"])

    @property
    def length(self) -> int:
        """How many events."""
        return int(self.manifest["length"])

    @property
    def columns(self) -> dict[str, str]:
        """The kinds of the columns, in order."""
        return {column["name"]: column["kind"] for column in self.manifest["columns"]}

    def part(self, number: int) -> pa.Table:
        """One part as a table."""
        return pq.read_table(self.folder / f"part-{number:05d}.parquet")

    def events(self, table: pa.Table | pa.RecordBatch) -> list[Value]:
        """The events of a table: records, or plain values."""
        records = records_of(table, self.columns)
        return [r["value"] for r in records] if self.manifest["plain"] else list(records)

    def read(self) -> Iterator[Value]:
        """Every event, in order."""
        for number in range(self.manifest["parts"]):
            yield from self.events(self.part(number))


def ingest(
    root: Path,
    name: str,
    events: Iterable[Value],
    *,
    declared: Log | None = None,
    source: str = "",
    chunk: int = 5000,
    apart: str = "",
) -> LogRecord:
    """Put a log into the record, in the order in which it comes.

    The same events in the same order are the same log, whatever file they came from.

    Args:
        root: the record's place.
        name: what the log is called.
        events: records, or plain values.
        declared: kinds of the columns and what they mean, as far as they are known.
        source: where it was read from, for people.
        chunk: events a part.
        apart: tells logs apart of which nothing but their length is known.
    """
    declared = declared or Log()
    logs = root / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=logs))
    try:
        columns, plain, length, parts, digest = _write(beside, events, declared, chunk)
        mapping = {"case": declared.case, "activity": declared.activity, "time": declared.time}
        if apart:
            digest = hashlib.sha256(f"{digest} {apart}".encode()).hexdigest()
        identity = digest[:32]
        write_json(
            beside / "manifest.json",
            {
                "format": 1,
                "id": identity,
                "name": name,
                "source": source,
                "length": length,
                "plain": plain,
                "columns": [{"name": n, "kind": k} for n, k in columns.items()],
                **mapping,
                "order": "as read",
                "digest": f"sha256:{digest}",
                "chunk": chunk,
                "parts": parts,
            },
        )
        target = logs / identity
        if not target.exists():
            try:
                beside.rename(target)
            except OSError:
                if not target.exists():  # else another run has just put the same log there
                    raise
        return LogRecord.open(target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write(
    folder: Path, events: Iterable[Value], declared: Log, chunk: int
) -> tuple[dict[str, str], bool, int, int, str]:
    stream = iter(events)
    first = list(islice(stream, chunk))
    plain = not (first and isinstance(first[0], Mapping)) and declared.columns is None
    columns = dict(declared.columns or {})
    if declared.columns is None:
        # Nothing is declared: every event has to be seen before the kinds are known.
        first += list(stream)
        columns = _columns([{"value": e} if plain else e for e in first])
        stream = iter(())
    digest = hashlib.sha256(canonical([[n, k] for n, k in columns.items()]).encode())
    length = parts = 0
    waiting = first
    while True:
        batch, waiting = waiting[:chunk], waiting[chunk:]
        if not batch and parts:  # a log without events has one part without rows
            return columns, plain, length, parts, digest.hexdigest()
        records = [_record(e, plain, length + n) for n, e in enumerate(batch)]
        for record in records:
            line = canonical([record.get(column) for column in columns])
            digest.update(line.encode() + b"\n")
        table = _table(columns, length, records)
        write_table(folder / f"part-{parts:05d}.parquet", table)
        length += len(batch)
        parts += 1
        waiting = waiting or list(islice(stream, chunk))


def _record(event: Value, plain: bool, position: int) -> Mapping[str, Value]:
    if plain:
        return {"value": event}
    if isinstance(event, Mapping):
        return event
    msg = (
        f"the log, position {position}: expected a record like the ones before; "
        f"got {describe(event)}; try records only, or plain values only"
    )
    raise LogError(msg)


def _columns(events: list[Any]) -> dict[str, str]:
    names: dict[str, list[Value]] = {}
    for event in events:
        for name, value in event.items() if isinstance(event, Mapping) else ():
            names.setdefault(name, []).append(value)
    return {name: kind_of_column(values) for name, values in names.items()}


def _table(columns: Mapping[str, str], first: int, events: list[Mapping[str, Value]]) -> pa.Table:
    numbers = pa.array(range(first, first + len(events)), pa.int64())
    own = [as_column([e.get(name) for e in events], kind) for name, kind in columns.items()]
    return pa.Table.from_arrays([numbers, numbers, *own], schema=log_schema(columns))

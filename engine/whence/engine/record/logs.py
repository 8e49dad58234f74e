"""Logs in the record: put in order once, with an identity."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.disk import writes_to
from whence.engine.errors import LogError
from whence.engine.language.log import ROLES, Log
from whence.engine.record.content_digest import ContentDigest
from whence.engine.record.event_ids import EventIds
from whence.engine.record.files import parquet, read_table, whole_file
from whence.engine.record.manifest import (
    MANIFEST,
    LogManifest,
    MadeBy,
    log_of_json,
    read_log,
    write_manifest,
)
from whence.engine.record.ordering import RUN_BYTES, in_order_of
from whence.engine.record.remote import RemotePath
from whence.engine.record.schema import NUMBERED, log_schema
from whence.engine.record.secret import record_secret, secret_name
from whence.engine.record.staging import staging_folder
from whence.engine.sources.memory import MemorySource
from whence.engine.sources.source import Reading, Source
from whence.engine.values import Value
from whence.engine.values.columns import column_type, records_of

__all__ = ["LogRecord", "ingest", "log_manifest", "log_roles", "write_log_part"]

IMPORTED = "prov"
"""The format, in its manifest, of a log that an import brought."""

LOG_CHUNK = 65_536
"""Events a part of a log: to open a file takes as long as to read some thousand events of it."""


@dataclass(frozen=True)
class LogRecord:
    """A log as the record has it.

    Attributes:
        folder: where it is.
        manifest: what is known of it.
    """

    folder: Path
    manifest: LogManifest

    @classmethod
    def open(cls, folder: Path) -> LogRecord:
        """Read the manifest."""
        return cls(folder, read_log(folder))

    @property
    def id(self) -> str:
        """The log's identity: its content, how it was ordered, what its columns mean."""
        return self.manifest.id

    @property
    def length(self) -> int:
        """How many events."""
        return self.manifest.length

    @property
    def made_by(self) -> tuple[str, str] | None:
        """The run and the stream whose events these are; ``None`` of any other log."""
        made = self.manifest.made_by
        return None if made is None else (made.run, made.stream)

    @property
    def columns(self) -> dict[str, str]:
        """The kinds of the columns, in order."""
        return {column.name: column.kind for column in self.manifest.columns}

    def part(self, number: int) -> pa.Table:
        """One part as a table."""
        return read_table(self.folder / f"part-{number:05d}.parquet")

    def events(self, table: pa.Table | pa.RecordBatch) -> list[Value]:
        """The events of a table: records, or plain values."""
        records = records_of(table, self.columns)
        return [r["value"] for r in records] if self.manifest.plain else list(records)

    def read(self) -> Iterator[Value]:
        """Every event, in order."""
        for number in range(self.manifest.parts):
            yield from self.events(self.part(number))


def ingest(
    root: Path,
    name: str,
    events: Source | Iterable[Value],
    *,
    declared: Log | None = None,
    order: Sequence[str] = (),
    source: str = "",
    chunk: int = LOG_CHUNK,
    apart: str = "",
    run_bytes: int = RUN_BYTES,
    revision_of: str | None = None,
    adjustment: Mapping[str, Any] | None = None,
    watch: Callable[[pa.RecordBatch], None] | None = None,
) -> LogRecord:
    """Put a log into the record: in the order in which it comes, or of stated columns.

    The same events in the same order are the same log, whatever file they came from.

    Args:
        root: the record's place.
        name: what the log is called.
        events: a source, or records, or plain values.
        declared: what its columns mean (and of records in memory their kinds), which column holds
            ids, where events go that have nothing to order by.
        order: columns to order by; equal ones stay in the order of the source.
        source: where it was read from, for people.
        chunk: events a part.
        apart: tells logs apart of which nothing but their length is known.
        run_bytes: how much is sorted at once; the rest waits on disk.
        revision_of: the id of the log that this one corrects.
        adjustment: who corrected it, why, when and how many values.
        watch: called with each batch of rows, in the log's order.

    Raises:
        LogError: the log cannot be read or ordered as declared, or the column that is declared to
            hold ids has one twice; then nothing is left of it.
    """
    declared = declared or Log()
    given = events if isinstance(events, Source) else MemorySource(events, declared.columns, name)
    roles = log_roles(declared, given)
    _check_order(given, order)
    made_by: dict[str, str] | None = getattr(given, "made_by", None)
    if made_by is not None:
        apart = json.dumps(made_by, sort_keys=True)
    logs = root / "logs"
    secret = record_secret(root)
    with staging_folder(logs) as beside:
        writer = _LogWriter(beside.path, given, secret, roles["id"], chunk)
        batches: Iterator[pa.RecordBatch] = given.batches()
        if order:
            batches = in_order_of(
                batches,
                order,
                folder=beside.path,
                name=given.name,
                missing=declared.missing,
                run_bytes=run_bytes,
            )
        content = writer.write(batches if watch is None else _watched(batches, watch))
        if declared.id and "id" not in declared.guessed:
            writer.check_ids(given.name, declared.id)
        stated = {
            "order": list(order) or "file",
            "missing": declared.missing if order else None,
            **{role: roles[role] for role in ROLES if role != "id"},
            "event_id": roles["id"],
        }
        identity = _identity(logs, content, stated, apart)
        begun = log_manifest(given, identity, name, secret, chunk, stated)
        manifest = replace(
            begun,
            source=source or given.name,
            plain=bool(getattr(given, "plain", False)),
            made_by=None if made_by is None else MadeBy.read(made_by),
            length=writer.length,
            parts=writer.parts,
            digest=f"sha256:{content}",
            events=replace(begun.events, repeated=writer.ids.repeated),
            revision_of=revision_of,
            adjustment=None if adjustment is None else dict(adjustment),
        )
        write_manifest(beside.path, manifest)
        beside.become(logs / identity)
    return LogRecord.open(logs / identity)


def _identity(logs: Path, content: str, stated: Mapping[str, Any], apart: str) -> str:
    """The identity of a log: by its content, how it is ordered, what its columns mean.

    What an import brought under this identity may lack values, or hold others: it is left alone,
    and not taken for this log.
    """
    known = json.dumps([content, stated, apart], sort_keys=True)
    identity = hashlib.sha256(known.encode()).hexdigest()[:32]
    while _is_imported(logs / identity):
        identity = hashlib.sha256(f"{identity} is imported".encode()).hexdigest()[:32]
    return identity


def _is_imported(folder: Path) -> bool:
    if not (folder / MANIFEST).exists():
        return False
    return LogRecord.open(folder).manifest.source_format == IMPORTED


def log_roles(declared: Log, source: Source) -> dict[str, str | None]:
    """Which columns are the case, the activity, the time and the id: as stated, else as known."""
    found: dict[str, str | None] = {}
    for role in ROLES:
        stated: str | None = getattr(declared, role)
        found[role] = source.roles.get(role) if stated is None else stated or None
    return found


def log_manifest(
    source: Source,
    identity: str,
    name: str,
    secret: bytes,
    chunk: int,
    stated: Mapping[str, Any],
) -> LogManifest:
    """The manifest of a log, as it is before its events are counted.

    Args:
        source: what it is read from.
        identity: its id.
        name: what it is called.
        secret: the key of its events' digests.
        chunk: events a part.
        stated: how it is ordered, and what its columns mean.
    """
    return log_of_json(
        identity,
        {
            "format": LogManifest.FORMAT,
            "id": identity,
            "name": name,
            "source": source.name,
            "source_format": source.format,
            "length": 0,
            "plain": False,
            "columns": [{"name": n, "kind": k} for n, k in source.columns.items()],
            **stated,
            "timezone": getattr(source, "reading", Reading()).timezone,
            "report": source.report.json(),
            "details": getattr(source, "details", {}),
            "digest": None,
            "events": {"by": stated["event_id"], "secret": secret_name(secret), "repeated": 0},
            "chunk": chunk,
            "parts": 0,
        },
    )


def _watched(
    batches: Iterable[pa.RecordBatch], watch: Callable[[pa.RecordBatch], None]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        watch(batch)
        yield batch


def _check_order(source: Source, order: Sequence[str]) -> None:
    if not order and not source.ordered:
        msg = (
            f"{source.name}: expected an order, as a table has none of its own; got none; "
            "try --order time, or the columns to order by"
        )
        raise LogError(msg)
    if order and getattr(source, "made_by", None) is not None:
        msg = (
            f"{source.name}: expected the order of the stream itself, whose events these are; "
            f"got an order by {', '.join(order)}; try leaving --order out"
        )
        raise LogError(msg)
    for key in order:
        kind = source.columns.get(key)
        if kind is None or (kind != "text" and pa.types.is_string(column_type(kind))):
            ordered = [n for n, k in source.columns.items() if k not in ("any", "list")]
            got = "no such column" if kind is None else f"the kind {kind}, which has no order"
            msg = (
                f"{source.name}: expected a column {key!r} to order by; got {got}; "
                f"try one of {', '.join(ordered)}"
            )
            raise LogError(msg)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class _LogWriter:
    """Cuts rows into parts, writes them, and works out what they are."""

    def __init__(
        self, folder: Path, source: Source, secret: bytes, id_column: str | None, chunk: int
    ) -> None:
        self.length = 0
        self.parts = 0
        self._folder = folder
        self._columns = source.columns
        self._chunk = chunk
        self._digest = ContentDigest(source.columns)
        self.ids = EventIds(folder, secret, id_column)

    def write(self, batches: Iterable[pa.RecordBatch]) -> str:
        """Write all rows; the digest of their content."""
        held: list[pa.RecordBatch] = []
        waiting = 0
        try:
            for batch in batches:
                self._digest.add(batch)
                self.ids.add(batch, self.length + waiting)
                held.append(batch)
                waiting += batch.num_rows
                if waiting >= self._chunk:
                    table = pa.Table.from_batches(held)
                    whole = waiting // self._chunk * self._chunk
                    for start in range(0, whole, self._chunk):
                        self._part(table.slice(start, self._chunk))
                    held, waiting = table.slice(whole).to_batches(), waiting - whole
            if held or not self.parts:  # a log without events has one part without rows
                schema = pa.schema(list(log_schema(self._columns))[1:])
                self._part(pa.Table.from_batches([b.cast(schema) for b in held], schema))
            self.ids.finish()
        finally:
            self.ids.close()
        return self._digest.finish()

    def check_ids(self, name: str, column: str) -> None:
        """Refuse two events with the same id.

        Raises:
            LogError: with the rows of the first two.
        """
        if self.ids.twice is None:
            return
        rows, value = [], None
        for position in self.ids.twice:
            part, at = divmod(position, self._chunk)
            table = read_table(self._folder / f"part-{part:05d}.parquet")
            rows.append(table.column("row")[at].as_py() + 1)
            value = table.column(column)[at].as_py()
        first, second = sorted(rows)
        more = self.ids.duplicates - 1
        msg = (
            f"{name}, rows {first} and {second}, column {column!r}: expected an id of its own for "
            f"each event; got {_short(value)} in both"
            + (f", and {more:,} more such event{'s' * (more > 1)}" if more else "")
            + "; try another --id COLUMN, or --id '' if no column names the events"
        )
        raise LogError(msg)

    def _part(self, table: pa.Table) -> None:
        write_log_part(self._folder, self.parts, table, self._columns, self.length)
        self.length += table.num_rows
        self.parts += 1


def write_log_part(
    folder: Path,
    number: int,
    table: pa.Table,
    columns: Mapping[str, str],
    first: int,
    *,
    flushed: bool = True,
) -> Path:
    """Write one part of a log; return where it is.

    Args:
        folder: the log's.
        number: the part's.
        table: row numbers, then the columns.
        columns: their kinds.
        first: the position of the first event.
        flushed: whether it has to be on the disk then; else `flush_files` sees to that later.
    """
    positions = pa.array(np.arange(first, first + table.num_rows, dtype=np.int64))
    whole = pa.Table.from_arrays([positions, *table.columns], schema=log_schema(columns))
    path = folder / f"part-{number:05d}.parquet"

    def write(here: Path) -> None:
        with writes_to(path), here.open("wb") as file:
            parquet(whole, file, NUMBERED)
            if flushed:
                file.flush()
                os.fsync(file.fileno())

    if isinstance(path, RemotePath):
        whole_file(path, write)
    else:
        write(path)
    return path

"""Take the values of events out of a log; their positions stay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from whence.engine.lineage.positions import Intervals, of_positions, union
from whence.engine.record.content_digest import ContentDigest
from whence.engine.record.erased import within
from whence.engine.record.event_ids import FILE
from whence.engine.record.files import parquet, read_table, whole_file, write_table
from whence.engine.record.logs import LogRecord
from whence.engine.record.manifest import write_manifest
from whence.engine.record.remote import RemotePath
from whence.engine.record.schema import NUMBERED, log_schema
from whence.engine.values.arrow_compute import pc

__all__ = ["erase_in_log", "overwrite", "same_events"]

_EVENT = ["high", "low", "occurrence"]


def same_events(log: LogRecord, places: Intervals, other: LogRecord) -> Intervals:
    """Where another log has the same events, if it is another version of this one.

    An event is the same if it has the same id, where a column holds ids, else the same content,
    and is the n-th such event of its log.
    """
    same_way = log.manifest.events.way == other.manifest.events.way
    if not same_way or set(log.columns) != set(other.columns):
        return ()
    paths = [each.folder / FILE for each in (log, other)]
    if not all(path.exists() for path in paths):
        return ()  # still growing
    mine, theirs = (read_table(path) for path in paths)
    mine = mine.filter(pa.array(within(mine.column("position").to_numpy(), places)))
    joined = theirs.join(mine.select(_EVENT), _EVENT, join_type="left semi")
    return of_positions(joined.column("position").to_pylist())


def erase_in_log(log: LogRecord, places: Intervals, secrets: str | None = None) -> LogRecord:
    """Take the values of some events away; may be done again.

    The log keeps its id, which names it everywhere. Its digest is that of what it has left.

    Args:
        log: the log.
        places: the events.
        secrets: the file of the secrets of its cases from now on, if that changes.
    """
    digest = ContentDigest(log.columns)
    for number in range(log.manifest.parts):
        table = log.part(number)
        positions = table.column("position").to_numpy()
        gone = within(positions, places)
        if gone.any():
            table = _without(table, gone, log.columns)
            path = log.folder / f"part-{number:05d}.parquet"
            whole_file(path, lambda beside, made=table: _write(beside, made))  # type: ignore[misc]
        for batch in table.drop_columns(["position"]).combine_chunks().to_batches():
            digest.add(batch)
    ids = log.folder / FILE
    if ids.exists():
        known = read_table(ids)
        kept = ~within(known.column("position").to_numpy(), places)
        write_table(ids, known.filter(pa.array(kept)))
    manifest = replace(
        log.manifest,
        secrets=secrets or log.manifest.secrets,
        erased=union(log.manifest.erased, places),
        digest=f"sha256:{digest.finish()}",
    )
    write_manifest(log.folder, manifest)
    return LogRecord(log.folder, manifest)


def _without(table: pa.Table, gone: np.ndarray, columns: Mapping[str, str]) -> pa.Table:
    mask = pa.array(gone)
    made = []
    for field in log_schema(columns):
        column = table.column(field.name).combine_chunks()
        if field.name in columns:
            column = pc.if_else(mask, pa.scalar(None, column.type), column)
        made.append(column)
    return pa.Table.from_arrays(made, schema=log_schema(columns))


def _write(beside: Path, table: pa.Table) -> None:
    with beside.open("wb") as file:
        parquet(table, file, NUMBERED)


def overwrite(path: Path) -> None:
    """Remove a file after its bytes were written over, as well as a file system lets us.

    At a URI nothing can be written over.
    """
    if not path.exists():
        return
    if isinstance(path, RemotePath):
        path.unlink(missing_ok=True)
        return
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()

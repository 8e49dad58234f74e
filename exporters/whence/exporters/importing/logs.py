"""A log of the record, from a PROV description of its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.record.files import write_table
from whence.engine.record.folders import log_folder
from whence.engine.record.logs import IMPORTED
from whence.engine.record.manifest import LogManifest, log_of_json, write_manifest
from whence.engine.record.schema import log_schema
from whence.engine.record.staging import staging_folder
from whence.engine.runners.options import CHUNK
from whence.engine.values import Value
from whence.engine.values.columns import as_column, from_canonical, kind_of_column
from whence.exporters.importing.statements import Typed

__all__ = ["plain_value", "write_log"]

Said = Mapping[str, list[Any]]
"""The statements about one thing."""

_MAPPED = ("case", "activity", "time")


def plain_value(value: Any) -> Value:
    """A literal as a value; durations have a datatype of their own."""
    if not isinstance(value, Typed):
        found: Value = value
        return found
    sign = -1 if value.text.startswith("-") else 1
    return sign * timedelta(seconds=float(value.text.lstrip("-").removeprefix("PT")[:-1]))


def write_log(root: Path, name: str, id: str, said: Said, events: Sequence[Said]) -> None:
    """Put a log into the record.

    Args:
        root: the record's place.
        name: what the log is called.
        id: its identity.
        said: the statements about the log.
        events: the statements about its events, in order.
    """
    columns, plain = _values(events)
    roles: dict[str, str | None] = dict.fromkeys(_MAPPED)
    for word in _MAPPED:
        told = [plain_value(event[word][0]) if word in event else None for event in events]
        if any(value is not None for value in told):
            # If the values are there, the role is one of their columns, whatever it was called.
            same = (column for column in (word, *columns) if columns.get(column) == told)
            roles[word] = next(same, word)
            columns.setdefault(str(roles[word]), told)
    kinds = {column: kind_of_column(values) for column, values in columns.items()}
    positions = np.array([event["position"][0] for event in events], np.int64)
    parts = range(0, max(1, len(positions)), CHUNK)
    with staging_folder(root / "logs") as beside:
        arrays = [as_column(values, kinds[column]) for column, values in columns.items()]
        whole = pa.Table.from_arrays(
            [pa.array(positions), pa.array(positions), *arrays], schema=log_schema(kinds)
        )
        for number, start in enumerate(parts):
            write_table(beside.path / f"part-{number:05d}.parquet", whole.slice(start, CHUNK))
        write_manifest(
            beside.path,
            log_of_json(
                id,
                {
                    "format": LogManifest.FORMAT,
                    "id": id,
                    "name": name,
                    "source": said.get("source", [""])[0],
                    "source_format": IMPORTED,
                    "length": len(positions),
                    "plain": plain,
                    "columns": [{"name": column, "kind": kind} for column, kind in kinds.items()],
                    "order": "file",
                    "missing": None,
                    **roles,
                    "event_id": None,
                    "timezone": None,
                    "report": {},
                    "details": {},
                    "digest": said.get("digest", [""])[0],
                    "events": {"by": None, "secret": None, "repeated": 0},
                    "chunk": CHUNK,
                    "parts": len(parts),
                },
            ),
        )
        beside.become(log_folder(root, id))


def _values(events: Sequence[Said]) -> tuple[dict[str, list[Value]], bool]:
    """The columns of the events' values, if present, and whether these are plain ones."""
    told = [event for event in events if "value" in event]
    if not told:
        return {}, False
    records = [_record(event) for event in events]
    if any(record is None for record in records):
        return {"value": [_plain(event) for event in events]}, True
    columns = dict.fromkeys(name for record in records for name in record or ())
    return {name: [(record or {}).get(name) for record in records] for name in columns}, False


def _record(event: Said) -> Mapping[str, Value] | None:
    if event.get("kind") != ["record"]:
        return None
    found = from_canonical(event["value"][0])
    return found if isinstance(found, dict) else None


def _plain(event: Said) -> Value:
    if "value" not in event:
        return None
    value = event["value"][0]
    return from_canonical(value) if "kind" in event else plain_value(value)

"""What an event's node carries: its key, an output's value, an input's columns for searching."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import pyarrow as pa

from whence.engine.record.manifest import LogManifest
from whence.store.places import key_of

__all__ = ["LONGEST_TEXT", "input_properties", "output_properties", "stored_value"]

LONGEST_TEXT = 4000
"""In bytes; a range index refuses texts of more than about 8,000."""

_SHORT = LONGEST_TEXT // 4
"""Signs that fit into so many bytes, whatever they are."""

NATIVE = ("boolean", "integer", "float", "text")
SEARCHABLE = ("case", "activity", "time")


def _text(name: str, text: str, secret: bytes) -> Iterator[tuple[str, Any]]:
    """A text as property; what is longer than fits is cut, and its digest kept beside it.

    The digest is keyed: nobody who has the graph alone can try texts out against it.
    """
    encoded = text.encode(errors="surrogatepass")
    if len(encoded) <= LONGEST_TEXT:
        yield name, text
    else:
        yield name, encoded[:LONGEST_TEXT].decode(errors="ignore")
        yield f"{name}_digest", "hmac-sha256:" + hmac.digest(secret, encoded, "sha256").hex()


def stored_value(kind: str, canonical: str, secret: bytes = b"") -> dict[str, Any]:
    """How a value is kept on a node.

    Booleans, numbers and texts as Neo4j's own, so that Cypher can compare them; everything else as
    canonical JSON text, with its kind beside it.

    >>> stored_value("boolean", "false"), stored_value("list", "[1,2]")
    ({'value': False}, {'value': '[1,2]', 'kind': 'list'})

    Args:
        kind: the value's kind.
        canonical: the value as canonical JSON.
        secret: the key of the digest of a long text; needed where that is kept.
    """
    value = json.loads(canonical)
    if kind in NATIVE and not isinstance(value, dict) and _fits(value):
        if isinstance(value, str):
            return dict(_text("value", value, secret))
        return {"value": float(value) if kind == "float" else value}
    return {**dict(_text("value", canonical, secret)), "kind": kind}


def _fits(value: Any) -> bool:
    """Whether the store can hold a value: integers of 64 bits, and texts that UTF-8 can write."""
    if isinstance(value, str):
        return not any("\ud800" <= sign <= "\udfff" for sign in value)
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def output_properties(no: int, table: pa.Table, secret: bytes) -> list[dict[str, Any]]:
    """The properties of a stream's events."""
    columns = (table.column(name).to_pylist() for name in ("position", "moment", "kind", "value"))
    return [
        {"key": key_of(no, position), "moment": moment, **_stored(kind, value, secret)}
        for position, moment, kind, value in zip(*columns, strict=True)
    ]


def _stored(kind: str, canonical: str, secret: bytes) -> dict[str, Any]:
    """As `stored_value`; what is short is mostly one of a few values."""
    if len(canonical) <= 32:
        return _stored_before(kind, canonical)
    return stored_value(kind, canonical, secret)


_stored_before = lru_cache(4096)(stored_value)


def input_properties(
    no: int, manifest: LogManifest, table: pa.Table, secret: bytes
) -> list[dict[str, Any]]:
    """The properties of a log's events: only columns that are mapped; values stay in the record."""
    events: list[dict[str, Any]] = [
        {"key": key_of(no, position)} for position in table.column("position").to_pylist()
    ]
    for name in SEARCHABLE:
        column = manifest.column_of(name)
        if column is None:
            continue
        for event, value in zip(events, table.column(column).to_pylist(), strict=True):
            if type(value) is str and len(value) <= _SHORT:
                event[name] = value
            else:
                event.update(_searchable(name, value, secret))
    return events


def _searchable(name: str, value: Any, secret: bytes) -> Iterator[tuple[str, Any]]:
    if value is None:
        return
    if isinstance(value, timedelta):
        yield name, value.total_seconds()
    elif isinstance(value, str):
        yield from _text(name, value, secret)
    elif isinstance(value, (bool, int, float, datetime)):
        yield name, value
    else:
        yield from _text(name, str(value), secret)

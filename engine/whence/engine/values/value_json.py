"""How values are written as JSON, in chain files and in the record, both ways."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from whence.engine.errors import DefinitionError
from whence.engine.values.instants import parse_instant
from whence.engine.values.slice_map import SliceMap
from whence.engine.values.value import Value, describe

__all__ = ["value_from_json", "value_json"]

Json = Any
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def value_json(value: Value) -> Json:
    """Write a value: JSON's own where it has one, else an object with one key that names the kind.

    >>> value_json(timedelta(hours=1))
    {'duration': 3600.0}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, datetime):
        return {"instant": value.isoformat()}
    if isinstance(value, timedelta):
        return {"duration": value.total_seconds()}
    if isinstance(value, (list, tuple)):
        return [value_json(v) for v in value]
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        return {"record": {k: value_json(v) for k, v in value.items()}}
    if isinstance(value, SliceMap):
        return {"map": [[value_json(k), value_json(v)] for k, v in value.pairs()]}
    if isinstance(value, Mapping):
        return {"map": [[value_json(k), value_json(v)] for k, v in value.items()]}
    msg = (
        f"a constant: expected a value of an event; got {describe(value)}; "
        "try a boolean, number, text, instant, duration, list or record"
    )
    raise DefinitionError(msg)


def value_from_json(written: Json) -> Value:
    """Read a value that `value_json` wrote."""
    if isinstance(written, list):
        return [value_from_json(v) for v in written]
    if not isinstance(written, dict):
        return written
    if len(written) == 1:
        ((key, inner),) = written.items()
        if key == "instant":
            return parse_instant(inner)
        if key == "duration":
            return timedelta(seconds=inner)
        if key == "float" and inner in _SPECIAL:
            return _SPECIAL[inner]
        if key == "record":
            return {k: value_from_json(v) for k, v in inner.items()}
        if key == "map":
            # No dictionary: in that 1 and true are the same key, and a list is none.
            return SliceMap.of((value_from_json(k), value_from_json(v)) for k, v in inner)
    msg = (
        f"a constant: expected a value; got {written!r}; "
        "try {'record': {…}} for a record, {'instant': '2026-03-01T00:00:00Z'} for an instant"
    )
    raise DefinitionError(msg)

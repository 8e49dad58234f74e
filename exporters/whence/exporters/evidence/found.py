"""What was found, as JSON and back: so that a pack can be derived again from its facts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any

from whence.engine.lineage.association import Association
from whence.exporters.model import Adjusted, Agent, Erased, Log, Processor, Run, Stream
from whence.exporters.prov.identifiers import Name, Namespace
from whence.exporters.prov.statements import Typed
from whence.store.questions import (
    Coverage,
    Impact,
    InputEvent,
    InputRange,
    LogShare,
    OutputEvent,
    OutputShare,
    Why,
    Witness,
)

__all__ = ["from_json", "to_json"]

_PAIRS = {kind.__name__: kind for kind in (Name, Namespace, Typed)}
_CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(Adjusted, Agent, Association, Erased, Log, Processor, Run, Stream),
        *(Coverage, Impact, InputEvent, InputRange, LogShare),
        *(OutputEvent, OutputShare, Why, Witness),
    )
}
_LEFT_OUT: Mapping[str, Any] = {"cypher": {}, "derivations": (), "support_derivations": None}
"""The question is no part of the answer; the route is separate."""


def to_json(value: Any) -> Any:
    """A value as JSON can hold it; what is no number for JSON, and every class, is named.

    >>> to_json(Agent("Jo Example", "Person"))
    {'is': 'Agent', 'name': 'Jo Example', 'kind': 'Person'}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return {"is": "float", "text": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, datetime):
        return {"is": "time", "text": value.isoformat()}
    if isinstance(value, timedelta):
        parts = (value.days, value.seconds, value.microseconds)
        return {"is": "duration", "parts": list(parts)}
    name = type(value).__name__
    if name in _PAIRS and isinstance(value, tuple):
        return {"is": name, "parts": [to_json(each) for each in value]}
    if isinstance(value, (list, tuple)):
        return [to_json(each) for each in value]
    if is_dataclass(value) and name in _CLASSES:
        told = (each.name for each in fields(value) if each.name not in _LEFT_OUT)
        return {"is": name, **{each: to_json(getattr(value, each)) for each in told}}
    msg = f"expected a part of an answer; got {name}"
    raise TypeError(msg)


def from_json(told: Any) -> Any:
    """The value again.

    >>> from_json({"is": "Agent", "name": "Jo Example", "kind": "Person"})
    Agent(name='Jo Example', kind='Person')
    """
    if isinstance(told, list):
        return tuple(from_json(each) for each in told)
    if not isinstance(told, dict):
        return told
    rest = dict(told)
    name = rest.pop("is")
    if name == "float":
        return float(rest["text"])
    if name == "time":
        return datetime.fromisoformat(rest["text"])
    if name == "duration":
        return timedelta(*rest["parts"])
    if name in _PAIRS:
        return _PAIRS[name](*from_json(rest["parts"]))
    kind = _CLASSES[name]
    known = {each.name for each in fields(kind)}
    more = {each: value for each, value in _LEFT_OUT.items() if each in known}
    return kind(**{each: from_json(value) for each, value in rest.items()}, **more)

"""Which values of which input events are to be others: ``log@41.amount=100``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import Any

from whence.engine.errors import DefinitionError, ParameterError
from whence.engine.record.logs import LogRecord
from whence.engine.sources.cells import CELL_KINDS, converter
from whence.engine.values import Value, ValueFault, describe, kind_of
from whence.engine.values.columns import as_column
from whence.engine.values.value_json import value_from_json

__all__ = ["Correction", "named_corrections", "read_corrections"]

_PLACE = re.compile(r"(?:(?P<log>[^@=]+)@|@)?(?P<position>\d+)(?:\.(?P<field>[^=]+))?")
_EXAMPLE = "log@41.amount=100"


@dataclass(frozen=True)
class Correction:
    """Another value for one field of one input event.

    Attributes:
        log: the log's name in the chain.
        position: the event's position.
        field: the field; ``None`` where events are plain values.
        before: the value that the run was given; ``None`` is missing.
        after: the value that it should have been given.
    """

    log: str
    position: int
    field: str | None
    before: Value
    after: Value

    @property
    def name(self) -> str:
        """The place as it is written.

        >>> Correction("log", 41, "amount", 7, 100).name
        'log@41.amount'
        """
        return f"{self.log}@{self.position}" + (f".{self.field}" if self.field else "")


def read_corrections(texts: Iterable[str], logs: Mapping[str, LogRecord]) -> list[Correction]:
    """Read corrections that are written as text: ``[LOG@]POSITION[.FIELD]=VALUE``.

    A value is read as the column's kind says, as in a table; nothing behind ``=`` is missing.

    Args:
        texts: the corrections.
        logs: the run's logs by their names in the chain.

    Raises:
        ParameterError: one of them is none, or says what the log does not have.
    """
    given: list[tuple[str, str]] = []
    for text in texts:
        place, sign, value = text.strip().partition("=")
        if not sign:
            msg = f"a correction: expected {_EXAMPLE}; got {text.strip()!r}; try adding =VALUE"
            raise ParameterError(msg)
        given.append((place, value.strip()))
    return _corrections(given, logs, _read_value)


def named_corrections(
    values: Mapping[str, Value], logs: Mapping[str, LogRecord]
) -> list[Correction]:
    """Corrections that are given as values by place, ``{"log@41.amount": 100}``.

    Args:
        values: the values.
        logs: the run's logs by their names in the chain.

    Raises:
        ParameterError: one of them says what the log does not have.
    """
    return _corrections(values.items(), logs, _fitting)


def _corrections(
    given: Iterable[tuple[str, Any]], logs: Mapping[str, LogRecord], read: Any
) -> list[Correction]:
    found: dict[tuple[str, int, str | None], Correction] = {}
    for text, value in given:
        log, position, field = _place(text, logs)
        kind = logs[log].columns[field or "value"]
        before = _event(logs[log], position)
        before = before[field] if field is not None else before
        made = Correction(log, position, field, before, read(text.strip(), value, kind))
        if (log, position, field) in found:
            msg = f"{made.name}: expected one correction; got two; try leaving one out"
            raise ParameterError(msg)
        found[log, position, field] = made
    if not found:
        msg = f"corrections: expected some; got none; try {_EXAMPLE}"
        raise ParameterError(msg)
    return list(found.values())


def _place(text: str, logs: Mapping[str, LogRecord]) -> tuple[str, int, str | None]:
    match = _PLACE.fullmatch(text.strip())
    if match is None:
        msg = f"a correction: expected [LOG@]POSITION[.FIELD]; got {text.strip()!r}; try {_EXAMPLE}"
        raise ParameterError(msg)
    name = match["log"] or (next(iter(logs)) if len(logs) == 1 else "")
    if name not in logs:
        got = repr(name) if name else "no name"
        msg = f"a log: expected one of {', '.join(logs)}; got {got}; try {next(iter(logs))}@41"
        raise ParameterError(msg)
    log = logs[name]
    position = int(match["position"])
    if position >= log.length:
        last = f"0 to {log.length - 1}" if log.length else "none, as it is empty"
        msg = f"{name}: expected a position, {last}; got {position}; try one in this range"
        raise ParameterError(msg)
    field = match["field"]
    if log.manifest.plain:
        if field is not None:
            msg = (
                f"{name}: expected no field, as events are plain values; got {field!r}; "
                f"try {name}@{position}=VALUE"
            )
            raise ParameterError(msg)
    elif field not in log.columns:
        near = get_close_matches(field or "", log.columns, n=1)
        hint = f"{near[0]} (did you mean that?)" if near else next(iter(log.columns))
        got = "none" if field is None else repr(field)
        known = ", ".join(log.columns)
        msg = f"a field of {name}: expected one of {known}; got {got}; try {hint}"
        raise ParameterError(msg)
    return name, position, field


def _event(log: LogRecord, position: int) -> Any:
    part, at = divmod(position, log.manifest.chunk)
    return log.events(log.part(part).slice(at, 1))[0]


def _read_value(place: str, text: str, kind: str) -> Value:
    """A value as the column's kind says."""
    if not text:
        return None
    try:
        if kind in CELL_KINDS:
            convert = converter(kind)
            return text if convert is None else convert(text)
        if kind == "duration":
            return timedelta(seconds=float(text))
        return _any_value(text)
    except ValueFault as fault:
        msg = f"{place}: {fault}"
        raise ParameterError(msg) from fault
    except ValueError as fault:
        msg = f"{place}: expected a duration in seconds; got {text!r}; try 3600"
        raise ParameterError(msg) from fault


def _any_value(text: str) -> Value:
    """A value of a column that may hold any: JSON as in chain files, else text."""
    try:
        return value_from_json(json.loads(text))
    except (json.JSONDecodeError, DefinitionError):
        return text


def _fitting(place: str, value: Value, kind: str) -> Value:
    """A value that the column can hold."""
    if value is None or kind_of(value) == kind or (kind == "float" and type(value) is int):
        return float(value) if kind == "float" and type(value) is int else value
    if kind not in (*CELL_KINDS, "duration"):
        as_column([value], kind)
        return value
    msg = f"{place}: expected {kind}; got {describe(value)}; try a value of the kind {kind}"
    raise ParameterError(msg)

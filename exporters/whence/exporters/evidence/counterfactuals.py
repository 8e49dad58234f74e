"""How other inputs would have changed the result: the fields that explain it, tried out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from whence.engine.errors import WhenceError
from whence.engine.lineage.positions import contains
from whence.engine.record import LogRecord
from whence.engine.values import Value
from whence.engine.values.columns import canonical, records_of
from whence.engine.what_if import WhatIf, what_if
from whence.exporters.evidence.asking import Asked, Cited
from whence.store.allowing import why_not_loaded
from whence.store.questions import Why

__all__ = [
    "GONE",
    "MOST_TRIES",
    "REFUSED",
    "UNCHANGED",
    "UNTOLD",
    "WORK",
    "not_tried",
    "tried",
    "would_be",
]

UNTOLD = "another value of the log"
UNCHANGED = "it would be the same"
GONE = "this output would not be there"
REFUSED = "the chain refuses such a value"

_EACH = 2
"""Other values that are tried for a field."""
MOST_TRIES = 8
WORK = 400_000
"""Events that are run again, over all tries together."""
_LOOKED = 2_000
"""Events among which other values are looked for."""


def tried(asked: Asked, reveal: Collection[str]) -> list[dict[str, Any]] | None:
    """Run the chain again with other values of the fields that explain an output.

    Each try changes one field of one event to a value that the log has elsewhere. Values are shown
    only of fields that are revealed.

    Args:
        asked: the question and its answer.
        reveal: the fields whose values may be revealed.

    Returns:
        One row for each try; ``None`` if there is nothing to try, or it would take too long.
    """
    if not isinstance(asked.answer, Why) or asked.record.manifest.chain is None:
        return None
    if any(log.manifest.erased for log in asked.logs.values()):
        return None  # what is left gives other results in any case
    if why_not_loaded(asked.record.manifest.chain) is not None:
        return None
    length = sum(log.length for log in asked.logs.values())
    most = min(MOST_TRIES, WORK // max(1, length))
    rows: list[dict[str, Any]] = []
    for cited, field, value in _tries(asked):
        if len(rows) == most:
            break
        place = f"{cited.log}@{cited.position}" + (f".{field}" if field else "")
        shown = (field or "value") in reveal
        words, changes = _outcome(asked, place, value)
        rows.append(
            {
                "place": place,
                "value": canonical(value) if shown else UNTOLD,
                "changes": changes,
                "result": words,
            }
        )
    return rows or None


def not_tried(asked: Asked) -> str:
    length = sum(log.length for log in asked.logs.values())
    if any(log.manifest.erased for log in asked.logs.values()):
        return "values of the log were erased"
    if why_not_loaded(asked.record.manifest.chain) is not None:
        return "the chain cannot be run again: it calls functions of a module that was not allowed"
    if length > WORK:
        return f"the log is long ({length:,} events; a pack runs up to {WORK:,} again)"
    return "no field is known to matter that has another value in the log"


def _tries(asked: Asked) -> Iterator[tuple[Cited, str | None, Value]]:
    for cited in asked.cited:
        log = asked.logs[cited.log]
        fields: Collection[str | None] = cited.fields or ()
        if log.manifest.plain:
            fields = (None,)
        for field in fields:
            for value in _others(log, field or "value", cited.position):
                yield cited, field, value


def _others(log: LogRecord, column: str, position: int) -> list[Value]:
    """Other values that a column has, the earliest first."""
    if column not in log.columns:
        return []
    chunk = log.manifest.chunk
    kinds = {column: log.columns[column]}
    own = records_of(log.part(position // chunk).slice(position % chunk, 1), kinds)
    if not own:
        return []
    (before,) = own
    table = log.part(0).slice(0, _LOOKED)
    found: dict[str, Value] = {}
    for row in records_of(table, kinds):
        if row[column] is not None:
            found.setdefault(canonical(row[column]), row[column])
    found.pop(canonical(before[column]), None)
    return list(found.values())[:_EACH]


def _outcome(asked: Asked, place: str, value: Value) -> tuple[str, bool]:
    ((name, position),) = asked.outputs
    try:
        answer = what_if(asked.record, {place: value}, most=0, also=(name, position))
    except WhenceError:
        return REFUSED, True
    return _words(answer, name, position)


def would_be(value: Value) -> str:
    """What an output would be, in words."""
    return f"it would be {canonical(value)}"


def _words(answer: WhatIf, name: str, position: int) -> tuple[str, bool]:
    for pipe in answer.outputs:
        if pipe.output != name:
            continue
        if position >= pipe.lengths[1]:
            return GONE, True
        if contains(pipe.changed, position):
            new = [each.after for each in pipe.first if each.position == position]
            return (would_be(new[0]) if new else "it would be another"), True
    return UNCHANGED, False

"""Input events one by one, with what the graph knows of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from whence.engine.intervals import contains
from whence.store.catalog import RunGraph
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import key_of, position_of
from whence.store.questions.answers import InputEvent, InputRange

__all__ = ["input_events"]


def input_events(
    connection: Connection, run: RunGraph, inputs: Iterable[InputRange], most: int
) -> list[InputEvent]:
    """The first of some input events, with their columns for searching."""
    wanted: dict[int, tuple[str, tuple[str, ...] | None]] = {}
    gone = {log.name: log.erased for log in run.logs}
    for each in inputs:
        no = run.log_named(each.log).no
        for position in range(each.lo, min(each.hi + 1, each.lo + most - len(wanted))):
            wanted[key_of(no, position)] = (each.log, each.fields)
    known: dict[int, dict[str, Any]] = {
        row["key"]: row for row in connection.read(cypher("inputs_read"), keys=list(wanted))
    }
    return [
        InputEvent(
            log,
            position_of(key),
            fields,
            **{name: _plain(known[key][name]) for name in ("case", "activity", "time")},
            erased=contains(gone[run.log_named(log).name], position_of(key)),
        )
        for key, (log, fields) in wanted.items()
    ]


def _plain(value: Any) -> Any:
    """Times as Python has them; the driver's own class serves nobody else."""
    return value.to_native() if hasattr(value, "to_native") else value

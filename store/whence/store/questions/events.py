"""Input events one by one, with what the graph knows of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.lineage.positions import contains
from whence.store.catalog import RunGraph
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.values import SEARCHABLE
from whence.store.places import key_of, places_of_keys, position_of
from whence.store.questions.answers import InputEvent, InputRange
from whence.store.questions.in_record import columns_in_record

__all__ = ["input_events"]


def input_events(
    connection: Connection,
    run: RunGraph,
    inputs: Iterable[InputRange],
    most: int,
    record: Path | None = None,
) -> list[InputEvent]:
    """The first of some input events, with their columns for searching.

    Those that no selected output needs are not in the graph; the record has them, if it is there.
    """
    wanted: dict[int, tuple[str, tuple[str, ...] | None]] = {}
    gone = {log.name: log.erased for log in run.logs}
    for each in inputs:
        no = run.log_named(each.log).no
        for position in range(each.lo, min(each.hi + 1, each.lo + most - len(wanted))):
            wanted[key_of(no, position)] = (each.log, each.fields)
    known: dict[int, dict[str, Any]] = {
        row["key"]: row for row in connection.read(cypher("inputs_read"), keys=list(wanted))
    }
    lost = [key for key in wanted if key not in known]
    if lost:
        known.update(_recorded(run, lost, record))
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


def _recorded(
    run: RunGraph, keys: list[int], record: Path | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    nothing: dict[str, Any] = dict.fromkeys(SEARCHABLE)
    yield from ((key, nothing) for key in keys)
    places = places_of_keys(keys)
    for log in run.logs:
        if log.no not in places or log.made:
            continue
        try:
            for at, row in columns_in_record(run, log, places[log.no], record):
                yield key_of(log.no, at), {**nothing, **row}
        except (ParameterError, OSError):
            continue  # then they are told without


def _plain(value: Any) -> Any:
    """Times as Python has them; the driver's own class serves nobody else."""
    return value.to_native() if hasattr(value, "to_native") else value

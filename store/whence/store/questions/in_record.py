"""What only the record knows of input events: their values and their ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from whence.engine.errors import LogError, ParameterError
from whence.engine.formula import parse_expression
from whence.engine.language.compiled import compile_expression
from whence.engine.language.events import Event
from whence.engine.language.traits import LOG
from whence.engine.lineage.positions import Intervals, minus, of_positions, overlap
from whence.engine.record import LogRecord, RunRecord, record_place
from whence.engine.values import Value, ValueFault, as_condition
from whence.store.catalog import RunGraph, StoredLog
from whence.store.loading.values import input_properties

__all__ = [
    "columns_in_record",
    "input_values",
    "log_in_record",
    "matching",
    "run_in_record",
    "with_ids",
]


def run_in_record(run: str, record: Path | None) -> RunRecord:
    """A run of whose outputs only the tracked ones are in the graph."""
    try:
        return RunRecord(record_place(record), run)
    except (LogError, OSError) as error:
        msg = (
            f"{run}: expected its record at {record_place(record)}, since only its tracked outputs "
            "are in the graph; got none; try --record DIR"
        )
        raise ParameterError(msg) from error


def columns_in_record(
    run: RunGraph, log: StoredLog, among: Intervals, record: Path | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Events of a log with their columns for searching, as the graph would have them."""
    kept = log_in_record(run.id, log.name, record)
    chunk = kept.manifest.chunk
    for number in range(kept.manifest.parts):
        for lo, hi in overlap(among, ((number * chunk, (number + 1) * chunk - 1),)):
            stretch = kept.part(number).slice(lo - number * chunk, hi - lo + 1)
            for row in input_properties(0, kept.manifest, stretch, b""):
                yield row.pop("key"), row


def log_in_record(run: str, log: str, record: Path | None) -> LogRecord:
    """A log of a run; its values are nowhere else."""
    try:
        return RunRecord(record_place(record), run).log(log)
    except (LogError, OSError) as error:
        msg = (
            f"values of {log}: expected the record of the run {run} at {record_place(record)}; "
            "got none; try --record DIR, or events by position, case, activity or time"
        )
        raise ParameterError(msg) from error


def matching(
    run: RunGraph, log: StoredLog, among: Intervals, where: str, record: Path | None
) -> Intervals:
    """The events of a log, among some, that an expression over their columns is true of."""
    kept = log_in_record(run.id, log.name, record)
    known = LOG if log.plain else LOG.but(kind="record", columns=kept.columns)
    try:
        condition = compile_expression(parse_expression(where), [known])
        if condition.kind not in ("any", "boolean", "missing"):
            raise ValueFault("a condition", condition.kind, "a comparison such as `amount > 100`")

        def holds(event: Value) -> bool:
            return as_condition(condition.value((Event(event),)))

        return of_positions(at for at, event in _events(kept, among) if holds(event))
    except ValueFault as fault:
        msg = f"filter {where!r} on {log.name}: {fault}"
        raise ParameterError(msg) from fault


def with_ids(run: RunGraph, log: StoredLog, ids: Iterable[str], record: Path | None) -> Intervals:
    """The events of a log that have these ids."""
    kept = log_in_record(run.id, log.name, record)
    column = kept.manifest.event_id
    if column is None:
        msg = (
            f"ids in {log.name}: expected a column that was declared to hold ids; got none; "
            "try --inputs @FILE with positions, or whence run --id COLUMN"
        )
        raise ParameterError(msg)
    wanted = set(ids)
    found: list[int] = []
    met: set[str] = set()
    for number in range(kept.manifest.parts):
        table = kept.part(number)
        texts = table.column(column).cast(pa.string()).to_pylist()
        for at, id in zip(table.column("position").to_pylist(), texts, strict=True):
            if id in wanted:
                found.append(at)
                met.add(id)
    if wanted - met:
        lost = sorted(wanted - met)
        msg = (
            f"ids in {log.name}: expected values of {column!r}; got {lost[0]!r}, which no event "
            f"has ({len(lost):,} of {len(wanted):,} are unknown); try a file of known ids"
        )
        raise ParameterError(msg)
    return of_positions(found)


def _events(log: LogRecord, among: Intervals) -> Iterator[tuple[int, Value]]:
    chunk = log.manifest.chunk
    for number in range(log.manifest.parts):
        places = overlap(among, ((number * chunk, (number + 1) * chunk - 1),))
        if places:
            table = log.part(number)
            for lo, hi in places:
                stretch = table.slice(lo - number * chunk, hi - lo + 1)
                yield from enumerate(log.events(stretch), start=lo)


def input_values(
    run: str, events: Iterable[tuple[str, int]], record: Path | None = None
) -> dict[tuple[str, int], Value]:
    """The values of input events, as far as the record is there; none of them if it is not.

    Of events that were erased there is none.

    Args:
        run: the run's id.
        events: by the log's name in the chain and the position.
        record: where the record is, if not where records usually are.
    """
    wanted: dict[str, list[int]] = {}
    for log, position in events:
        wanted.setdefault(log, []).append(position)
    found: dict[tuple[str, int], Value] = {}
    try:
        for name, positions in wanted.items():
            kept = RunRecord(record_place(record), run).log(name)
            there = minus(of_positions(positions), kept.manifest.erased)
            for at, value in _events(kept, there):
                found[name, at] = value
    except (LogError, OSError):
        return {}
    return found

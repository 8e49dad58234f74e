"""Search: events by value, case, activity and time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from whence.engine.errors import ParameterError
from whence.engine.lineage.positions import Intervals, count, joined
from whence.store.catalog import RunGraph, StoredStream, find_run
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import key_of, position_of
from whence.store.questions.answers import InputRange
from whence.store.questions.events import input_events
from whence.store.questions.moments import appeared_in
from whence.store.questions.selecting import Selection, readings, select

__all__ = ["Found", "FoundEvent", "search"]

QUERIES = ("inputs_of_case", "inputs_of_activity", "inputs_of_time", "outputs_of_value")


@dataclass(frozen=True)
class FoundEvent:
    """An event that was found.

    Attributes:
        kind: ``input`` or ``output``.
        name: its name, ``log@3`` or ``total@41``.
        stream: its log or pipe.
        position: its position there.
        case: an input's case, if the log's case is mapped.
        activity: its activity, likewise.
        time: its time, likewise.
        value: an output's value, as the graph keeps it.
        moment: the input position after which an output appeared.
    """

    kind: Literal["input", "output"]
    name: str
    stream: str
    position: int
    case: Any = None
    activity: Any = None
    time: Any = None
    value: Any = None
    moment: int | None = None


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        run: the run whose logs and pipes were searched.
        events: the first of the events.
        more: whether there are more.
        count: how many input events there are; ``None`` if outputs were searched.
        cypher: the queries that may have been used, by name.
    """

    run: str
    events: tuple[FoundEvent, ...]
    more: bool
    count: int | None
    cypher: dict[str, str]


def search(
    connection: Connection,
    run: str = "latest",
    chosen: Selection | None = None,
    *,
    value: str | None = None,
    most: int = 50,
    record: Path | None = None,
) -> Found:
    """Find events of a run: inputs that a selection means, or outputs with a value.

    Args:
        connection: where the graph is.
        run: the run's id, or ``latest``.
        chosen: which input events; with a value, only outputs that appeared with one of them.
        value: the value of outputs, as text: ``false``, ``41``, ``approve``.
        most: so many of them.
        record: where the record is, for a filter.
    """
    graph = find_run(connection, run, record)
    at = chosen if chosen is not None and not chosen.empty else None
    if at is None and value is None:
        msg = (
            "search: expected something to look for; got nothing; "
            "try --case ID, --activity NAME, --since TIME or --value false"
        )
        raise ParameterError(msg)
    places = {} if at is None else select(connection, graph, at, record)
    queries = {name: cypher(name) for name in QUERIES}
    if value is None:
        ranges = tuple(
            InputRange(log.name, lo, hi) for log in graph.logs for lo, hi in places.get(log.no, ())
        )
        many = sum(count(each) for each in places.values())
        events = tuple(
            FoundEvent(
                "input", f"{e.log}@{e.position}", e.log, e.position, e.case, e.activity, e.time
            )
            for e in input_events(connection, graph, ranges, most, record)
        )
        return Found(graph.id, events, many > len(events), many, queries)
    moments = joined(p for each in places.values() for p in each) if at is not None else None
    found = list(_outputs(connection, graph, value, moments, most + 1))
    return Found(graph.id, tuple(found[:most]), len(found) > most, None, queries)


def _outputs(
    connection: Connection, run: RunGraph, value: str, moments: Intervals | None, most: int
) -> Iterator[FoundEvent]:
    left = most
    for stream in run.outputs:
        for lo, hi in _stretches(connection, stream, moments):
            if left <= 0:
                return
            rows = connection.read(
                cypher("outputs_of_value"),
                first=key_of(stream.no, lo),
                last=key_of(stream.no, hi),
                values=readings(value),
                most=left,
            )
            left -= len(rows)
            for row in rows:
                at = position_of(row["key"])
                yield FoundEvent(
                    "output",
                    stream.label(at),
                    stream.name,
                    at,
                    value=row["value"],
                    moment=row["moment"],
                )


def _stretches(
    connection: Connection, stream: StoredStream, moments: Intervals | None
) -> Intervals:
    if not stream.length:
        return ()
    if moments is None:
        return ((0, stream.length - 1),)
    return appeared_in(connection, stream, moments)

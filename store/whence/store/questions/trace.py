"""Trace: where did an event go, through every run that used it, and where does it come from?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.engine.lineage.positions import Intervals, count, joined, minus, overlap
from whence.store.catalog import RunGraph, StoredLog, StoredStream, find_run
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import LAST_POSITION, Places
from whence.store.questions.answers import Coverage, coverage_of
from whence.store.questions.naming import find_any_event
from whence.store.questions.whole import require_tracked
from whence.store.verbs import down, up

__all__ = ["Leg", "Share", "Trace", "trace"]

QUERIES = (
    *("collection_uses", "run_read", "up_explains", "down_explains", "up_supports"),
    *("down_supports", "edges_up", "edges_down", "spans_up", "bands_down", "heads_up"),
    *("packed_bounds", "packed_read"),
)


@dataclass(frozen=True)
class Share:
    """Some events of a log or stream.

    Attributes:
        name: what the run calls it.
        ranges: their positions.
    """

    name: str
    ranges: Intervals

    @property
    def count(self) -> int:
        """How many they are."""
        return count(self.ranges)


@dataclass(frozen=True)
class Leg:
    """The way through one run.

    Attributes:
        run: the run's id.
        source: the events at which the way enters it.
        found: the events that it leads to: outputs on the way down, inputs on the way up.
        coverage: how much of the run was tracked, and whether all of it is in the graph.
    """

    run: str
    source: Share
    found: tuple[Share, ...]
    coverage: Coverage


@dataclass(frozen=True)
class Trace:
    """Where an event went, and where it comes from.

    Attributes:
        run: the run in whose words the event was named.
        event: its log or stream, and its position there.
        down: through every run that used it, and through those that used what came of it.
        up: through the run that made it, and through those that made what it came from.
        revises: logs that the event's own log corrects.
        revised: logs that correct the event's own log.
        cypher: the queries that were used, by name.
    """

    run: str
    event: Share
    down: tuple[Leg, ...]
    up: tuple[Leg, ...]
    revises: tuple[str, ...]
    revised: tuple[str, ...]
    cypher: Mapping[str, str] = field(repr=False)


def trace(
    connection: Connection,
    event: str,
    *,
    run: str = "latest",
    support: bool = False,
    record: Path | None = None,
) -> Trace:
    """Follow an event through every run.

    Args:
        connection: where the graph is.
        event: ``LOG@POSITION`` or ``PROCESSOR[.PIPE]@POSITION``.
        run: the run that the event name refers to.
        support: follow what supports instead of what explains.
        record: where the record is, if not where records usually are; see `find_run`.
    """
    graph = find_run(connection, run, record)
    require_tracked(graph)
    place, position = find_any_event(graph, event)
    walk = _Walk(connection, record, support=support)
    start: Intervals = ((position, position),)
    uses = walk.uses(place.no)
    return Trace(
        graph.id,
        Share(place.name, start),
        tuple(walk.down(place.no, start)),
        tuple(walk.up(place.no, start)),
        tuple(sorted(uses["revises"])),
        tuple(sorted(uses["revised"])),
        {name: cypher(name) for name in QUERIES},
    )


class _Walk:
    """Goes from run to run, each event once."""

    def __init__(self, connection: Connection, record: Path | None, *, support: bool) -> None:
        self.connection = connection
        self.record = record
        self.support = support
        self.runs: dict[str, RunGraph] = {}
        self.known: dict[int, dict[str, Any]] = {}

    def uses(self, no: int) -> dict[str, Any]:
        """Who reads a log or stream, and who made it."""
        if no not in self.known:
            (self.known[no],) = self.connection.read(cypher("collection_uses"), nos=[no])
        return self.known[no]

    def run(self, id: str) -> RunGraph:
        if id not in self.runs:
            self.runs[id] = find_run(self.connection, id, self.record)
        return self.runs[id]

    def down(self, no: int, ranges: Intervals) -> list[Leg]:
        """Through the runs that read these events, then through those that read their outputs.

        An event inside a run leads to the outputs of that run as well.
        """
        return self._legs(no, ranges, self._below)

    def up(self, no: int, ranges: Intervals) -> list[Leg]:
        """Through the run that made these events, then through those that made its logs."""
        return self._legs(no, ranges, self._above)

    def _legs(self, no: int, ranges: Intervals, step: Any) -> list[Leg]:
        legs: list[Leg] = []
        seen: Places = {}
        waiting = [(no, ranges)]
        while waiting:
            at, places = waiting.pop(0)
            new = minus(places, seen.get(at, ()))
            if not new:
                continue
            seen[at] = joined((*seen.get(at, ()), *new))
            for run, found in step(at, new):
                shares = tuple(Share(each.name, some) for each, some in found)
                source = Share(_name(run, at), new)
                legs.append(Leg(run.id, source, shares, coverage_of(run, run.outputs)))
                waiting += [(each.no, some) for each, some in found]
        return legs

    def _below(self, no: int, ranges: Intervals) -> list[Any]:
        uses = self.uses(no)
        legs = []
        for id in sorted({*uses["readers"], *uses["makers"]}):
            run = self.run(id)
            if id in uses["makers"] and id not in uses["readers"] and _is_output(run, no):
                continue  # it has left that run already
            reached = down(self.connection, run, {no: ranges}, support=self.support)
            found = [
                (pipe, some)
                for pipe in run.outputs
                if pipe.no != no and (some := _of(reached, pipe))
            ]
            legs.append((run, found))
        return legs

    def _above(self, no: int, ranges: Intervals) -> list[Any]:
        legs = []
        for id in sorted(self.uses(no)["makers"]):
            run = self.run(id)
            reached = up(self.connection, run, {no: ranges}, support=self.support)
            found = [
                (log, some) for log in run.logs if log.no != no and (some := _of(reached, log))
            ]
            legs.append((run, found))
        return legs


def _of(reached: Places, place: StoredLog | StoredStream) -> Intervals:
    """What of a log or stream was reached; a span that is still open leads past its end."""
    last = place.length - 1 if place.length else LAST_POSITION
    return overlap(reached.get(place.no, ()), ((0, last),))


def _is_output(run: RunGraph, no: int) -> bool:
    return any(pipe.no == no for pipe in run.outputs)


def _name(run: RunGraph, no: int) -> str:
    return run.by_no[no].name

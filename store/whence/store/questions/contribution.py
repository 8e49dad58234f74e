"""Contribution: which input events explain the most outputs? And one output: which matter most?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import nsmallest
from pathlib import Path
from typing import Any

from whence.engine.errors import StoreError
from whence.store.catalog import find_run
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.contributions import LARGEST, block_ids
from whence.store.places import key_of
from whence.store.questions.answers import Coverage, InputEvent, coverage_of
from whence.store.questions.explain import explain
from whence.store.questions.responsibility import responsibilities
from whence.store.questions.whole import require_whole

__all__ = ["Contribution", "Responsibility", "Responsible", "contribution", "responsibility"]

QUERIES = ("run_read", "contributions_read", "inputs_read")


@dataclass(frozen=True)
class Ranked:
    """An input event and how many outputs it explains.

    Attributes:
        event: the event, with what the graph knows of it.
        outputs: how many outputs it explains.
    """

    event: InputEvent
    outputs: int


@dataclass(frozen=True)
class Contribution:
    """The input events that explain the most outputs.

    Attributes:
        run: the run's id.
        ranked: the first of them, those that explain more before the others, then by position.
        inputs: how many input events explain an output at all.
        outputs: how many outputs there are.
        coverage: how much of the run was tracked.
        cypher: the queries that were used, by name.
    """

    run: str
    ranked: tuple[Ranked, ...]
    inputs: int
    outputs: int
    coverage: Coverage
    cypher: Mapping[str, str] = field(repr=False)


def contribution(
    connection: Connection, run: str, *, most: int = 20, record: Path | None = None
) -> Contribution:
    """Ask which input events explain the most outputs.

    Args:
        connection: where the graph is.
        run: the run's id, or ``latest``.
        most: so many of them are listed.
        record: where the record is, if not where records usually are; see `find_run`.
    """
    graph = find_run(connection, run, record)
    require_whole(graph, connection)
    if not graph.counted:
        events = sum(stream.length for stream in graph.event_streams.values())
        got, hint = "one without", f"whence load {graph.id}"
        if events > LARGEST:
            got = f"one of {events:,} events, more than the {LARGEST:,} up to which they are"
            hint = "whence impact for single events"
        msg = (
            f"{graph.id}: expected a run whose contributions were counted when it was loaded; "
            f"got {got}; try {hint}"
        )
        raise StoreError(msg)
    ids = [id for log in graph.logs for id in block_ids(graph.id, log.no, log.length)]
    found = [
        (-number, row["no"], row["first"] + at)
        for row in connection.read(cypher("contributions_read"), ids=ids)
        for at, number in enumerate(row["counts"])
        if number
    ]
    best = nsmallest(most, found)
    keys = [key_of(no, at) for _, no, at in best]
    known = {row["key"]: row for row in connection.read(cypher("inputs_read"), keys=keys)}
    ranked = []
    for number, no, at in best:
        row = known.get(key_of(no, at), {})
        values: list[Any] = [row.get(name) for name in ("case", "activity", "time")]
        plain = [v.to_native() if hasattr(v, "to_native") else v for v in values]
        ranked.append(Ranked(InputEvent(graph.by_no[no].name, at, None, *plain), -number))
    return Contribution(
        graph.id,
        tuple(ranked),
        len(found),
        sum(pipe.length for pipe in graph.outputs),
        coverage_of(graph, graph.outputs),
        {name: cypher(name) for name in QUERIES},
    )


@dataclass(frozen=True)
class Responsible:
    """An input event, and how much an output rests on it.

    Attributes:
        log: the log's name.
        position: the event's position.
        share: 1/(1+m), m the fewest other inputs whose removal makes it necessary; 0 if none does.
        exact: whether that is so; else it is at most that.
    """

    log: str
    position: int
    share: Fraction
    exact: bool


@dataclass(frozen=True)
class Responsibility:
    """How much an output rests on each of the inputs that explain it.

    Attributes:
        run: the run's id.
        output: the output's name, such as ``total@41``.
        inputs: the inputs, those that it rests on most before the others.
        alternatives: how many witnesses it has; 1 if the run kept the first one alone.
        more_alternatives: whether there are more than were looked at.
        coverage: how much of the run was tracked.
        cypher: the queries that were used, by name.
    """

    run: str
    output: str
    inputs: tuple[Responsible, ...]
    alternatives: int
    more_alternatives: bool
    coverage: Coverage
    cypher: Mapping[str, str] = field(repr=False)


def responsibility(
    connection: Connection, run: str, output: str, *, record: Path | None = None
) -> Responsibility:
    """Ask how much one output rests on each of its inputs.

    Args:
        connection: where the graph is.
        run: the run's id, or ``latest``; one that kept all witnesses, or each input is necessary.
        output: ``[PROCESSOR[.PIPE]@]POSITION``.
        record: where the record is, if not where records usually are; see `find_run`.
    """
    why = explain(connection, run, output, most=1, record=record)
    sets = [each.ranges for each in why.alternatives] if why.alternatives else [why.inputs]
    witnesses = [
        {(each.log, at) for each in ranges for at in range(each.lo, each.hi + 1)} for ranges in sets
    ]
    found = [
        Responsible(log, at, share, exact and not why.more_alternatives)
        for (log, at), (share, exact) in responsibilities(witnesses).items()
    ]
    found.sort(key=lambda each: (-each.share, each.log, each.position))
    return Responsibility(
        why.run,
        why.output.label,
        tuple(found),
        len(sets),
        why.more_alternatives,
        why.coverage,
        why.cypher,
    )

"""Explain: which input events are the reason for this output?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from whence.engine.errors import ParameterError, StoreError
from whence.engine.lineage.association import Association
from whence.engine.lineage.choices import RowWitnesses
from whence.engine.lineage.positions import meeting
from whence.store.catalog import RunGraph, StoredStream, find_run
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import Places, key_of, no_of, position_of
from whence.store.questions.answers import (
    Coverage,
    InputEvent,
    InputRange,
    OutputEvent,
    Witness,
    coverage_of,
)
from whence.store.questions.choosing import choose
from whence.store.questions.events import input_events
from whence.store.questions.fields import Derivations, asked_inputs, asked_up, derivations
from whence.store.questions.naming import chosen_output, find_event
from whence.store.questions.selecting import Selection, select
from whence.store.questions.whole import loaded_text, require_tracked
from whence.store.verbs import WALKED_UP, PackedChunks, up, up_if_few
from whence.store.verbs.choices import options_of

__all__ = ["Why", "Whys", "explain", "explain_first"]

EVENTS_SHOWN = 1000
EAGER = 10_000
"""So many explaining events are few enough for what leads to them to be read at once."""
QUERIES = (*WALKED_UP, "edges_told", "packed_bounds", "packed_read")


@dataclass(frozen=True)
class Why:
    """Why an output has its value.

    Attributes:
        run: the run's id.
        output: the output.
        inputs: the input events that explain it, with the fields that matter.
        events: the first of them one by one, with their columns for searching.
        support: the input events that are enough for it, if they were asked for.
        alternatives: every witness, the first one first, if the run kept them all.
        more_alternatives: whether there are more than are listed.
        derivations: the associations that the explanation rests on, as the record writes them;
            many of them are read only when they are looked at.
        support_derivations: those that the support rests on, if it was asked for.
        coverage: how much of the run was tracked.
        cypher: the queries that were used, by name.
        not_of: the case by which the output was chosen, if no event that explains it is of that
            case: the verdict is about other cases too.
    """

    run: str
    output: OutputEvent
    inputs: tuple[InputRange, ...]
    events: tuple[InputEvent, ...]
    support: tuple[InputRange, ...] | None
    derivations: Sequence[Association] = field(repr=False)
    support_derivations: Sequence[Association] | None = field(repr=False)
    coverage: Coverage
    cypher: Mapping[str, str] = field(repr=False)
    alternatives: tuple[Witness, ...] | None = None
    more_alternatives: bool = False
    not_of: str | None = None

    @property
    def count(self) -> int:
        """How many input events explain the output."""
        return sum(each.hi - each.lo + 1 for each in self.inputs)


def explain(
    connection: Connection,
    run: str,
    output: str,
    *,
    support: bool = False,
    most: int = EVENTS_SHOWN,
    record: Path | None = None,
) -> Why:
    """Ask why an output has its value.

    Args:
        connection: where the graph is.
        run: the run's id, or ``latest``.
        output: ``[PROCESSOR[.PIPE]@]POSITION``; without processor the chain's only output pipe.
        support: ask as well which input events are enough for it.
        most: so many of the explaining events are listed one by one.
        record: where the record is, if not where records usually are; see `find_run`.
    """
    graph = find_run(connection, run, record)
    stream, position = find_event(graph, output)
    return _explain(connection, graph, stream, position, support=support, most=most)


@dataclass(frozen=True)
class Whys:
    """Why the first outputs of a choice have their values.

    Attributes:
        answers: one for each.
        more: whether more outputs were meant than are explained.
    """

    answers: tuple[Why, ...]
    more: bool


def explain_first(
    connection: Connection,
    run: str,
    stream: str | None = None,
    *,
    where: str | None = None,
    at: Selection | None = None,
    first: int = 1,
    support: bool = False,
    most: int = EVENTS_SHOWN,
    record: Path | None = None,
) -> Whys:
    """Ask why the first outputs that something is true of have their values.

    Args:
        connection: where the graph is.
        run: the run's id, or ``latest``.
        stream: whose outputs; those of the chain's only output pipe, unless named.
        where: formula text over an output's value, such as ``verdict = false``.
        at: only outputs that appeared after one of these input events.
        first: how many.
        support: ask as well which input events are enough for each.
        most: so many of the explaining events are listed one by one.
        record: where the record is, if not where records usually are.
    """
    graph = find_run(connection, run, record)
    pipe = chosen_output(graph, stream)
    require_tracked(graph)
    chosen = choose(connection, graph, pipe, where=where, at=at, most=first, record=record)
    answers = [
        _explain(connection, graph, pipe, position, support=support, most=most)
        for position in chosen.positions
    ]
    if at is not None and at.case is not None:
        own = select(connection, graph, Selection(case=at.case, log=at.log), record)
        answers = [why if _rests_on(why, graph, own) else _not_of(why, at) for why in answers]
    return Whys(tuple(answers), chosen.more)


def _rests_on(why: Why, graph: RunGraph, places: Places) -> bool:
    """Whether an event at one of these places explains the output, or nothing does."""
    return not why.inputs or any(
        any(meeting(places.get(graph.log_named(each.log).no, ()), each.lo, each.hi))
        for each in why.inputs
    )


def _not_of(why: Why, at: Selection) -> Why:
    return replace(why, not_of=at.case)


def _explain(
    connection: Connection,
    graph: RunGraph,
    stream: StoredStream,
    position: int,
    *,
    support: bool,
    most: int,
) -> Why:
    told = _output(connection, graph, stream, position)
    rows, inputs = _inputs(connection, graph, stream, position, support=False)
    more = _inputs(connection, graph, stream, position, support=True) if support else None
    names = (*QUERIES, "up_supports") if support else QUERIES
    every: tuple[Witness, ...] | None = None
    cut = False
    if graph.keeps_alternatives:
        every, cut = _witnesses(connection, graph, stream, position, most)
        names = (*names, "choices_read")
    return Why(
        graph.id,
        told,
        inputs,
        tuple(input_events(connection, graph, inputs, most)),
        None if more is None else more[1],
        rows,
        None if more is None else more[0],
        coverage_of(graph, [stream]),
        {name: cypher(name) for name in names},
        every,
        cut,
    )


def _output(
    connection: Connection, run: RunGraph, stream: StoredStream, position: int
) -> OutputEvent:
    rows = connection.read(cypher("event_read"), key=key_of(stream.no, position))
    label = stream.label(position)
    left_out = not rows and stream.sparse and run.loaded
    if not rows and not left_out:
        msg = (
            f"{label}: expected an event that is in the graph; got {loaded_text(connection, run)}; "
            f"try whence load {run.id}"
        )
        raise StoreError(msg)
    row: dict[str, Any] = {"untracked": True} if left_out else rows[0]
    if not run.options.tracked or row["untracked"]:
        where = run.options.where
        reason = "which --where left out" if where else "of a run that was not tracked"
        msg = (
            f"{label}: expected a tracked output; got one {reason}; "
            "try whence run --track without --where"
        )
        raise ParameterError(msg)
    return OutputEvent.of(stream, position, row)


def _inputs(
    connection: Connection, run: RunGraph, stream: StoredStream, position: int, *, support: bool
) -> tuple[Sequence[Association], tuple[InputRange, ...]]:
    start: Places = {stream.no: ((position, position),)}
    reached = up_if_few(connection, run, start, support=support)
    if reached is not None:
        rows = derivations(connection, run, reached, support=support)
        return tuple(rows), asked_inputs(run, rows, stream.name, position)
    packed = PackedChunks(connection, run)
    inputs = asked_up(connection, run, start, support=support, packed=packed)

    def read() -> list[Association]:
        every = up(connection, run, start, support=support, packed=packed)
        return derivations(connection, run, every, support=support)

    few = sum(each.hi - each.lo + 1 for each in inputs) <= EAGER
    # In an order of their own: the same however much of the run is in the graph.
    return tuple(sorted(read(), key=repr)) if few else Derivations(read), inputs


def _witnesses(
    connection: Connection, run: RunGraph, stream: StoredStream, position: int, most: int
) -> tuple[tuple[Witness, ...], bool]:
    """Every witness, and whether there are more: the choices on the way, multiplied out."""
    start: Places = {stream.no: ((position, position),)}
    reached = up(connection, run, start, every=True)
    rows = derivations(connection, run, reached, support=False, every=True)
    options = {
        (run.by_no[no_of(key)].name, position_of(key)): many
        for key, many in options_of(connection, run, reached).items()
    }
    sets, cut = RowWitnesses(rows, options).of(stream.name, position)
    found = []
    for one in sets:
        ranges = tuple(InputRange(log, lo, hi) for log, places in one.logs for lo, hi in places)
        found.append(Witness(ranges, tuple(input_events(connection, run, ranges, most))))
    return tuple(found), cut

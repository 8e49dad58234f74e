"""An explanation step by step: from the graph where it kept the steps, else computed again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from whence.engine.errors import LogError, StoreError
from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.lineage.positions import count, overlap
from whence.engine.lineage.rows import RowIndex
from whence.engine.lineage.steps import NOT_TOLD, Step, StepEdge, Steps, steps_of
from whence.engine.lineage.terms import flatten
from whence.engine.record import RunRecord, record_place
from whence.engine.record.erasing import ERASED
from whence.engine.runners.recompute import MOST_EVENTS, again
from whence.engine.values.columns import from_canonical
from whence.store.allowing import load_own_functions
from whence.store.catalog import RunGraph, StoredStream, find_run
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import key_of
from whence.store.questions.explain import Why
from whence.store.questions.in_record import input_values

__all__ = ["chain_of", "kept_steps", "since_event", "steps", "steps_recorded"]

AT_ONCE = 10_000

TOGETHER = 16
"""So many neighbouring input events, or more, are one step."""


def steps(
    connection: Connection, why: Why, *, record: Path | None = None, allow: Iterable[str] = ()
) -> Steps:
    """The events that lead from an output to the input events that explain it.

    A run with ``--detail steps`` has them in the graph. Else they are computed again from the
    record, for this one output, and compared with what the graph says of it.

    Args:
        connection: where the graph is.
        why: the answer whose steps are asked for.
        record: where the record is, if not where records usually are.
        allow: modules whose functions the chain may call, on top of those of the configuration.

    Raises:
        StoreError: the run kept the ends only, and the record is not there.
        RunnerError: the chain calls a function that is not allowed.
    """
    run = find_run(connection, why.run, record)
    stream = next(s for s in run.streams if s.name == why.output.name)
    if run.options.detail == "steps":
        return _of_rows(connection, run, stream, why, record)
    try:
        kept = RunRecord(record_place(record), run.id)
    except (LogError, OSError) as error:
        msg = (
            f"the steps to {why.output.label}: expected a run with --detail steps, or its record "
            f"at {record_place(record)}; got neither; try --record DIR"
        )
        raise StoreError(msg) from error
    _check_values(run, why)
    load_own_functions(kept.manifest.chain, allow)
    return steps_recorded(kept, why)


def steps_recorded(record: RunRecord, why: Why, *, most: int = MOST_EVENTS) -> Steps:
    """The same, computed again from the record alone, for this one output.

    Args:
        record: the run.
        why: the answer whose steps are asked for.
        most: so many input events are read at the most.

    Raises:
        RunnerError: there are more of them.
        StoreError: the record does not explain the output as the answer does.
    """
    said = record.manifest.by_name[why.output.name]
    at, w = why.output.position, said.w
    place = at if w == 1 else divmod(at, w)
    moment = why.output.moment
    found = again(record, said.processor, said.pipe, place, moment, most=most)
    told = {(e.log, p) for e in why.inputs for p in range(e.lo, e.hi + 1)}
    if set(flatten(found)) != told:
        msg = (
            f"the steps to {why.output.label}: expected the record to explain it as the graph "
            f"does; got another explanation; try whence runs verify {record.id}"
        )
        raise StoreError(msg)
    return steps_of(found)


def _check_values(run: RunGraph, why: Why) -> None:
    """Refuse to compute anything again from values that are gone: it would come out otherwise."""
    gone = sum(count(overlap(log.erased, ((0, why.output.moment),))) for log in run.logs)
    if gone:
        msg = (
            f"the steps to {why.output.label}: expected the values that they are computed from; "
            f"got {gone:,} erased events before it; try without steps: which events explain it "
            "is still known"
        )
        raise StoreError(msg)


def kept_steps(connection: Connection, why: Why, *, record: Path | None = None) -> Steps:
    """The events of an explanation that the graph itself kept: of a run with ends, few.

    Nothing is computed again, so that this is quick however long the log is.

    Args:
        connection: where the graph is.
        why: the answer whose events are asked for.
        record: where the record is, for the values of input events.
    """
    run = find_run(connection, why.run, record)
    stream = next(s for s in run.streams if s.name == why.output.name)
    return _of_rows(connection, run, stream, why, record)


def since_event(connection: Connection, why: Why) -> int:
    """The input event since which the pipe has had the output's value, up to this output."""
    run = find_run(connection, why.run)
    stream = next(s for s in run.streams if s.name == why.output.name)
    key = key_of(stream.no, why.output.position)
    if stream.sparse:
        return _since_among_some(connection, stream, why)
    before = connection.read(
        cypher("value_before"),
        first=key_of(stream.no, 0),
        key=key,
        value=why.output.value,
        kind=why.output.kind or "",
    )
    first = before[0]["key"] + 1 if before else key_of(stream.no, 0)
    if stream.w != 1:
        return why.output.moment  # inside a Slice positions have gaps, and slices are mixed
    rows = connection.read(cypher("events_read"), keys=[first])
    return int(rows[0]["moment"])


def _since_among_some(connection: Connection, stream: StoredStream, why: Why) -> int:
    """The same where an output that is not there has another value: else it would be selected."""
    at, since = key_of(stream.no, why.output.position), why.output.moment
    asked = {"value": why.output.value, "kind": why.output.kind or ""}
    while True:
        rows = connection.read(
            cypher("same_before"), first=key_of(stream.no, 0), key=at, most=AT_ONCE, **asked
        )
        for row in rows:
            if row["key"] != at:
                return since
            at, since = at - 1, int(row["moment"])
        if len(rows) < AT_ONCE:
            return since


def chain_of(connection: Connection, run: str) -> Any:
    """The chain of a run, from its definition in the graph."""
    import json

    from whence.engine.language.definition import chain_from_tree

    rows = connection.read(cypher("run_plan"), id=run)
    return chain_from_tree(json.loads(rows[0]["definition"]))


def _of_rows(
    connection: Connection, run: RunGraph, stream: StoredStream, why: Why, record: Path | None
) -> Steps:
    found = _Rows(run, why.derivations)
    first = (stream.name, why.output.position)
    below: dict[str, tuple[StepEdge, ...]] = {}
    events: dict[str, tuple[str, int]] = {}
    ranges: dict[str, int] = {}
    stack = [first]
    while stack:
        place = stack.pop()
        name = found.label(*place)
        if name in events:
            continue
        events[name] = place
        edges: dict[str, StepEdge] = {}
        for to, lo, hi, fields in found.leads(*place):
            if to.startswith(LOG_PREFIX) and hi - lo + 1 >= TOGETHER:
                target = f"{to.removeprefix(LOG_PREFIX)}@{lo}-{hi}"
                ranges[target] = hi - lo + 1
                edges.setdefault(target, StepEdge(name, target, fields))
                continue
            for at in range(lo, hi + 1):
                target = found.label(to, at)
                edges.setdefault(target, StepEdge(name, target, fields))
                stack.append((to, at))
        below[name] = tuple(edges.values())
    values = _values(connection, run, events.values(), record)
    steps: dict[str, Step] = {}
    for name, place in events.items():
        known = None if place[0].startswith(LOG_PREFIX) else found.streams[place[0]].processor
        steps[name] = Step(name, known, values.get(place, NOT_TOLD))
    for name, many in ranges.items():
        steps[name] = Step(name, None, many=many)
        below[name] = ()
    return Steps(found.label(*first), steps, below)


class _Rows:
    """The associations of an answer, by where they begin."""

    def __init__(self, run: RunGraph, rows: Iterable[Association]) -> None:
        self.streams = {stream.name: stream for stream in run.streams}
        self.rows = RowIndex(rows)

    def label(self, name: str, position: int) -> str:
        if name.startswith(LOG_PREFIX):
            return f"{name.removeprefix(LOG_PREFIX)}@{position}"
        return self.streams[name].label(position)

    def leads(
        self, name: str, position: int
    ) -> Iterator[tuple[str, int, int, tuple[str, ...] | None]]:
        """Where an event leads to, past the heads of slices and past choices."""
        waiting = [(name, position)]
        seen = set(waiting)
        while waiting:
            here, at = waiting.pop()
            for row, reached in self.rows.leads(here, at):
                if row.witness is not None and 0 not in row.witness:
                    continue
                role = self.streams[row.to].role if row.to in self.streams else None
                hidden = role is not None and (role.is_heads or role.is_choices)
                for lo, hi in reached:
                    if not hidden:
                        yield row.to, lo, hi, row.fields
                        continue
                    new = {(row.to, p) for p in range(lo, hi + 1)} - seen
                    seen |= new
                    waiting += sorted(new)


def _values(
    connection: Connection,
    run: RunGraph,
    places: Iterable[tuple[str, int]],
    record: Path | None,
) -> dict[tuple[str, int], Any]:
    """The values of events: of streams from the graph, of logs from the record."""
    numbers = {stream.name: stream.no for stream in run.streams}
    keys: dict[int, tuple[str, int]] = {}
    inputs: list[tuple[str, int]] = []
    for name, position in places:
        if name.startswith(LOG_PREFIX):
            inputs.append((name.removeprefix(LOG_PREFIX), position))
        else:
            keys[key_of(numbers[name], position)] = (name, position)
    found: dict[tuple[str, int], Any] = {
        (LOG_PREFIX + log, position): value
        for (log, position), value in input_values(run.id, inputs, record).items()
    }
    for row in connection.read(cypher("events_read"), keys=list(keys)):
        if row["kind"] == ERASED:
            continue
        native = row["kind"] is None
        found[keys[row["key"]]] = row["value"] if native else _read(row["value"])
    return found


def _read(text: str) -> Any:
    try:
        return from_canonical(text)
    except ValueError:
        return text + "…"  # a long one, of which the graph has the beginning

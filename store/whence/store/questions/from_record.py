"""Explain without a graph: the same answer, worked out from the record.

The associations of the streams on the way are read whole. That is quick for a run of some hundred
thousand outputs; larger ones are better loaded and asked in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from whence.engine.associations import LOG_PREFIX, Association
from whence.engine.errors import ParameterError
from whence.engine.intervals import Intervals, contains, minus, union
from whence.engine.record import RunRecord
from whence.engine.record.erasing import erased_in
from whence.engine.record.schema import associations_of
from whence.engine.runners.selected import selector
from whence.store.catalog import RunGraph, StoredLog, StoredStream
from whence.store.loading.values import SEARCHABLE, input_properties, stored_value
from whence.store.questions.answers import InputEvent, InputRange, OutputEvent, coverage_of
from whence.store.questions.explain import EVENTS_SHOWN, Why
from whence.store.questions.fields import asked_inputs
from whence.store.questions.naming import find_event

__all__ = ["explain_recorded"]


def explain_recorded(
    record: RunRecord, output: str, *, support: bool = False, most: int = EVENTS_SHOWN
) -> Why:
    """Why an output has its value, from the record alone.

    Alternatives of a run that kept them all are told by the graph only.

    Args:
        record: the run.
        output: ``[PROCESSOR[.PIPE]@]POSITION``; without processor the chain's only output pipe.
        support: ask as well which input events are enough for it.
        most: so many of the explaining events are listed one by one.
    """
    run = _described(record)
    stream, position = find_event(run, output)
    told = _output(record, run, stream, position)
    rows = tuple(_rows(record, stream.name, position, support=False))
    inputs = asked_inputs(run, rows, stream.name, position)
    more = tuple(_rows(record, stream.name, position, support=True)) if support else None
    return Why(
        run=run.id,
        output=told,
        inputs=inputs,
        events=tuple(islice(_events(record, inputs), most)),
        support=None if more is None else asked_inputs(run, more, stream.name, position),
        derivations=rows,
        support_derivations=more,
        coverage=coverage_of(run, [stream]),
        cypher={},
    )


def _described(record: RunRecord) -> RunGraph:
    """What the graph would know of the run; all of its record is at hand."""
    manifest = record.manifest
    logs = []
    for no, name in enumerate(manifest["logs"]):
        known = record.log(name).manifest
        mapped = {role: known[role] for role in SEARCHABLE if known.get(role)}
        length = int(known["length"])
        plain, erased = bool(known["plain"]), erased_in(known)
        logs.append(StoredLog(known["id"], no, (name,), length, plain, mapped, erased=erased))
    streams = [
        StoredStream(
            *(said["name"], no, said["processor"], said["pipe"], said["role"]),
            *(said["w"], said["length"], said["tracked"]),
            erased_in(said),
        )
        for no, said in enumerate(manifest["streams"], start=len(logs))
    ]
    return RunGraph(
        record.id,
        manifest["status"],
        True,
        manifest["chunk"],
        manifest["options"],
        manifest["started"],
        tuple(logs),
        tuple(streams),
    )


def _output(record: RunRecord, run: RunGraph, stream: StoredStream, position: int) -> OutputEvent:
    label = stream.label(position)
    (said,) = (s for s in record.manifest["streams"] if s["name"] == stream.name)
    for part in said["outputs"]:
        if part["first"] <= position <= part["last"]:
            table = record.outputs(stream.name, part["part"])
            places = table.column("position").to_pylist()
            if position in places:
                at = places.index(position)
                (row,) = table.slice(at, 1).to_pylist()
                break
    else:
        msg = f"{label}: expected an event of the run; got none there; try another position"
        raise ParameterError(msg)
    tracked = bool(run.options["tracked"])
    if not tracked or not selector(record.manifest)(stream.name, table.slice(at, 1))[0]:
        reason = "which --where left out" if tracked else "of a run that was not tracked"
        msg = (
            f"{label}: expected a tracked output; got one {reason}; "
            "try whence run --track without --where"
        )
        raise ParameterError(msg)
    kept = stored_value(row["kind"], row["value"])
    return OutputEvent(stream.name, position, kept["value"], kept.get("kind"), row["moment"], label)


def _rows(record: RunRecord, stream: str, position: int, *, support: bool) -> Iterator[Association]:
    """Every association on the way from an output to the logs, each once."""
    wanted = ("explains", "supports") if support else ("explains", "trigger")
    read: dict[str, list[Association]] = {}
    told: set[int] = set()
    seen: dict[str, Intervals] = {}
    waiting: list[tuple[str, Intervals]] = [(stream, ((position, position),))]
    while waiting:
        name, places = waiting.pop()
        new = minus(places, seen.get(name, ()))
        if not new or name.startswith(LOG_PREFIX):
            continue
        seen[name] = union(seen.get(name, ()), new)
        if name not in read:
            read[name] = [row for row in _of(record, name) if row.relation in wanted]
        for row in read[name]:
            reached: Intervals = ()
            for lo, hi in new:
                reached = union(reached, row.reaches(lo, hi))
            if reached and (row.witness is None or 0 in row.witness):
                waiting.append((row.to, reached))
                if id(row) not in told:
                    told.add(id(row))
                    yield row


def _of(record: RunRecord, stream: str) -> list[Association]:
    """The associations of a stream; a zone open in one part may have its end in another."""
    (said,) = (s for s in record.manifest["streams"] if s["name"] == stream)
    rows: list[Association] = []
    zones: dict[tuple[str, str, tuple[int, ...], int], Association] = {}
    for part in said["associations"]:
        for row in associations_of(record.associations(stream, part["part"]), stream):
            if row.kind != "zone":
                rows.append(row)
                continue
            key = (row.relation, row.to, row.inputs, row.lo)
            if key not in zones or zones[key].hi is None:
                zones[key] = row
    return [*rows, *zones.values()]


def _events(record: RunRecord, inputs: tuple[InputRange, ...]) -> Iterator[InputEvent]:
    """The events one by one, with their columns for searching."""
    for each in inputs:
        log = record.log(each.log)
        chunk, gone = int(log.manifest["chunk"]), erased_in(log.manifest)
        for number in range(each.lo // chunk, each.hi // chunk + 1):
            table = log.part(number)
            first = number * chunk
            known = input_properties(0, log.manifest, table, b"")
            for position in range(max(each.lo, first), min(each.hi, first + chunk - 1) + 1):
                shown = known[position - first]
                roles = {role: shown.get(role) for role in SEARCHABLE}
                erased = contains(gone, position)
                yield InputEvent(each.log, position, each.fields, **roles, erased=erased)

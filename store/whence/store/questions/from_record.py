"""Explain without a graph: the same answer, worked out from the record.

The associations of the streams on the way are read whole. That is quick for a run of some hundred
thousand outputs; larger ones are better loaded and asked in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from whence.engine.errors import ParameterError
from whence.engine.lineage.association import Association
from whence.engine.lineage.block import Block
from whence.engine.lineage.follow import EXPLAINS, SUPPORTS, Lineage
from whence.engine.lineage.positions import NONE, Positions, contains
from whence.engine.record import RunRecord
from whence.engine.record.reaching import lineage_of
from whence.engine.record.selected import selector
from whence.store.catalog import RunGraph, StoredLog, StoredStream
from whence.store.loading.values import SEARCHABLE, input_properties, output_properties
from whence.store.questions.answers import InputEvent, InputRange, OutputEvent, coverage_of
from whence.store.questions.explain import EVENTS_SHOWN, Why
from whence.store.questions.fields import Derivations, by_log
from whence.store.questions.naming import find_event

__all__ = ["described", "explain_recorded"]


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
    run = described(record)
    stream, position = find_event(run, output)
    told = _output(record, run, stream, position)
    lineage = lineage_of(record)
    start = {stream.name: Positions.one(position, position)}
    inputs, rows = _found(run, lineage, start, support=False)
    support_inputs, support_rows = (
        _found(run, lineage, start, support=True) if support else (None, None)
    )
    return Why(
        run=run.id,
        output=told,
        inputs=inputs,
        events=tuple(islice(_events(record, inputs), most)),
        support=support_inputs,
        derivations=rows,
        support_derivations=support_rows,
        coverage=coverage_of(run, [stream]),
        cypher={},
    )


def _found(
    run: RunGraph, lineage: Lineage, start: Mapping[str, Positions], *, support: bool
) -> tuple[tuple[InputRange, ...], Derivations]:
    """The input events with the fields that matter, and the associations on the way."""
    reached = lineage.up_fields(start, support=support)
    inputs = by_log(run, {place: list(at.intervals) for place, at in reached.items()})
    relations = SUPPORTS if support else EXPLAINS

    def read() -> list[Association]:
        places: dict[str, Positions] = {}
        for (name, _), at in reached.items():
            places[name] = at.union(places.get(name, NONE))
        return [
            row
            for name, at in places.items()
            for row in _rows(name, at, [b for b in lineage.blocks(name) if b.relation in relations])
        ]

    return inputs, Derivations(read)


def _rows(stream: str, reached: Positions, blocks: list[Block]) -> Iterator[Association]:
    """The associations of some events; of a zone that was open and has ended the end counts."""
    zones: dict[tuple[str, str, tuple[int, ...], int], Association] = {}
    for block in blocks:
        some = block
        if block.kind == "each":
            yield from block.where(~block.wide).within(reached).rows(stream)
            some = block.where(block.wide)
        for row in some.where(reached.met_by(some.outputs, some.ends)).rows(stream):
            if row.kind != "zone":
                yield row
                continue
            key = (row.relation, row.to, row.inputs, row.lo)
            if key not in zones or zones[key].hi is None:
                zones[key] = row
    yield from zones.values()


def described(record: RunRecord) -> RunGraph:
    """What the graph would know of the run; all of its record is at hand."""
    manifest = record.manifest
    logs = []
    for no, name in enumerate(manifest.logs):
        known = record.log(name).manifest
        mapped = {role: column for role in SEARCHABLE if (column := known.column_of(role))}
        logs.append(
            StoredLog(known.id, no, (name,), known.length, known.plain, mapped, erased=known.erased)
        )
    streams = [
        StoredStream(
            *(said.name, no, said.processor, said.pipe, said.role),
            *(said.w, said.length, said.tracked),
            said.erased,
        )
        for no, said in enumerate(manifest.streams, start=len(logs))
    ]
    return RunGraph(
        record.id,
        manifest.status,
        True,
        manifest.chunk,
        manifest.options,
        manifest.started,
        tuple(logs),
        tuple(streams),
    )


def _output(record: RunRecord, run: RunGraph, stream: StoredStream, position: int) -> OutputEvent:
    label = stream.label(position)
    said = record.manifest.by_name[stream.name]
    for part in said.outputs:
        if part.first <= position <= part.last:
            table = record.outputs(stream.name, part.part)
            places = table.column("position").to_pylist()
            if position in places:
                at = places.index(position)
                break
    else:
        msg = f"{label}: expected an event of the run; got none there; try another position"
        raise ParameterError(msg)
    tracked = run.options.tracked
    if not tracked or not selector(record.manifest)(stream.name, table.slice(at, 1))[0]:
        reason = "which --where left out" if tracked else "of a run that was not tracked"
        msg = (
            f"{label}: expected a tracked output; got one {reason}; "
            "try whence run --track without --where"
        )
        raise ParameterError(msg)
    (row,) = output_properties(stream.no, table.slice(at, 1), b"")
    return OutputEvent.of(stream, position, row)


def _events(record: RunRecord, inputs: tuple[InputRange, ...]) -> Iterator[InputEvent]:
    """The events one by one, with their columns for searching."""
    for each in inputs:
        log = record.log(each.log)
        chunk, gone = log.manifest.chunk, log.manifest.erased
        for number in range(each.lo // chunk, each.hi // chunk + 1):
            table = log.part(number)
            first = number * chunk
            known = input_properties(0, log.manifest, table, b"")
            for position in range(max(each.lo, first), min(each.hi, first + chunk - 1) + 1):
                shown = known[position - first]
                roles = {role: shown.get(role) for role in SEARCHABLE}
                erased = contains(gone, position)
                yield InputEvent(each.log, position, each.fields, **roles, erased=erased)

"""Runs in the record, in the graph and in memory at once, and how their answers are compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.engine.interpreter import RunResult, interpret
from whence.engine.language.chain import Chain
from whence.engine.language.events import Event
from whence.engine.language.processor import Processor
from whence.engine.lineage.positions import of_positions, positions
from whence.engine.lineage.terms import Inputs, alternatives, flatten, stands
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.record import RunRecord, ingest
from whence.engine.record.manifest import StreamInfo
from whence.engine.runners import RunOptions, run_recorded
from whence.store import Connection
from whence.store.catalog import RunGraph, find_run
from whence.store.loading import load
from whence.store.loading.chunks import loaded_chunks
from whence.store.places import Places, merge
from whence.store.questions import (
    InputRange,
    LogShare,
    OutputShare,
    Why,
    explain,
    impact,
    never_matters,
)
from whence.store.questions.fields import asked_of, asked_up, derivations
from whence.store.questions.whole import all_outputs
from whence.store.verbs import PackedChunks, down, up

__all__ = ["Kept", "Logs", "Place", "as_inputs", "is_pipe", "keep", "record_of", "some_value"]

Place = tuple[str, int]
Logs = Mapping[str, Sequence[Any]]
MANY = 1_000_000
"""More events than any of these runs has."""


def record_of(root: Path, chain: Chain, logs: Logs, options: RunOptions) -> RunRecord:
    """Run a chain and leave its record."""
    kept = {name: ingest(root, name, logs[name], chunk=options.chunk) for name in chain.inputs}
    return run_recorded(root, chain, kept, options)


def is_pipe(stream: StreamInfo) -> bool:
    return stream.role.is_output


def some_value(run: RunRecord) -> str | None:
    """A condition that some outputs meet, if all of them can be compared with a value of theirs."""
    for stream in run.manifest.streams:
        tables = [run.outputs(stream.name, p.part) for p in stream.outputs]
        rows = [row for table in tables for row in table.to_pylist()] if is_pipe(stream) else []
        if rows and {row["kind"] for row in rows} <= {"boolean"}:
            return f"value = {rows[0]['value']}"
        if rows and {row["kind"] for row in rows} <= {"integer"}:
            return f"value >= {sorted(int(row['value']) for row in rows)[len(rows) // 2]}"
    return None


def as_inputs(ranges: Iterable[InputRange]) -> Inputs:
    """An answer's inputs, as the tracker in memory gives them."""
    return {
        (each.log, position): None if each.fields is None else frozenset(each.fields)
        for each in ranges
        for position in range(each.lo, each.hi + 1)
    }


def places(shares: Iterable[LogShare]) -> set[Place]:
    return {(share.log, position) for share in shares for position in positions(share.ranges)}


def outputs(shares: Iterable[OutputShare]) -> set[Place]:
    return {(share.output, position) for share in shares for position in positions(share.ranges)}


def keep(
    graph: Connection,
    root: Path,
    chain: Chain | Processor,
    logs: Logs,
    options: RunOptions,
    runner: Callable[[Path, Chain, Logs, RunOptions], RunRecord] = record_of,
) -> Kept:
    """Run a chain twice: into the graph, and in memory."""
    made = Chain.of(chain)
    record = runner(root, made, logs, options)
    load(root, record.id, graph)
    tracker = MemoryTracker(options.witnesses)
    result = interpret(made, logs, tracker=tracker, closed=options.closed)
    return Kept(graph, record, result, logs)


@dataclass
class Kept:
    """A run in the graph, and the same in memory."""

    graph: Connection
    record: RunRecord
    result: RunResult
    logs: Logs

    def __post_init__(self) -> None:
        """Find outputs by their names."""
        self.events = {(o.name, o.position): o for o in self.result.outputs}

    def check_explain(self, which: Collection[Place] | None = None) -> None:
        """Explain and support, with the fields, equal the tracker's; of all outputs or some."""
        for place in self.events if which is None else which:
            output = self.events[place]
            name = f"{output.name}@{output.position}"
            why = explain(self.graph, self.record.id, name, support=True, most=3)
            assert why.support is not None
            assert as_inputs(why.inputs) == flatten(output.event), name
            assert as_inputs(why.support) == flatten(output.event, support=True), name
            assert why.output.moment == output.moment
            assert len(why.events) == min(3, why.count)
            if self.witnesses == "all":
                self._check_alternatives(why, output.event)
            else:
                assert why.alternatives is None

    def _check_alternatives(self, why: Why, event: Event) -> None:
        """Every witness, the first one first."""
        wanted = alternatives(event)
        assert why.alternatives is not None
        told = [frozenset(as_inputs(one.ranges)) for one in why.alternatives]
        assert why.more_alternatives == wanted.cut
        assert told[0] == wanted.sets[0]
        assert wanted.cut or (set(told) == set(wanted.sets) and len(told) == len(wanted.sets))
        assert all(len(one.events) == min(3, one.count) for one in why.alternatives)

    @property
    def witnesses(self) -> str:
        return str(self.record.manifest.options.witnesses)

    def check_never_matters(self) -> None:
        """Certain and softer equal what the tracker's explanations leave over."""
        everything = {
            (log, position) for log in self.logs for position in range(len(self.logs[log]))
        }
        together = tuple(output.event for output in self.result.outputs)
        needed = _flat(flatten(together, support=True))
        needed |= _flat(self.result.interpreter.open_inputs())
        answer = never_matters(self.graph, self.record.id)
        assert places(answer.certain) == everything - needed
        assert places(answer.softer) == everything - _flat(flatten(together))
        self._check_fields(together)

    def _check_fields(self, together: tuple[Event, ...]) -> None:
        """In how many events each field never mattered; open events count with all of theirs."""
        held = _flat(self.result.interpreter.open_inputs())
        needed, explaining = flatten(together, support=True), flatten(together)
        answer = never_matters(self.graph, self.record.id, by="field")
        for group in answer.groups:
            asked = [
                {
                    place
                    for place, fields in found.items()
                    if fields is None or group.group in fields
                }
                for found in (needed, explaining)
            ]
            length = len(self.logs[group.log])
            own = [{at for log, at in found if log == group.log} for found in asked]
            own[0] |= {at for log, at in held if log == group.log}
            told = (group.certain, group.softer, group.length)
            assert told == (length - len(own[0]), length - len(own[1]), length), group
        columns = {(log, c) for log in self.logs for c in self.record.log(log).columns}
        assert {(group.log, group.group) for group in answer.groups} == columns

    def check_columns(self, corrupt: Collection[Place]) -> None:
        """The packed columns lead where the server's own walks lead, up and down."""
        run = find_run(self.graph, self.record.id)
        packed = PackedChunks(self.graph, run)
        numbers = {name: log.no for log in run.logs for name in log.names}
        below: Places = {}
        for log, position in corrupt:
            merge(below, {numbers[log]: ((position, position),)})
        outputs = all_outputs(run)
        for support in (False, True):
            for start, verb in ((outputs, up), (below, down)):
                walked = verb(self.graph, run, start, support=support, few=MANY)
                told = packed.reach(start, support=support, down=verb is down)
                if told is None:  # nothing is there to be packed
                    assert not loaded_chunks(self.graph, "run", self.record.id)
                    continue
                known = {no for no in run.by_no if no not in _without_events(run)}
                assert {no: told.get(no) for no in known} == {no: walked.get(no) for no in known}
            reached = up(self.graph, run, outputs, support=support, few=MANY)
            rows = derivations(self.graph, run, reached, support=support)
            named = {run.by_no[no].name: ranges for no, ranges in outputs.items()}
            asked = asked_up(self.graph, run, outputs, support=support, packed=packed)
            assert asked == asked_of(run, rows, named)

    def check_impact(self, corrupt: set[Place], which: Collection[Place] | None = None) -> None:
        """Unaffected, possibly affected, explained by, may appear: as the tracker's.

        Every output is sorted one way or the other; all of them, or some, are looked at closely.
        """
        ranges = {
            log: of_positions(position for name, position in corrupt if name == log)
            for log in {name for name, _ in corrupt}
        }
        answer = impact(self.graph, self.record.id, ranges)
        looked_at = set(self.events if which is None else which)
        possibly = {p for p in looked_at if not stands(self.events[p].event, corrupt)}
        explained = {p for p in possibly if _flat(flatten(self.events[p].event)) & corrupt}
        assert places(answer.inputs) == corrupt
        assert outputs(answer.possibly) & looked_at == possibly
        assert outputs(answer.explained) & looked_at == explained
        assert outputs(answer.unaffected) & looked_at == looked_at - possibly
        assert outputs(answer.unaffected) | outputs(answer.possibly) == set(self.events)
        assert outputs(answer.explained) <= outputs(answer.possibly)
        assert outputs(answer.untracked) == set()
        interpreter = self.result.interpreter
        assert set(answer.may_appear) == {
            name
            for name in interpreter.chain.outputs
            if _flat(interpreter.open_inputs(name)) & corrupt
        }


def _without_events(run: RunGraph) -> set[int]:
    return {stream.no for stream in run.streams if not stream.role.has_events}


def _flat(inputs: Inputs) -> set[Place]:
    return {(log, position) for log, position in inputs if isinstance(position, int)}

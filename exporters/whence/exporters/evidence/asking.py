"""What a pack is about: the question, and what the graph and the record know of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from whence.engine.arrow_compute import pc
from whence.engine.associations import Association
from whence.engine.columns import canonical, records_of
from whence.engine.errors import ParameterError
from whence.engine.intervals import of_positions
from whence.engine.record import LogRecord, RunRecord
from whence.store import Connection
from whence.store.catalog import RunGraph, find_run
from whence.store.questions import Coverage, Impact, Why, explain, impact

__all__ = ["Asked", "Cited", "ask", "positions_of"]

MOST = 10_000
"""Events that a pack shows; a pack is for people, a run's export for all of it."""


@dataclass(frozen=True)
class Cited:
    """An input event that the answer rests on; its fields that matter, or all of it."""

    log: str
    position: int
    fields: tuple[str, ...] | None


@dataclass(frozen=True)
class Asked:
    """A question and its answer.

    Attributes:
        question: as it was asked, in one form.
        answer: what the graph says.
        words: the same in a sentence.
        cited: the input events it rests on.
        outputs: the outputs it speaks of, by stream.
        route: the associations that it rests on.
        graph: the run as the graph knows it.
        record: the run as the record knows it.
        subject: the case whose events are asked for.
    """

    question: str
    answer: Why | Impact
    words: str
    cited: tuple[Cited, ...]
    outputs: tuple[tuple[str, int], ...]
    route: tuple[Association, ...]
    graph: RunGraph
    record: RunRecord
    subject: str | None = None

    @property
    def coverage(self) -> Coverage:
        """How much of the run the answer rests on."""
        return self.answer.coverage

    @property
    def logs(self) -> dict[str, LogRecord]:
        """The run's logs."""
        return {log.name: self.record.log(log.name) for log in self.graph.logs}

    def redacted(self, shown: Mapping[str, bool], subject: frozenset[tuple[str, int]]) -> Any:
        """The answer without what may not be told of its events.

        Args:
            shown: whether case, activity and time are told of every event.
            subject: the events of which all is told.
        """
        if isinstance(self.answer, Impact):
            return self.answer
        hidden = {word: None for word, told in shown.items() if not told}

        def of(events: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(
                each if (each.log, each.position) in subject else replace(each, **hidden)
                for each in events
            )

        others = self.answer.alternatives
        return replace(
            self.answer,
            events=of(self.answer.events),
            alternatives=None
            if others is None
            else tuple(replace(each, events=of(each.events)) for each in others),
        )


def ask(connection: Connection, root: Path, run: str, question: str) -> Asked:
    """Ask the graph.

    Args:
        connection: where the graph is.
        root: the record's place.
        run: the run's id, or ``latest``.
        question: ``[explain] [PROCESSOR[.PIPE]@]POSITION``, or ``case CASE``.
    """
    graph = find_run(connection, run, root)
    record = RunRecord(root, graph.id)
    word, _, rest = question.strip().partition(" ")
    if word == "case" and rest:
        return _about_case(connection, graph, record, rest.strip())
    output = rest.strip() if word == "explain" and rest else question.strip()
    why = explain(connection, graph.id, output, support=True, most=MOST, record=root)
    _bounded(why.count, why.output.label)
    cited = tuple(
        Cited(each.log, position, each.fields)
        for each in why.inputs
        for position in range(each.lo, each.hi + 1)
    )
    value = "missing" if why.output.kind == "missing" else _told(why.output.value)
    events = "1 input event" if why.count == 1 else f"{why.count:,} input events"
    words = (
        f"{why.output.label} of run {why.run} is {value}. It appeared after input position "
        f"{why.output.moment}, and {events} explain it."
    )
    return Asked(
        f"explain {why.output.label}",
        why,
        words,
        cited,
        ((why.output.name, why.output.position),),
        tuple(why.derivations),
        graph,
        record,
    )


def _about_case(connection: Connection, graph: RunGraph, record: RunRecord, case: str) -> Asked:
    found = {log.name: positions_of(record.log(log.name), case) for log in graph.logs}
    count = sum(len(positions) for positions in found.values())
    if not count:
        msg = (
            f"case {case!r}: expected a case of a log of run {graph.id}; got none; "
            "try whence logs inspect, and look whether the log declares its case"
        )
        raise ParameterError(msg)
    _bounded(count, f"case {case}")
    ranges = {log: of_positions(positions) for log, positions in found.items() if positions}
    answer = impact(connection, graph.id, ranges)
    explained = sum(share.count for share in answer.explained)
    possibly = sum(share.count for share in answer.possibly)
    words = (
        f"Run {graph.id} read {count:,} events of case {case}. They explain {explained:,} outputs; "
        f"{possibly:,} could change if they were other than they are."
    )
    cited = tuple(Cited(log, at, None) for log, several in found.items() for at in several)
    return Asked(f"case {case}", answer, words, cited, (), (), graph, record, case)


def positions_of(log: LogRecord, case: str) -> list[int]:
    """Where the events of a case are; the case is told as text, whatever its kind."""
    column = log.manifest.get("case")
    if column not in log.columns:
        return []
    found: list[int] = []
    for number in range(log.manifest["parts"]):
        table = log.part(number)
        values = table.column(column)
        if pa.types.is_string(values.type):
            same = pc.fill_null(pc.equal(values, case), False)
            found += table.filter(same).column("position").to_pylist()
            continue
        told = records_of(table.select([column]), {column: log.columns[column]})
        places = table.column("position").to_pylist()
        found += [at for at, row in zip(places, told, strict=True) if _same(row[column], case)]
    return found


def _same(value: Any, case: str) -> bool:
    return value is not None and case in (str(value), canonical(value))


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _bounded(count: int, what: str) -> None:
    if count > MOST:
        msg = (
            f"{what}: expected at most {MOST:,} events in one pack; got {count:,}; "
            "try whence export, which has no such bound"
        )
        raise ParameterError(msg)

"""What a pack is about: the question, and what the graph and the record know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.errors import ParameterError
from whence.engine.lineage.association import Association
from whence.engine.lineage.positions import count, of_positions, positions
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.erasing import Erasure, read_erasure
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import canonical, records_of
from whence.exporters.evidence.wording import answer_in_words, erasure_facts
from whence.store import Connection
from whence.store.catalog import RunGraph
from whence.store.questions import Coverage, Impact, Why, explain, impact

__all__ = ["Asked", "Cited", "ask", "positions_of", "same_case"]

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
        question: the question in its normal form.
        answer: the graph's answer.
        words: the same in a sentence.
        cited: the input events it rests on.
        outputs: the outputs that it is about, by stream.
        route: the associations that it rests on.
        graph: the run as the graph knows it.
        record: the run as the record knows it.
        subject: the case whose events are requested.
        erasure: the erasure in question.
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
    erasure: Erasure | None = None

    @property
    def coverage(self) -> Coverage:
        """How much of the run the answer rests on."""
        return self.answer.coverage

    @property
    def logs(self) -> dict[str, LogRecord]:
        return {log.name: self.record.log(log.name) for log in self.graph.logs}

    def redacted(self, shown: Mapping[str, bool], subject: frozenset[tuple[str, int]]) -> Any:
        """The answer without what may not be revealed of its events.

        Args:
            shown: whether case, activity and time of every event are revealed.
            subject: the events of which everything is revealed.
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


def ask(connection: Connection, graph: RunGraph, record: RunRecord, question: str) -> Asked:
    """Ask the graph.

    Args:
        connection: where the graph is.
        graph: the run as the graph knows it.
        record: the run as the record knows it.
        question: ``[explain] [PROCESSOR[.PIPE]@]POSITION``, ``case CASE``, or ``erasure ID``.
    """
    word, _, rest = question.strip().partition(" ")
    if word == "case" and rest:
        return _about_case(connection, graph, record, rest.strip())
    if word == "erasure" and rest:
        return _about_erasure(connection, graph, record, rest.strip())
    output = rest.strip() if word == "explain" and rest else question.strip()
    why = explain(connection, graph.id, output, support=True, most=MOST, record=record.root)
    _bounded(why.count, why.output.label)
    names = [stream.name for stream in graph.outputs]
    if why.output.name not in names:
        msg = (
            f"{output}: expected an output of run {graph.id}; got an event inside the chain; "
            f"try one of {', '.join(names)}"
        )
        raise ParameterError(msg)
    cited = tuple(
        Cited(each.log, position, each.fields)
        for each in why.inputs
        for position in range(each.lo, each.hi + 1)
    )
    return Asked(
        f"explain {why.output.label}",
        why,
        answer_in_words("", why),
        cited,
        ((why.output.name, why.output.position),),
        tuple(why.derivations),
        graph,
        record,
    )


def _about_case(connection: Connection, graph: RunGraph, record: RunRecord, case: str) -> Asked:
    found = {log.name: positions_of(record.log(log.name), case) for log in graph.logs}
    many = sum(len(places) for places in found.values())
    if not many:
        msg = (
            f"case {case!r}: expected a case of a log of run {graph.id}; got none; "
            "try whence logs inspect, and look whether the log declares its case"
        )
        raise ParameterError(msg)
    _bounded(many, f"case {case}")
    ranges = {log: of_positions(places) for log, places in found.items() if places}
    answer = impact(connection, graph.id, ranges)
    cited = tuple(Cited(log, at, None) for log, several in found.items() for at in several)
    words = answer_in_words(f"case {case}", answer)
    return Asked(f"case {case}", answer, words, cited, (), (), graph, record, case)


def _about_erasure(connection: Connection, graph: RunGraph, record: RunRecord, id: str) -> Asked:
    erasure = read_erasure(record.root, id)
    if erasure.done is None:
        msg = (
            f"erasure {erasure.id}: expected one that is done; got one that was stopped on its "
            "way; try whence erase to finish it"
        )
        raise ParameterError(msg)
    ranges = {log.name: erasure.logs[log.id] for log in graph.logs if log.id in erasure.logs}
    if not ranges:
        msg = (
            f"erasure {erasure.id}: expected one that took events of a log of run {graph.id}; "
            f"got another; try --run with one of {', '.join(erasure.runs) or 'its runs'}"
        )
        raise ParameterError(msg)
    many = sum(count(places) for places in ranges.values())
    _bounded(many, f"erasure {erasure.id}")
    answer = impact(connection, graph.id, ranges)
    words = answer_in_words("", answer, erasure_facts(erasure))
    cited = tuple(
        Cited(log, at, None) for log, places in ranges.items() for at in positions(places)
    )
    return Asked(
        f"erasure {erasure.id}", answer, words, cited, (), (), graph, record, erasure=erasure
    )


def positions_of(log: LogRecord, case: str) -> list[int]:
    """Where the events of a case are; the case is a text, whatever its kind."""
    column = log.manifest.case
    if column not in log.columns:
        return []
    found: list[int] = []
    for number in range(log.manifest.parts):
        table = log.part(number)
        rows = same_case(log, table, column, case)
        found += table.column("position").take(pa.array(rows, pa.int64())).to_pylist()
    return found


def same_case(log: LogRecord, table: pa.Table, column: str, case: str) -> list[int]:
    """The rows of a table of a log's events that are of a case."""
    values = table.column(column)
    if log.columns[column] == "text":
        same = pc.fill_null(pc.equal(values, case), False).to_numpy()
        return [int(row) for row in np.flatnonzero(same)]
    told = records_of(table.select([column]), {column: log.columns[column]})
    return [at for at, row in enumerate(told) if _same(row[column], case)]


def _same(value: Any, case: str) -> bool:
    return value is not None and case in (str(value), canonical(value))


def _bounded(many: int, what: str) -> None:
    if many > MOST:
        msg = (
            f"{what}: expected at most {MOST:,} events in one pack; got {many:,}; "
            "try whence export, which has no such bound"
        )
        raise ParameterError(msg)

"""From what the store answers to what an export is made from."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import singledispatch
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.language.stream_roles import StreamRole
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.positions import Intervals, joined
from whence.engine.record import RunRecord
from whence.exporters.describing import facts
from whence.exporters.model import Answer, Edge, Event, Finding, Log, Run, Stream, Witness
from whence.exporters.prov.statements import VALUE, Attributes, clean
from whence.exporters.recorded import erased_of, json_text, run_of
from whence.exporters.values import value_attributes, written_value
from whence.exporters.vocabulary import term
from whence.store.catalog import RunGraph
from whence.store.questions import (
    Coverage,
    Impact,
    InputRange,
    LogShare,
    NeverMatters,
    OutputEvent,
    OutputShare,
    Why,
)

__all__ = ["About", "answer_of", "run_about"]

About = Run | RunGraph | RunRecord
"""Where the run of a question is described: the graph, the record, or given by the caller."""


def run_about(about: About) -> Run:
    """What is known of the run in question."""
    if isinstance(about, Run):
        return about
    if isinstance(about, RunRecord):
        return run_of(about)
    return Run(
        id=about.id,
        logs=tuple(
            Log(name, log.id, log.length) for log in about.logs for name in sorted(log.names)
        ),
        streams=tuple(
            Stream(s.name, s.processor, s.pipe, s.role, *_counts(s.role, s.length, s.tracked), s.w)
            for s in about.streams
        ),
        started=datetime.fromisoformat(about.started),
        erased=erased_of(about.erasures),
        facts=facts(status=about.status, options=json_text(about.options.json())),
    )


def _counts(role: StreamRole, length: int, tracked: int) -> tuple[int | None, int | None]:
    return (length, tracked) if role.has_events else (None, None)


class _Each:
    """Made anew on each iteration, so that long answers take no memory."""

    def __init__(self, make: Callable[[], Iterator[Any]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Any]:
        return self._make()


@singledispatch
def answer_of(answer: object, run: Run) -> Answer:
    """The answer in the form that is exported; each kind of answer has its own way."""
    msg = (
        f"an export: expected an answer; got {type(answer).__name__}; "
        "try what explain, never_matters or impact give"
    )
    raise ParameterError(msg)


@answer_of.register
def _(answer: Why, run: Run) -> Answer:
    told = answer.output
    output = (told.name, told.position)
    said = (*_value(told), (term("moment"), told.moment))
    support = answer.support
    question = f"explain {told.name}@{told.position}" + ("" if support is None else ", support")

    others = [each.ranges for each in answer.alternatives or ()]
    every = others if len(others) > 1 else []

    def events() -> Iterator[Event]:
        yield Event(*output, said)
        known = {(each.log, each.position): each for each in answer.events}
        for other in answer.alternatives or ():
            known.update({(each.log, each.position): each for each in other.events})
        told = (*answer.inputs, *(support or ()), *(each for ranges in every for each in ranges))
        for log, ranges in _places(told).items():
            for lo, hi in ranges:
                for position in range(lo, hi + 1):
                    one = known.get((log, position))
                    columns = {} if one is None else _columns(one.case, one.activity, one.time)
                    yield Event(LOG_PREFIX + log, position, _said(columns))

    def edges() -> Iterator[Edge]:
        enough = None if support is None else _places(support)
        parts = [_places(ranges) for ranges in every]
        for each in answer.inputs:
            for position in range(each.lo, each.hi + 1):
                alone = enough is not None and not _within(enough, each.log, position)
                relation: Any = "trigger" if alone else "explains"
                place = (LOG_PREFIX + each.log, position)
                numbers = _numbers(parts, each.log, position)
                yield Edge(output, place, relation, each.fields, witness=numbers)
        why = _places(answer.inputs)
        told = _places(each for ranges in every for each in ranges)
        for log, ranges in told.items():
            # What only other alternatives name; which of its fields matter is not known.
            for lo, hi in ranges:
                for position in range(lo, hi + 1):
                    if not _within(why, log, position):
                        numbers = _numbers(parts, log, position)
                        yield Edge(output, (LOG_PREFIX + log, position), witness=numbers)
        for each in support or ():
            for position in range(each.lo, each.hi + 1):
                if not _within(why, each.log, position) and not _within(told, each.log, position):
                    place = (LOG_PREFIX + each.log, position)
                    yield Edge(output, place, "supports", each.fields)

    return Answer(
        run,
        question,
        _Each(events),
        _Each(edges),
        facts=(*_coverage(answer.coverage), *facts(more=answer.more_alternatives or None)),
        witnesses=tuple(
            Witness(
                number,
                output,
                tuple(
                    (LOG_PREFIX + log, lo, hi)
                    for log, places in _places(ranges).items()
                    for lo, hi in places
                ),
            )
            for number, ranges in enumerate(every)
        ),
    )


def _numbers(parts: list[dict[str, Intervals]], log: str, position: int) -> tuple[int, ...] | None:
    """The alternatives that an input is part of; none if there is only one."""
    found = tuple(n for n, part in enumerate(parts) if _within(part, log, position))
    return found if parts else None


@answer_of.register
def _(answer: NeverMatters, run: Run) -> Answer:
    findings = (_logs("certain", answer.certain), _logs("softer", answer.softer))
    return Answer(run, "never matters", findings=findings, facts=_coverage(answer.coverage))


@answer_of.register
def _(answer: Impact, run: Run) -> Answer:
    asked = _logs("inputs", answer.inputs)
    words = ", ".join(
        f"{place.removeprefix(LOG_PREFIX)}:{lo}-{hi}" for place, lo, hi in asked.ranges
    )
    return Answer(
        run,
        f"impact of {words}",
        findings=(
            asked,
            _outputs("unaffected", answer.unaffected),
            _outputs("possibly affected", answer.possibly),
            _outputs("explained by the inputs", answer.explained),
            _outputs("untracked", answer.untracked),
        ),
        facts=(
            *_coverage(answer.coverage),
            *((term("mayAppear"), name) for name in answer.may_appear),
        ),
    )


def _value(told: OutputEvent) -> Attributes:
    if told.kind is None:
        return value_attributes(told.value)
    try:
        json.loads(told.value)
    except json.JSONDecodeError:
        # The graph keeps the beginning of long values only; the record has all of it.
        return ((VALUE, clean(told.value)), *facts(kind=told.kind, cut=True))
    return written_value(told.kind, told.value)


def _places(ranges: Iterable[InputRange]) -> dict[str, Intervals]:
    """Each input once, whatever fields of it matter."""
    pieces: dict[str, list[tuple[int, int]]] = {}
    for each in ranges:
        pieces.setdefault(each.log, []).append((each.lo, each.hi))
    return {log: joined(some) for log, some in pieces.items()}


def _within(places: dict[str, Intervals], log: str, position: int) -> bool:
    ranges = places.get(log, ())
    at = bisect_left(ranges, position, key=lambda each: each[1])
    return at < len(ranges) and ranges[at][0] <= position


def _columns(case: Any, activity: Any, time: Any) -> dict[str, Any]:
    return {"case": case, "activity": activity, "time": time}


def _said(columns: dict[str, Any]) -> Attributes:
    return tuple(
        (term(word), written)
        for word, value in columns.items()
        for key, written in value_attributes(value)
        if key == VALUE
    )


def _coverage(coverage: Coverage) -> Attributes:
    return facts(
        coverage=json_text(
            {
                "outputs": coverage.outputs,
                "tracked": coverage.tracked,
                "detail": coverage.detail,
                "witnesses": coverage.witnesses,
                "where": coverage.where,
                "status": coverage.status,
                "loaded": coverage.loaded,
                **({"erased": dict(coverage.erased)} if coverage.erased else {}),
            }
        )
    )


def _logs(name: str, shares: Iterable[LogShare]) -> Finding:
    return Finding(name, tuple((LOG_PREFIX + s.log, lo, hi) for s in shares for lo, hi in s.ranges))


def _outputs(name: str, shares: Iterable[OutputShare]) -> Finding:
    return Finding(name, tuple((s.output, lo, hi) for s in shares for lo, hi in s.ranges))

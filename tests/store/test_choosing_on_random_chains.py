"""Events that are searched for, and outputs that are chosen: as the interpreter has them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from whence.engine.errors import ParameterError
from whence.engine.interpreter import Output, interpret
from whence.engine.language.chain import Log
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.record import ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.store import Connection
from whence.store.loading import load
from whence.store.questions import (
    Selection,
    contribution,
    explain,
    explain_first,
    impact,
    never_matters,
    search,
    trace,
)

pytestmark = pytest.mark.neo4j

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
SEEDS = range(300, 420) if FULL else range(300, 305)
FIRST_DAY = datetime(2026, 3, 1, tzinfo=UTC)
CASES, ACTS = ("A", "B", "C"), ("open", "close")
MOST = 3


@dataclass
class Drawn:
    """A run in the graph whose logs have cases, activities and times; the same in memory."""

    graph: Connection
    root: Path
    run: str
    logs: dict[str, list[Any]]
    outputs: list[Output]

    @property
    def mapped(self) -> Iterator[tuple[str, list[Any]]]:
        """The logs whose events have columns."""
        yield from ((name, log) for name, log in self.logs.items() if _has_columns(log))

    def of(self, pipe: str) -> list[Output]:
        return [output for output in self.outputs if output.name == pipe]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_found_and_chosen_is_the_interpreters(
    graph: Connection, tmp_path: Path, seed: int
) -> None:
    drawn = _drawn(graph, tmp_path, seed)
    _input_events_are_found(drawn)
    _outputs_are_found_by_value(drawn)
    _outputs_are_chosen_by_value(drawn)
    _outputs_are_chosen_by_the_case_or_time_they_came_at(drawn)
    _with_the_record_moved_away_ids_and_counts_are_the_same(drawn)


def _drawn(graph: Connection, tmp_path: Path, seed: int) -> Drawn:
    case, random = random_case(seed), Random(seed)
    logs: dict[str, list[Any]] = {}
    for name, events in case.logs.items():
        logs[name] = list(events)
        if _has_columns(events):
            logs[name] = [{**event, **_columns(random, at)} for at, event in enumerate(events)]
    chain, chunk = case.chain(), 3 if seed % 2 else 100
    with refusals_skipped():
        kept = {
            name: ingest(tmp_path, name, logs[name], chunk=chunk, declared=_declared(logs[name]))
            for name in chain.inputs
        }
        options = RunOptions(closed=case.closed, chunk=chunk)
        record = run_recorded(tmp_path, chain, kept, options)
    load(tmp_path, record.id, graph)
    result = interpret(chain, logs, tracker=MemoryTracker("first"), closed=case.closed)
    return Drawn(graph, tmp_path, record.id, logs, list(result.outputs))


def _has_columns(events: list[Any]) -> bool:
    return bool(events) and all(isinstance(event, dict) for event in events)


def _columns(random: Random, at: int) -> dict[str, Any]:
    hours = timedelta(hours=10 * at)
    return {"c": random.choice(CASES), "act": random.choice(ACTS), "at": FIRST_DAY + hours}


def _declared(events: list[Any]) -> Log | None:
    return Log(None, case="c", activity="act", time="at") if _has_columns(events) else None


def _input_events_are_found(drawn: Drawn) -> None:
    day = FIRST_DAY + timedelta(hours=25)
    wanted: list[tuple[dict[str, Any], Callable[[dict[str, Any]], bool]]] = [
        *(({"case": c}, lambda e, c=c: e["c"] == c) for c in CASES),
        ({"activity": "open", "case": "A"}, lambda e: e["act"] == "open" and e["c"] == "A"),
        ({"since": day.isoformat()}, lambda e: e["at"] >= day),
        (
            {"until": day.isoformat(), "activity": "close"},
            lambda e: e["at"] <= day and e["act"] == "close",
        ),
        ({"where": "act = 'open'"}, lambda e: e["act"] == "open"),
    ]
    for name, events in drawn.mapped:
        for given, holds in wanted:
            chosen = Selection(**given, log=name)
            places = [at for at, event in enumerate(events) if holds(event)]
            if not places:
                with pytest.raises(ParameterError, match=r"expected .*; got none .*; try "):
                    search(drawn.graph, drawn.run, chosen, record=drawn.root)
                continue
            found = search(drawn.graph, drawn.run, chosen, most=MOST, record=drawn.root)
            assert [event.position for event in found.events] == places[:MOST], given
            assert (found.count, found.more) == (len(places), len(places) > MOST)
            assert {event.case for event in found.events} <= {events[at]["c"] for at in places}


def _outputs_are_found_by_value(drawn: Drawn) -> None:
    values: dict[str, Any] = {
        str(o.value).lower(): o.value for o in drawn.outputs if isinstance(o.value, bool)
    }
    values |= {str(o.value): o.value for o in drawn.outputs if type(o.value) in (int, str)}
    for text, value in values.items():
        same = [o for o in drawn.outputs if _alike(o.value, value)]
        found = search(drawn.graph, drawn.run, value=text, most=len(drawn.outputs) + 1)
        told = [(e.stream, e.position, e.moment) for e in found.events]
        assert sorted(told) == sorted((o.name, o.position, o.moment) for o in same), text
        assert not found.more
        few = search(drawn.graph, drawn.run, value=text, most=1)
        assert (len(few.events), few.more) == (1, len(same) > 1)


def _outputs_are_chosen_by_value(drawn: Drawn) -> None:
    for pipe in {output.name for output in drawn.outputs}:
        outputs = drawn.of(pipe)
        kinds = {type(output.value) for output in outputs}
        if kinds not in ({bool}, {int}):
            continue
        for value in {output.value for output in outputs}:
            where = f"value = {str(value).lower()}"
            same = [o.position for o in outputs if o.value == value]
            found = explain_first(drawn.graph, drawn.run, pipe, where=where, first=2)
            assert [why.output.position for why in found.answers] == same[:2], where
            assert found.more == (len(same) > 2)


def _outputs_are_chosen_by_the_case_or_time_they_came_at(drawn: Drawn) -> None:
    day = FIRST_DAY + timedelta(hours=25)
    for name, events in drawn.mapped:
        ways: list[tuple[Selection, Callable[[dict[str, Any]], bool]]] = [
            (Selection(case="A", log=name), lambda e: e["c"] == "A"),
            (Selection(since=day.isoformat(), log=name), lambda e: e["at"] >= day),
        ]
        for chosen, holds in ways:
            places = {at for at, event in enumerate(events) if holds(event)}
            for pipe in {output.name for output in drawn.outputs}:
                same = [o.position for o in drawn.of(pipe) if o.moment in places]
                if not places or not same:
                    with pytest.raises(ParameterError, match=r"expected .*; got none .*; try "):
                        explain_first(drawn.graph, drawn.run, pipe, at=chosen)
                    continue
                found = explain_first(drawn.graph, drawn.run, pipe, at=chosen, first=2)
                assert [why.output.position for why in found.answers] == same[:2]
                assert found.more == (len(same) > 2)


def _with_the_record_moved_away_ids_and_counts_are_the_same(drawn: Drawn) -> None:
    with_record = list(_answers(drawn, drawn.root))
    drawn.root.joinpath("runs").rename(drawn.root / "moved")
    drawn.root.joinpath("logs").rename(drawn.root / "moved-logs")
    assert list(_answers(drawn, drawn.root)) == with_record
    assert len(with_record) >= 3


def _answers(drawn: Drawn, record: Path) -> Iterator[Any]:
    graph, run, last = drawn.graph, drawn.run, max(map(len, drawn.logs.values())) - 1
    (log, events), *_ = drawn.logs.items()
    yield never_matters(graph, run, by="field", record=record)
    yield impact(graph, run, {log: [(0, min(last, len(events) - 1) // 2)]}, record=record)
    yield contribution(graph, run, record=record)
    yield trace(graph, f"{log}@0", run=run, record=record)
    for output in drawn.outputs[:2]:
        name = f"{output.name}@{output.position}"
        yield explain(graph, run, name, support=True, record=record)
    for name, _ in drawn.mapped:
        chosen = Selection(since=FIRST_DAY.isoformat(), log=name)
        yield search(graph, run, chosen, record=record)
        yield impact(graph, run, chosen, record=record)


def _alike(one: Any, other: Any) -> bool:
    """Whether a text means both; numbers are alike whatever they are written as."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, (int, float, str)) and str(one) == str(other)
    return False

"""Compare: two runs in the graph against two runs in memory."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.engine.corruptor import Corruptor, equal
from tests.engine.examples import lifecycle
from tests.engine.random_chains import random_case, refusals_skipped
from tests.store._support.runs_in_neo4j import Kept, as_inputs, keep
from whence.engine import ApplyFunction, Chain, Slice
from whence.engine.errors import StoreError
from whence.engine.language.log import Log
from whence.engine.lineage.terms import flatten
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.store import Connection
from whence.store.loading import load
from whence.store.loading.values import LONGEST_TEXT
from whence.store.questions import Comparison, compare

pytestmark = pytest.mark.neo4j

CHAIN = Chain.of(Slice("ok", by="case", of=lifecycle(), combine="and"))
ROWS = ["A create", "B create", "A approve", "B pay", "A pay", "A approve"]


def events_of(rows: list[str]) -> list[Any]:
    return [dict(zip(("case", "action"), row.split(), strict=True)) for row in rows]


def loaded(
    graph: Connection, root: Path, rows: list[str], chain: Chain = CHAIN, ids: bool = False
) -> RunRecord:
    events = events_of(rows)
    if ids:
        events = [{**event, "no": number} for number, event in enumerate(events)]
    log = ingest(root, "log", events, declared=Log(id="no") if ids else None)
    record = run_recorded(root, chain, {"log": log}, RunOptions())
    load(root, record.id, graph)
    return record


def told(answer: Comparison) -> list[tuple[Any, ...]]:
    return [
        (
            each.how,
            None if each.old is None else (each.old.position, each.old.value),
            None if each.new is None else (each.new.position, each.new.value),
            set(as_inputs(each.old_inputs)),
            set(as_inputs(each.new_inputs)),
        )
        for each in answer.outputs
    ]


@pytest.mark.parametrize("ids", [False, True], ids=["by content", "by declared id"])
def test_a_changed_value_is_found_behind_what_it_changed(
    graph: Connection, tmp_path: Path, ids: bool
) -> None:
    old = loaded(graph, tmp_path, ROWS, ids=ids)
    new = loaded(graph, tmp_path, [*ROWS[:3], "B approve", *ROWS[4:]], ids=ids)
    answer = compare(graph, old.id, new.id, record=tmp_path)
    assert (answer.chain_changed, answer.logs_changed, answer.paired_by) == (
        False,
        True,
        "position",
    )
    (log,) = answer.logs
    assert (log.changed, log.now, log.removed, log.added) == (((3, 3),), ((3, 3),), (), ())
    assert log.matched_by == ("no" if ids else "content")
    changed = {("log", 3)}
    assert told(answer) == [
        ("changed", (at, False), (at, True), changed, changed) for at in (3, 4, 5)
    ]
    assert answer.pipes[0].same == 3


def test_outputs_after_inserted_events_are_paired_by_event(
    graph: Connection, tmp_path: Path
) -> None:
    old = loaded(graph, tmp_path, ROWS)
    new = loaded(graph, tmp_path, [*ROWS[:3], "B approve", *ROWS[3:]])
    answer = compare(graph, old.id, new.id, record=tmp_path)
    (log,) = answer.logs
    assert (answer.paired_by, log.added, log.removed, log.changed) == ("event", ((3, 3),), (), ())
    now = {("log", 3)}
    assert told(answer) == [
        *(("changed", (at, False), (at + 1, True), set(), now) for at in (3, 4, 5)),
        ("appeared", None, (3, True), set(), now),
    ]
    assert compare(graph, new.id, old.id, record=tmp_path).pipes[0].vanished == 1


def test_a_changed_chain_is_explained_by_what_each_run_leans_on(
    graph: Connection, tmp_path: Path
) -> None:
    positive, negative = (
        Chain.of(ApplyFunction("is", f"action = '{word}'")) for word in ("create", "pay")
    )
    old = loaded(graph, tmp_path, ROWS, positive)
    new = loaded(graph, tmp_path, ROWS, negative)
    answer = compare(graph, old.id, new.id)
    assert (answer.chain_changed, answer.logs_changed) == (True, False)
    assert [row[1] for row in told(answer)] == [(0, True), (1, True), (3, False), (4, False)]
    assert all(row[3] == row[4] == {("log", row[1][0])} for row in told(answer))
    assert compare(graph, old.id, new.id, record=tmp_path) == answer
    assert compare(graph, old.id, old.id).count == 0
    assert len(compare(graph, old.id, new.id, most=3).outputs) == 3


@pytest.mark.parametrize("record", ["record", "elsewhere"])
def test_long_texts_that_differ_in_the_end_are_not_the_same(
    graph: Connection, tmp_path: Path, record: str
) -> None:
    root = tmp_path / "record"
    event = {name: "é" * LONGEST_TEXT + name for name in ("a", "b")}
    log = ingest(root, "log", [event])
    runs = [
        run_recorded(root, Chain.of(ApplyFunction("says", name)), {"log": log}, RunOptions())
        for name in ("a", "a", "b")
    ]
    for each in runs:
        load(root, each.id, graph)
    one, same, other = (each.id for each in runs)
    assert compare(graph, one, same, record=tmp_path / record).count == 0
    assert compare(graph, one, other, record=tmp_path / record).pipes[0].changed == 1


def test_without_the_record_only_runs_over_one_log_are_compared(
    graph: Connection, tmp_path: Path
) -> None:
    old = loaded(graph, tmp_path, ROWS)
    new = loaded(graph, tmp_path, ROWS[:5])
    with pytest.raises(StoreError, match="expected it in the record"):
        compare(graph, old.id, new.id, record=tmp_path / "elsewhere")


@pytest.mark.parametrize("seed", range(8))
def test_it_says_what_the_tracker_says(graph: Connection, tmp_path: Path, seed: int) -> None:
    case = random_case(seed + 900)
    options = RunOptions(closed=case.closed)
    corruptor = Corruptor(case, Random(seed))
    cells = Random(seed).sample(corruptor.cells, min(2, len(corruptor.cells)))
    logs, changed = corruptor.corrupt(cells)
    with refusals_skipped():
        old = keep(graph, tmp_path, case.chain(), case.logs, options)
        new = keep(graph, tmp_path, case.chain(), logs, options)
    if not changed:
        pytest.skip("nothing to change in this case")
    answer = compare(graph, old.record.id, new.record.id, most=1000, record=tmp_path)
    if answer.paired_by != "position":
        pytest.skip("equal events changed places, so that outputs are paired otherwise")
    _check(answer, old, new)


def _check(answer: Comparison, old: Kept, new: Kept) -> None:
    sides: list[tuple[Kept, set[tuple[str, int]]]] = []
    for kept, parts in ((old, ("changed", "removed")), (new, ("now", "added"))):
        places = {
            (log.log, at)
            for log in answer.logs
            for part in parts
            for lo, hi in getattr(log, part)
            for at in range(lo, hi + 1)
        }
        sides.append((kept, places))
    wanted = {
        place
        for place in {*old.events, *new.events}
        if place not in old.events
        or place not in new.events
        or not equal(old.events[place].value, new.events[place].value)
    }
    found = {}
    for each in answer.outputs:
        said = each.old or each.new
        assert said is not None
        found[each.output, said.position] = each
    assert set(found) == wanted
    for place, each in found.items():
        reasons = [
            [
                set(flatten(kept.events[place].event, support=support)) & places
                if place in kept.events
                else set()
                for kept, places in sides
            ]
            for support in (False, True)
        ]
        expected = reasons[0] if any(reasons[0]) else reasons[1]
        # The guarantee from the other side: what changed leans on something that changed.
        assert place not in old.events or reasons[1][0]
        assert [set(as_inputs(each.old_inputs)), set(as_inputs(each.new_inputs))] == expected

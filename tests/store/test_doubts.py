"""More in doubt than values widens the answer: by brute force, nothing unaffected changes."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.engine.corruptor import equal
from tests.engine.random_chains import random_case, refusals_skipped
from tests.store._support.runs_in_neo4j import keep
from whence.engine import ApplyFunction, Cumulate, Slice
from whence.engine.errors import WhenceError
from whence.engine.interpreter import interpret
from whence.engine.language.chain import Chain
from whence.engine.lineage.positions import positions
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.questions import Impact, impact

pytestmark = pytest.mark.neo4j

Logs = dict[str, list[Any]]


def changed(logs: Logs, log: str, at: int, doubt: str, random: Random) -> Logs:
    """The logs with an event as it may have been, if this is in doubt."""
    events = list(logs[log])
    other = random.choice(events)
    if doubt == "order":
        events.insert(random.randrange(len(events)), events.pop(at))
    elif not isinstance(events[at], dict):
        events[at] = None if doubt == "missing" else other
    elif doubt == "keys":
        events[at] = dict(other) if random.random() < 0.5 else {**events[at], "k": other.get("k")}
    else:
        events[at] = {n: None if random.random() < 0.6 else v for n, v in events[at].items()}
    return {**logs, log: events}


def stands(found: Impact) -> set[tuple[str, int]]:
    return {(share.output, at) for share in found.unaffected for at in positions(share.ranges)}


@pytest.mark.parametrize("seed", range(12))
def test_nothing_unaffected_changes_whatever_is_in_doubt(
    graph: Connection, tmp_path: Path, seed: int
) -> None:
    case = random_case(seed, ("slice", "cumulate", "apply", "filter") if seed % 2 else ())
    chain, random = case.chain(), Random(seed)
    logs: Logs = {name: list(events) for name, events in case.logs.items()}
    with refusals_skipped():
        kept = keep(graph, tmp_path, chain, logs, RunOptions(closed=case.closed))
    before = {(o.name, o.position): o.value for o in kept.result.outputs}
    log = random.choice([name for name in logs if logs[name]] or ["log"])
    if not logs[log]:
        pytest.skip("no event")
    at = random.randrange(len(logs[log]))
    for doubt in ("keys", "order", "missing"):
        found = impact(graph, kept.record.id, {log: [(at, at)]}, **{f"{doubt}_corrupt": True})  # type: ignore[arg-type]
        assert found.doubts == (doubt,)
        assert [share.count for share in found.inputs if share.log == log] == [1]
        safe = stands(found)
        narrow = impact(graph, kept.record.id, {log: [(at, at)]})
        assert safe <= stands(narrow)
        for _ in range(25):
            try:
                result = interpret(chain, changed(logs, log, at, doubt, random), closed=case.closed)
            except WhenceError:
                continue  # a change that makes the chain fail is outside the guarantee
            after = {(o.name, o.position): o.value for o in result.outputs}
            for place in safe:
                assert place in after, (doubt, place)
                assert equal(after[place], before[place]), (doubt, place)
            new = {name for name, _ in after.keys() - before.keys()}
            assert new <= set(found.may_appear), doubt


def test_each_doubt_widens_where_it_has_to(graph: Connection, tmp_path: Path) -> None:
    log = [{"k": "a", "x": 1}, {"k": "b", "x": 0}, {"k": "a", "x": 2}, {"k": "c", "x": 3}]
    ok = Slice("ok", by="k", of=ApplyFunction("is", "x >= 0"), combine="or")
    product = ApplyFunction("x", "x") | Cumulate("all", "product")
    by_key = keep(graph, tmp_path / "1", ok, {"log": log}, RunOptions())
    product_run = keep(graph, tmp_path / "2", Chain.of(product), {"log": log}, RunOptions())

    def possibly(run: str, at: int, **doubts: Any) -> list[int]:
        found = impact(graph, run, {"log": [(at, at)]}, **doubts)
        return [at for share in found.possibly for at in positions(share.ranges)]

    first, second = by_key.record.id, product_run.record.id
    # One slice is enough for "or"; to which slice another event belongs does matter.
    assert possibly(first, 1) == possibly(first, 1, missing_corrupt=True) == []
    assert possibly(first, 1, keys_corrupt=True) == [1, 2, 3]
    assert possibly(first, 1, order_corrupt=True) == [0, 1, 2, 3]
    # A zero alone supports a product, unless the others may be missing.
    assert possibly(second, 2) == possibly(second, 2, keys_corrupt=True) == []
    assert possibly(second, 2, missing_corrupt=True) == [2, 3]

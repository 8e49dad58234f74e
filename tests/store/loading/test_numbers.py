"""Numbers and keys: inside a Slice there is room for more than 65,536 events."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.examples import lifecycle
from tests.store._support.runs_in_neo4j import keep, record_of
from whence.engine import ApplyFunction, Chain, Slice
from whence.engine.errors import StoreError
from whence.engine.interpreter import extract
from whence.engine.lineage.association import INNER_WIDTH
from whence.engine.record import ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.store import Connection
from whence.store.care import check
from whence.store.catalog import find_run
from whence.store.loading import load, parts
from whence.store.loading.numbers import number, take_numbers
from whence.store.places import WIDE, key_of, last_position, no_of, position_of
from whence.store.questions import explain, impact, never_matters

MANY = 70_000
"""More than 2^16: times 2^24, their positions need more than 40 bits."""


@pytest.mark.parametrize("no", [1, WIDE - 1, WIDE + 256, 2 * WIDE - 256])
def test_keys_come_apart_again(no: int) -> None:
    for position in (0, 1, 2**24, last_position(no)):
        key = key_of(no, position)
        assert (no_of(key), position_of(key)) == (no, position)
        assert key < 2**63
    assert key_of(no, last_position(no)) + 1 == key_of(no + (1 if no < WIDE else 256), 0)


def test_room_inside_a_slice_is_for_sixteen_million_events() -> None:
    assert last_position(WIDE + 256) + 1 == 2**24 * INNER_WIDTH


def test_each_counter_gives_its_own_numbers_until_there_are_no_more() -> None:
    given = take_numbers("abc", frozenset("b"), lambda counter, many: 5)
    assert given == {"a": 5, "c": 6, "b": WIDE + 5 * 256}
    with pytest.raises(StoreError, match=r"expected a number that is free .* got 4,194,303 in use"):
        number("no", WIDE)
    with pytest.raises(StoreError, match="streams inside a Slice; got 16,383 in use"):
        number("wide", WIDE >> 8)


@pytest.mark.neo4j
def test_positions_of_more_than_forty_bits_lose_nothing(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract, "INNER_WIDTH", 2**44)
    chain = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
    actions = ["create", "create", "approve", "pay", "approve", "pay", "pay", "create"]
    events = [{"case": "ABC"[n % 3], "action": action} for n, action in enumerate(actions)]
    for chunk in (3, 8):
        kept = keep(graph, tmp_path, chain, {"log": events}, RunOptions(chunk=chunk))
        kept.check_explain()
        kept.check_never_matters()
        kept.check_impact({("log", 2)})
        kept.check_columns([("log", 5), ("log", 1)])
    assert check(graph, tmp_path).findings == ()


@pytest.mark.neo4j
@pytest.mark.full
def test_a_slice_over_more_than_65536_events_loses_nothing(
    graph: Connection, tmp_path: Path
) -> None:
    """Each case has two events; only the last case is ever wrong."""
    events = [{"case": n // 2, "x": int(n < MANY - 1)} for n in range(MANY)]
    chain = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "x = 1"), combine="and"))
    logs = {"log": ingest(tmp_path, "log", events, chunk=16_384)}
    record = run_kernels(tmp_path, chain, logs, RunOptions(chunk=16_384))
    load(tmp_path, record.id, graph)
    true, false = explain(graph, record.id, str(MANY - 2)), explain(graph, record.id, str(MANY - 1))
    assert (true.count, false.count) == (MANY // 2, 1)
    assert true.inputs[-1].hi == MANY - 2
    assert false.inputs[0].lo == MANY - 1
    never = never_matters(graph, record.id)
    assert [share.count for share in (*never.certain, *never.softer)] == [0, 0]
    touched = impact(graph, record.id, {"log": [(MANY - 3, MANY - 3)]})
    assert touched.possibly[0].ranges == ((MANY - 3, MANY - 2),)
    assert touched.unaffected[0].count == MANY - 2
    inner = next(s for s in find_run(graph, record.id).streams if s.w > 1)
    assert inner.no >= WIDE
    rows = graph.read(
        "MATCH (e:Event) WHERE e.key >= $first AND e.key <= $last RETURN count(e) AS n",
        first=key_of(inner.no, 0),
        last=key_of(inner.no, last_position(inner.no)),
    )
    assert rows == [{"n": MANY}]


@pytest.mark.neo4j
def test_what_has_no_room_is_refused_before_it_is_written(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "last_position", lambda no: 5 * INNER_WIDTH - 1)
    chain = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "x = 1"), combine="and"))
    events = [{"case": n, "x": 1} for n in range(9)]
    record = record_of(tmp_path, chain, {"log": events}, RunOptions(chunk=3))
    with pytest.raises(StoreError, match=r"all/ok: expected events up to position 5 .*; try "):
        load(tmp_path, record.id, graph)
    assert not find_run(graph, record.id).loaded
    monkeypatch.undo()
    assert load(tmp_path, record.id, graph).complete
    assert check(graph, tmp_path).findings == ()


@pytest.mark.neo4j
def test_a_run_whose_keys_an_older_release_mixed_up_is_refused(
    graph: Connection, tmp_path: Path
) -> None:
    chain = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "x = 1"), combine="and"))
    events = [{"case": n, "x": 1} for n in range(9)]
    record = record_of(tmp_path, chain, {"log": events}, RunOptions(chunk=3))
    load(tmp_path, record.id, graph)
    assert explain(graph, record.id, "8").count == 9
    # As a graph looks that was loaded before streams inside a Slice had numbers of their own.
    graph.write("MATCH (c:Collection) WHERE c.no >= $wide SET c.no = c.no % 256 + 100", wide=WIDE)
    assert find_run(graph, record.id).loaded
    graph.write("MATCH (c:Collection) WHERE c.length = 9 SET c.length = 65537")
    expected = r"expected keys that distinguish all events of all/ok; .*; try whence store rebuild"
    with pytest.raises(StoreError, match=expected):
        explain(graph, record.id, "8")
    assert find_run(graph, record.id, as_it_is=True).loaded

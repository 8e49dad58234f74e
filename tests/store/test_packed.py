"""Packed chunks: nothing is lost in them, and what is deep or wide is little work."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

from whence.engine.record.manifest import RunChoices, StreamRole
from whence.store import Connection
from whence.store.catalog import RunGraph, StoredLog, StoredStream
from whence.store.cypher import cypher
from whence.store.loading.register import prepare_schema
from whence.store.packed import BAND, HEADS, Packing, bounds_of, unpack
from whence.store.places import LAST_POSITION, Places, key_of
from whence.store.verbs import PackedChunks, down, up

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
DEEP = 100_000
LOG, STEP, OUT = 1, 2, 3


def _run(length: int) -> RunGraph:
    return RunGraph(
        *("r", "complete", True, 5_000, RunChoices(), ""),
        (StoredLog("l", LOG, ("log",), length, True, {}),),
        (
            StoredStream("step", STEP, "step", 0, StreamRole.STEP, 1, length, length),
            StoredStream("out", OUT, "out", 0, StreamRole.OUTPUT, 1, length, length),
        ),
    )


@pytest.mark.parametrize("seed", range(30))
def test_whatever_is_packed_comes_back(seed: int) -> None:
    random = Random(seed)
    packing = Packing()
    edges: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for _ in range(random.randrange(4)):
        type = random.choice(("wasDerivedFrom", "wasInfluencedBy"))
        told: dict[str, Any] = random.choice(({}, {"fields": ["é", "b"]}, {"trigger": True}))
        wide = random.choice((3, 300, 1 << 36))
        some = [
            (key_of(random.randint(1, 3), random.randrange(wide)), key_of(7, random.randrange(9)))
            for _ in range(random.randint(1, 40))
        ]
        packing.edges(type, told, *zip(*some, strict=True))
        edges.setdefault((type, repr(told)), []).extend(some)
    heads = [[key_of(4, n << 24), 5, n, random.choice((-1, n + 3))] for n in range(seed % 4)]
    packing.heads(heads)
    bands = [[6, 0, 9, 7, -2, 0, 1, random.choice((0, 1))]] * (seed % 3)
    packing.bands("wasDerivedFrom", {"copy": True}, bands)
    packed, numbers = packing.packed()
    groups = list(unpack(packed))
    assert bounds_of(numbers) == [group.bounds for group in groups]
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for group in groups:
        if group.type == HEADS:
            lo, inner, hi = (column.tolist() for column in group.columns)
            back = [
                [key_of(group.target, i), group.source, a, b]
                for a, i, b in zip(lo, inner, hi, strict=True)
            ]
            assert back == heads
            assert group.bounds.last == (LAST_POSITION if -1 in hi else max(hi))
        elif group.type.endswith(BAND):
            assert np.stack(group.columns, axis=1).tolist() == [[b[1], b[2], *b[4:]] for b in bands]
            assert (group.bounds.low, group.bounds.high) == (0, 9 * bands[0][7])
        else:
            nos = group.source, group.target
            pairs = zip(*(column.tolist() for column in group.columns), strict=True)
            keys = [(key_of(nos[0], one), key_of(nos[1], other)) for one, other in pairs]
            found.setdefault((group.type, repr(dict(group.properties))), []).extend(keys)
    assert {kind: sorted(some) for kind, some in found.items()} == {
        kind: sorted(some) for kind, some in edges.items()
    }


def test_nothing_is_packed_into_nothing() -> None:
    assert Packing().packed() == (b"", [])
    assert list(unpack(b"")) == []


def _write(graph: Connection, pairs: list[tuple[int, int]], part: int = 0) -> None:
    packing = Packing()
    packing.edges("wasDerivedFrom", {}, *zip(*pairs, strict=True))
    packed, bounds = packing.packed()
    graph.write("CREATE (:Chunk {id: $id})", id=f"run/r/step/{part}")
    graph.write(cypher("packed_write"), id=f"run/r/step/{part}", packed=packed, bounds=bounds)


@pytest.mark.neo4j
def test_thirty_diamonds_are_thirty_times_four_edges(graph: Connection) -> None:
    """Path by path there would be more than 2**30."""
    prepare_schema(graph)
    at = [key_of(STEP, n) for n in range(91)]
    pairs = [
        pair
        for n in range(90, 0, -3)
        for pair in ((n, n - 1), (n, n - 2), (n - 1, n - 3), (n - 2, n - 3))
    ]
    _write(graph, [(at[one], at[other]) for one, other in pairs])
    for start, verb in ((90, up), (0, down)):
        places: Places = {STEP: ((start, start),)}
        assert verb(graph, _run(91), places, few=0) == {STEP: ((0, 90),)}


@pytest.mark.neo4j
def test_a_chain_of_a_hundred_thousand_is_one_pass(graph: Connection) -> None:
    prepare_schema(graph)
    for part in range(10):
        many = range(part * DEEP // 10, (part + 1) * DEEP // 10)
        pairs = [(key_of(STEP, n), key_of(STEP, n - 1)) for n in many if n]
        pairs += [(key_of(STEP, n), key_of(LOG, n)) for n in many]
        pairs += [(key_of(OUT, n), key_of(STEP, n)) for n in many]
        _write(graph, pairs, part)
    run, whole, last = _run(DEEP), ((0, DEEP - 1),), DEEP - 1
    packed = PackedChunks(graph, run)
    end: Places = {OUT: ((last, last),)}
    assert up(graph, run, end, few=0) == {LOG: whole, STEP: whole, OUT: ((last, last),)}
    assert up(graph, run, end, few=0, packed=packed, of=[LOG]) == {LOG: whole}
    begin: Places = {LOG: ((7, 7),)}
    rest = ((7, last),)
    assert down(graph, run, begin, few=0, packed=packed) == {LOG: ((7, 7),), STEP: rest, OUT: rest}

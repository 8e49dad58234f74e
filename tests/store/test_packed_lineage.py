"""What is followed in packed chunks, against looking at each edge, span and head by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import pytest

from tests.engine.lineage.cases import cases
from whence.engine.lineage import bands, links
from whence.engine.lineage.positions import of_positions, positions
from whence.engine.record.manifest import RunChoices, StreamRole
from whence.store import Connection
from whence.store.catalog import RunGraph, StoredLog, StoredStream
from whence.store.packed import Packing
from whence.store.places import Places, key_of
from whence.store.verbs import PackedChunks

LENGTH = 12
LOG, OTHER, OUT, STEP, LOOP, CHOICES, HEADS, END = range(1, 9)
W = 1 << 24
INNER = 1 << 22
"""A stream inside a Slice: its numbers have room for more positions."""
TYPES = ("wasDerivedFrom", "wasInfluencedBy")
QUESTIONS = 12
"""Of each graph."""

Node = tuple[int, int]
Label = frozenset[str] | None


def run() -> RunGraph:
    role = StreamRole
    made = [
        (OUT, role.OUTPUT, 1),
        (STEP, role.STEP, 1),
        (LOOP, role.STEP, 1),
        (CHOICES, role.CHOICES, 1),
        (HEADS, role.HEADS, 1),
        (END, role.END, 1),
        (INNER, role.INNER, W),
    ]
    logs = tuple(StoredLog(str(no), no, (str(no),), LENGTH, True, {}) for no in (LOG, OTHER))
    streams = tuple(
        StoredStream(f"s{no}", no, "s", 0, role, w, 0 if role.is_heads else LENGTH, LENGTH)
        for no, role, w in made
    )
    return RunGraph("r", "complete", True, 4, RunChoices(), "", logs, streams)


RUN = run()


@dataclass
class Stored:
    """Chunks without a server, and the single steps that they say."""

    chunks: dict[str, Packing] = field(default_factory=dict)
    steps: list[tuple[int, int, int, int, str, dict[str, Any]]] = field(default_factory=list)

    def read_values(self, _: str, ids: list[str] | None = None, **given: Any) -> list[Any]:
        packed = {id: packing.packed() for id, packing in self.chunks.items()}
        if ids is None:
            return [(id, bounds, False) for id, (_, bounds) in packed.items()]
        return [(id, *packed[id]) for id in ids]

    def counts(self, type: str, told: dict[str, Any], *, support: bool, every: bool) -> bool:
        if not every and 0 not in told.get("witness", (0,)):
            return False
        return support or type == TYPES[0] if not told.get("trigger") else not support

    def leads(self, *, support: bool, every: bool) -> Iterator[tuple[Node, Node, dict[str, Any]]]:
        for source, one, target, other, type, told in self.steps:
            derived = type == TYPES[0]
            if (derived or support) and self.counts(type, told, support=support, every=every):
                yield (source, one), (target, other), told


def place(rng: Random, no: int) -> int:
    if no == INNER:
        return rng.randrange(LENGTH) * W + rng.randrange(2)
    return 0 if no == END else rng.randrange(LENGTH)


def drawn(rng: Random) -> Stored:
    """Mostly streams lead on in one direction; some lead on inside, now and then around."""
    stored = Stored({f"run/r/{n}": Packing() for n in range(3)})
    ways = [(OUT, STEP), (OUT, LOG), (OUT, CHOICES), (OUT, HEADS), (STEP, STEP), (STEP, LOG)]
    ways += [(STEP, INNER), (INNER, INNER), (INNER, LOG), (INNER, OTHER), (END, STEP)]
    ways += [(CHOICES, STEP), (CHOICES, CHOICES), (END, OTHER), (CHOICES, OTHER)]
    if rng.random() < 0.3:
        ways += [(STEP, LOOP), (LOOP, STEP), (LOOP, OUT)]
    anywhere = rng.random() < 0.2
    for source, target in ways:
        for _ in range(rng.randrange(4)):
            add(rng, stored, source, target, anywhere=anywhere)
    at = 0
    for event in range(rng.randrange(5)):
        end = min(at + rng.randrange(LENGTH // 2), LENGTH - 1)
        head(rng, stored, at, end, event * W + rng.randrange(2))
        at = end + 1 if end + 1 < LENGTH else 0
    return stored


def add(rng: Random, stored: Stored, source: int, target: int, *, anywhere: bool) -> None:
    packing, type = stored.chunks[f"run/r/{rng.randrange(3)}"], rng.choice(TYPES)
    told: dict[str, Any] = {}
    if rng.random() < 0.3:
        told["fields"] = rng.choice(([], ["x"], ["x", "y"]))
    if rng.random() < 0.2:
        told["copy"] = True
    if rng.random() < 0.2 and type == TYPES[0]:
        told["trigger"] = True
    if CHOICES in (source, target):
        told["witness"] = sorted(rng.sample(range(3), rng.randint(1, 2)))
    if INNER in (source, target) or target == HEADS or source == END or rng.random() < 0.6:
        pairs = {(place(rng, source), place(rng, target)) for _ in range(rng.randint(1, 6))}
        if source == target and not anywhere:
            pairs = {(one, other) for one, other in pairs if other < one}
        if pairs and target != HEADS:
            keys = [(key_of(source, one), key_of(target, other)) for one, other in pairs]
            packing.edges(type, told, *zip(*keys, strict=True))
            stored.steps += [(source, one, target, other, type, told) for one, other in pairs]
        if target != HEADS:
            return
    lo = rng.randrange(LENGTH)
    hi = min(lo + rng.randrange(6), LENGTH - 1)
    sa, sb = rng.choice([(0, 0), (1, 1), (0, 1), (1, 0), (2, 2), (3, 1)])
    first = rng.randrange(LENGTH)
    a, b = first - lo * sa, first + rng.randint(-2, 5) - lo * sb
    if target == HEADS:
        sa = sb = 1
        a = b = 0
    packing.bands(type, told, [(source, lo, hi, target, a, b, sa, sb)])
    stored.steps += [
        (source, o, target, to, type, told)
        for o in range(lo, hi + 1)
        for to in range(o * sa + a, o * sb + b + 1)
    ]


def head(rng: Random, stored: Stored, lo: int, hi: int, event: int) -> None:
    """From output lo to hi; one chunk begins it, another one may end it."""
    key, begun, ended = key_of(INNER, event), *sorted(rng.choices(list(stored.chunks), k=2))
    is_open = rng.random() < 0.3
    stored.chunks[ended].heads([[key, HEADS, lo, -1 if is_open else hi]])
    if begun != ended:
        stored.chunks[begun].heads([[key, HEADS, lo, -1]])
    last = LENGTH if is_open else hi
    stored.steps += [(HEADS, o, INNER, event, TYPES[0], {}) for o in range(lo, last + 1)]


def exists(node: Node) -> bool:
    """A band may lead past either end of a log or stream."""
    no, position = node
    return position >= 0 and (no in (INNER, HEADS) or position < LENGTH)


def slow(
    steps: list[tuple[Node, Node, dict[str, Any]]], start: set[Node], *, down: bool, fields: bool
) -> set[tuple[Node, Label]]:
    seen: set[tuple[Node, Label]] = {(node, None) for node in start}
    stack = list(seen)
    while stack:
        node, asked = stack.pop()
        for source, target, told in steps:
            here, there = (target, source) if down else (source, target)
            if here != node:
                continue
            wants = frozenset(told["fields"]) if "fields" in told else None
            below = (asked if told.get("copy") else wants) if fields else None
            if (there, below) not in seen:
                seen.add((there, below))
                stack.append((there, below))
    return {(node, label) for node, label in seen if exists(node)}


def nodes(found: Places) -> set[Node]:
    return {(no, at) for no, ranges in found.items() for at in positions(ranges)}


def check(rng: Random) -> None:
    stored = drawn(rng)
    packed = PackedChunks(cast("Connection", stored), RUN)
    bounds = {no for no in RUN.by_no if no != HEADS}
    for _ in range(QUESTIONS):
        down, support, every = (rng.random() < 0.5 for _ in range(3))
        nos = (LOG, OTHER, INNER, STEP) if down else (OUT, STEP, END, LOOP)
        start = {(no, place(rng, no)) for no in rng.choices(nos, k=rng.randint(1, 5))}
        places: Places = {
            no: of_positions(at for other, at in start if other == no) for no, _ in start
        }
        if not down and rng.random() < 0.4:
            steps = list(stored.leads(support=support, every=False))
            told = packed.reach_fields(places, support=support, of=bounds)
            assert told is not None
            got = {((no, at), label) for (no, label), r in told.items() for at in positions(r)}
            want = slow(steps, start, down=False, fields=True)
            assert got == {each for each in want if each[0][0] != HEADS}
            continue
        steps = list(stored.leads(support=support, every=every))
        found = packed.reach(places, down=down, support=support, every=every, of=bounds)
        assert found is not None
        reached = {node for node, _ in slow(steps, start, down=down, fields=False)}
        assert nodes(found) == {node for node in reached if node[0] != HEADS}


@pytest.mark.parametrize(("steps", "at_once"), [(1, 1), (32, 1 << 21)])
def test_what_is_reached_in_packed_chunks_is_what_each_edge_says(
    steps: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "STEPS", steps)
    monkeypatch.setattr(bands, "AT_ONCE", at_once)
    rng = Random(steps)
    for _ in range(cases(1200) // QUESTIONS // 2):
        check(rng)

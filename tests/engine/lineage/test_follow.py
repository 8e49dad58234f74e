"""The one follower, up and down, against looking at each event and each row by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from tests.engine.lineage.cases import cases
from tests.engine.lineage.random_rows import some_rows, zones_of_heads
from whence.engine.lineage import links
from whence.engine.lineage.association import Association
from whence.engine.lineage.block import Block
from whence.engine.lineage.follow import EXPLAINS, SUPPORTS, Label, Lineage
from whence.engine.lineage.links import Links
from whence.engine.lineage.positions import Positions, of_positions
from whence.engine.record.blocks import blocks_of
from whence.engine.record.schema import association_table

LENGTH = 12
FAR = 40
"""Bands may lead past the end of a stream, but none that far."""
STREAMS = ("out", "step", "s/p", "s/heads", "out/choices", "loop")
STARTS = 5
QUESTIONS = 4 * STARTS
"""Of each run: what explains, with fields, what supports, and down again, from several starts."""

Node = tuple[str, int]


def drawn(rng: Random) -> dict[str, list[list[Association]]]:
    """The parts of each stream: mostly from the first to the last, some lead on inside."""
    parts: dict[str, list[list[Association]]] = {}
    targets = {
        "out": ("step", "s/heads", "out/choices", "log:log"),
        "step": ("s/p", "step", "log:log"),
        "s/p": ("s/p", "log:log", "log:other"),
        "out/choices": ("step", "out/choices", "log:other"),
        # Streams that lead around: only choices do, and the follower needs no more than sets.
        "loop": ("step", "out"),
    }
    for stream, several in targets.items():
        rows: list[Association] = []
        for to in several:
            found = some_rows(rng, stream, to, LENGTH, LENGTH, choices=stream == "out/choices")
            rows += inside(rng, found) if to == stream else found
        if rng.random() < 0.2 and stream == "step":
            rows += some_rows(rng, stream, "loop", LENGTH, LENGTH)
        parts[stream] = [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
    parts["s/heads"] = zones_of_heads(rng, "s/heads", "s/p", LENGTH)
    return parts


def inside(rng: Random, rows: Iterable[Association]) -> Iterator[Association]:
    """Inside a stream events lead to earlier ones; now and then to any."""
    anywhere = rng.random() < 0.2
    for row in rows:
        if anywhere:
            yield row
        elif row.kind == "list" and row.lo:
            yield replace(row, inputs=tuple(sorted({at % row.lo for at in row.inputs})))


class Slow:
    """Every event by itself, every row looked at."""

    def __init__(self, parts: dict[str, list[list[Association]]], *, every: bool) -> None:
        self.rows: dict[str, list[Association]] = {}
        for stream, several in parts.items():
            rows = [row for part in several for row in part]
            ended = {(r.to, r.inputs, r.lo) for r in rows if r.kind == "zone" and r.hi is not None}
            self.rows[stream] = [
                row
                for row in rows
                if (row.hi is not None or (row.to, row.inputs, row.lo) not in ended)
                and (every or row.witness is None or 0 in row.witness)
            ]

    def leads(self, stream: str, at: int, *, support: bool) -> Iterator[tuple[Association, int]]:
        for row in self.rows.get(stream, ()):
            if row.relation not in (SUPPORTS if support else EXPLAINS):
                continue
            if row.lo <= at and (row.hi is None or at <= row.hi):
                if row.kind == "band":
                    targets = list(range(at * row.sa + row.a, at * row.sb + row.b + 1))
                else:
                    targets = list(row.inputs)
                for target in targets:
                    yield row, target

    def up(self, start: set[Node], *, support: bool) -> set[Node]:
        return {(name, at) for name, at, _ in self.fields(start, support=support, told=False)}

    def fields(
        self, start: set[Node], *, support: bool, told: bool = True
    ) -> set[tuple[str, int, Label]]:
        seen: set[tuple[str, int, Label]] = {(name, at, None) for name, at in start}
        stack = list(seen)
        while stack:
            name, at, asked = stack.pop()
            for row, target in self.leads(name, at, support=support):
                fields = None if row.fields is None else frozenset(row.fields)
                below = (asked if row.copy else fields) if told else None
                new = (row.to, target, below)
                if new not in seen:
                    seen.add(new)
                    stack.append(new)
        return seen

    def down(self, start: set[Node], *, support: bool) -> set[Node]:
        above: dict[Node, set[Node]] = {}
        for stream in self.rows:
            for at in range(FAR):
                for row, target in self.leads(stream, at, support=support):
                    above.setdefault((row.to, target), set()).add((stream, at))
        seen, stack = set(start), list(start)
        while stack:
            new = above.get(stack.pop(), set()) - seen
            seen |= new
            stack += new
        return seen


def lineage_of(parts: dict[str, list[list[Association]]], *, every: bool) -> Lineage:
    def blocks(stream: str) -> Iterator[Block]:
        for rows in parts[stream]:
            yield from blocks_of(association_table(rows), stream).blocks

    return Lineage(parts, blocks, every=every)


def nodes(found: dict[str, Positions]) -> set[Node]:
    """What was reached; a zone that is open has no last output, nor a band past the end."""
    window = Positions.one(-FAR, FAR)
    return {
        (name, at)
        for name, places in found.items()
        for at in places.overlap(window).positions.tolist()
    }


def places(some: set[Node]) -> dict[str, Positions]:
    return {
        name: Positions.of_intervals(of_positions(at for other, at in some if other == name))
        for name in {name for name, _ in some}
    }


def check(rng: Random) -> None:
    parts, every = drawn(rng), rng.random() < 0.3
    fast, slow = lineage_of(parts, every=every), Slow(parts, every=every)
    for _ in range(STARTS):
        ask(rng, fast, slow)


def ask(rng: Random, fast: Lineage, slow: Slow) -> None:
    start = {(rng.choice(("out", "step")), rng.randrange(LENGTH)) for _ in range(rng.randint(1, 4))}
    for support in (False, True):
        up = slow.up(start, support=support)
        assert nodes(fast.up(places(start), support=support)) == up
    support = rng.random() < 0.5
    told = {
        (name, at, label)
        for (name, label), found in fast.up_fields(places(start), support=support).items()
        for at in found.positions.tolist()
    }
    assert told == slow.fields(start, support=support)
    begin = {("log:log", rng.randrange(LENGTH)), ("s/p", rng.randrange(LENGTH))}
    down = nodes(fast.down(places(begin), support=support))
    assert {node for node in down if node[1] < FAR} == slow.down(begin, support=support)


@pytest.mark.parametrize("steps", [1, 32])
def test_what_is_reached_is_what_every_event_and_row_says(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "STEPS", steps)  # in one pass; or a few steps are enough
    rng = Random(steps)
    for _ in range(cases(400) // QUESTIONS // 2):
        check(rng)


@pytest.mark.parametrize("steps", [1, 32])
def test_along_a_stream_is_step_by_step(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "STEPS", steps)
    rng = Random(steps)
    for _ in range(cases(400) // 4):
        rows = []
        for source in range(1, 30):
            for _ in range(rng.randrange(3)):
                lo = rng.randrange(source)
                rows.append((source, source, lo, rng.randrange(lo, source)))
        if not rows:
            continue
        made = Links.sorted(*np.array(rows, np.int64).T)
        for given, told in ((made, rows), (made.turned(), [(*r[2:], *r[:2]) for r in rows])):
            begin = rng.randrange(30)
            start = set(range(begin, begin + rng.randint(1, 3)))
            reached: set[int] = set()
            fresh = start
            while fresh:
                hit = [r for r in told if any(r[0] <= at <= r[1] for at in fresh)]
                fresh = {at for r in hit for at in range(r[2], r[3] + 1)} - reached
                reached |= fresh
            found = given.within(Positions.of_intervals(of_positions(start)))
            assert set(found.positions.tolist()) == reached

"""Questions about all outputs read each edge once, however deep the graph. Work is counted."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from whence.engine.record.manifest import RunChoices, StreamRole
from whence.store import Connection
from whence.store.catalog import RunGraph, StoredLog, StoredStream
from whence.store.loading.register import prepare_schema
from whence.store.places import key_of
from whence.store.verbs import down, up

pytestmark = pytest.mark.neo4j

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
LONG = 100_000 if FULL else 10_000

PARENTS = """
UNWIND range($lo, $hi) AS n
CREATE (i:Event:Input {key: $log + n}), (s:Event {key: $step + n}), (o:Event:Output {key: $out + n})
CREATE (o)-[:wasDerivedFrom]->(s), (s)-[:wasDerivedFrom]->(i)
WITH n, s WHERE n > 0
MATCH (before:Event {key: $step + n - 1})
CREATE (s)-[:wasDerivedFrom]->(before)
"""


@dataclass(frozen=True)
class Counting(Connection):
    """A connection that counts what is read."""

    counts: dict[str, int] = field(default_factory=lambda: {"queries": 0, "rows": 0, "values": 0})

    def read_values(self, cypher: str, **parameters: Any) -> list[list[Any]]:
        rows = super().read_values(cypher, **parameters)
        self.counts["queries"] += 1
        self.counts["rows"] += len(rows)
        self.counts["values"] += sum(len(c) if isinstance(c, list) else 1 for r in rows for c in r)
        return rows


def test_a_parent_chain_below_every_output_is_read_once(graph: Connection, tmp_path: Path) -> None:
    """Each output leads to a step, each step to the one before: cones that all overlap."""
    prepare_schema(graph)
    keys = {"log": key_of(1, 0), "step": key_of(2, 0), "out": key_of(3, 0)}
    for lo in range(0, LONG, 5_000):
        graph.write(PARENTS, lo=lo, hi=lo + 4_999, **keys)
    run = RunGraph(
        *("r", "complete", True, 5_000, RunChoices(), ""),
        (StoredLog("l", 1, ("log",), LONG, True, {}),),
        (
            StoredStream("step", 2, "step", 0, StreamRole.STEP, 1, LONG, LONG),
            StoredStream("out", 3, "out", 0, StreamRole.OUTPUT, 1, LONG, LONG),
        ),
    )
    whole = ((0, LONG - 1),)
    counting = Counting(graph.settings, graph.driver)
    assert up(counting, run, {3: whole}) == {1: whole, 2: whole, 3: whole}
    assert counting.counts["values"] <= 6 * LONG
    assert counting.counts["queries"] <= 6
    last = LONG - 1
    assert up(counting, run, {3: ((last, last),)}) == {1: whole, 2: whole, 3: ((last, last),)}
    assert down(counting, run, {1: ((0, 0),)}) == {1: ((0, 0),), 2: whole, 3: whole}
    assert down(counting, run, {1: whole}) == {1: whole, 2: whole, 3: whole}

"""What a chunk writes, as the loader hands it to the server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.runners._support.stream_runs import CHAINS
from tests.engine.runners._support.stream_runs import EVENTS as ALL
from tests.store._support.runs_in_neo4j import record_of
from whence.engine import ApplyFunction, Chain
from whence.engine.record import RunRecord, ingest
from whence.engine.record.files import write_table
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.values.limits import RunLimits
from whence.store import Connection
from whence.store.loading import chunks, load, pieces

pytestmark = pytest.mark.neo4j

EVENTS = ALL[:140]
APART = Chain.graph(
    ["log"],
    [
        (ApplyFunction("low", "x < 0"), ["log"]),
        (ApplyFunction("high", "x > 5"), ["log"]),
        (ApplyFunction("either", "$0 or $1"), ["low", "high"]),
    ],
)
"""A part of a selected pipe brings events of both streams that it needs."""
WRITTEN = {
    *("inputs", "outputs", "outputs_near", "events", "events_near", "choices", "inner", "merged"),
    *("derived", "derived_near", "influenced", "heads"),
}
"""All rows that have keys, but for those of an end, of which a chunk has one at most."""


def several_runs(root: Path) -> Iterator[RunRecord]:
    """Everything that a chunk may consist of, told by columns and told by rows."""
    steps = RunOptions(detail="steps", closed=True, chunk=70)
    for chain, options in (
        (Chain.of(CHAINS["rule"]()), replace(steps, detail="ends")),
        (Chain.of(CHAINS["lifecycle"]()), steps),
        (Chain.of(CHAINS["filter"]()), steps),
        (APART, replace(steps, where="value = true")),
    ):
        log = ingest(root, chain.inputs[0], EVENTS, chunk=70)
        yield run_kernels(root, chain, {chain.inputs[0]: log}, options)
        yield backwards(record_of(root, chain, {chain.inputs[0]: EVENTS}, options))
    either = Chain.of(ApplyFunction("either", "x = 0 or y = 0"))
    pairs = [{"x": n % 2, "y": n % 3} for n in range(24)]
    yield backwards(record_of(root, either, {"log": pairs}, replace(steps, witnesses="all")))


def backwards(run: RunRecord) -> RunRecord:
    """The same run, but what its record says first is what leads from the last event."""
    for stream in run.manifest.streams:
        for number in (part.part for part in stream.associations):
            table = run.associations(stream.name, number)
            turned = table.take(list(reversed(range(len(table)))))
            write_table(run.path("associations", stream.name, number), turned)
    return run


def key_of(row: Any) -> int:
    return int(row[0] if isinstance(row, Sequence) else row["key"])


def test_rows_go_by_key_so_that_writers_seldom_collide(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[tuple[str, list[int]]] = []
    transact = chunks._transact

    def told(connection: Connection, marker: dict[str, Any], statements: Any) -> bool:
        for name, rows, _, _ in statements:
            if name not in chunks.SPANS:
                handed.append((name, [key_of(row) for row in rows]))
        return transact(connection, marker, statements)

    monkeypatch.setattr(chunks, "_transact", told)
    monkeypatch.setattr(pieces, "RECORDS_AT_ONCE", 300)
    for run in several_runs(tmp_path):
        assert load(tmp_path, run.id, graph, writers=1).complete
    assert [(name, keys) for name, keys in handed if keys != sorted(keys)] == []
    several = {name for name, keys in handed if len(set(keys)) > 1}
    assert several == WRITTEN


def test_a_run_with_limits_of_its_own_is_loaded(graph: Connection, tmp_path: Path) -> None:
    """They are a map, which no property can be."""
    options = RunOptions(limits=RunLimits(repeats=2_000))
    made = record_of(tmp_path, Chain.of(CHAINS["filter"]()), {"log": EVENTS}, options)
    load(tmp_path, made.id, graph)
    (row,) = graph.read("MATCH (r:Run {id: $id}) RETURN r.option_limits AS limits", id=made.id)
    assert row["limits"] == '{"repeats": 2000}'

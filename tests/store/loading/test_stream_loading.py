"""A stream is loaded while it grows; in the end the graph holds what the record says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.engine.lineage.slow_index import AssociationIndex
from tests.engine.runners._support.stream_runs import EVENTS, OPTIONS, put, streamed
from whence.engine.lineage.positions import positions
from whence.store import Connection
from whence.store.loading import contributions
from whence.store.loading.loader import Loader
from whence.store.loading.priority import PRIORITIES
from whence.store.questions import contribution, explain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.neo4j]


@pytest.mark.parametrize("followed", [False, True])
def test_a_stream_that_is_loaded_on_the_way_and_at_its_end_is_in_the_graph_once(
    tmp_path: Path,
    spark: SparkSession,
    graph: Connection,
    monkeypatch: pytest.MonkeyPatch,
    followed: bool,
) -> None:
    monkeypatch.setattr(contributions, "BLOCK", 16)  # so that some are of what came last alone
    folder = tmp_path / "arriving"
    folder.mkdir()
    put(folder, "1.csv", EVENTS[:130])
    run = streamed(tmp_path, folder, "lifecycle", OPTIONS, spark, [("2.csv", EVENTS[130:200])])
    loader = Loader(run, graph)
    half = loader.catch_up(PRIORITIES["high"])
    assert half.status == "interrupted"
    assert not half.complete
    assert half.events > 0
    put(folder, "3.csv", EVENTS[200:])
    streamed(tmp_path, folder, "lifecycle", OPTIONS, spark)
    # A loader that has followed the stream counts on; another one finds what is there.
    rest = (loader if followed else Loader(run, graph)).catch_up(PRIORITIES["high"])
    assert rest.complete
    before = half if followed else replace(half, written=0, events=0)
    assert rest.written - before.written < rest.parts
    # Inputs, verdicts, and one event inside the slices for each input: all once.
    assert half.events + rest.events - before.events == 3 * len(EVENTS)
    index = AssociationIndex(run.rows())
    outputs = (index.up("per-case", position).values() for position in range(len(EVENTS)))
    explained = Counter(each for (found,) in outputs for each in positions(found))
    ranked = contribution(graph, run.id, most=len(EVENTS), record=tmp_path).ranked
    assert {each.event.position: each.outputs for each in ranked} == dict(explained)
    for position in (0, 150, 299):
        why = explain(graph, run.id, str(position), record=tmp_path)
        found = {n for each in why.inputs for n in range(each.lo, each.hi + 1)}
        (expected,) = index.up("per-case", position).values()
        assert found == set(positions(expected))

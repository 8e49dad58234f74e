"""A stream is loaded while it grows; in the end the graph holds what the record says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.engine.runners.streaming import EVENTS, OPTIONS, put, streamed
from whence.engine.associations import AssociationIndex
from whence.engine.intervals import positions
from whence.store import Connection
from whence.store.loading import load
from whence.store.questions import explain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.neo4j]


def test_a_stream_that_is_loaded_on_the_way_and_at_its_end_is_in_the_graph_once(
    tmp_path: Path, spark: SparkSession, graph: Connection
) -> None:
    folder = tmp_path / "arriving"
    folder.mkdir()
    put(folder, "1.csv", EVENTS[:130])
    run = streamed(tmp_path, folder, "lifecycle", OPTIONS, spark, [("2.csv", EVENTS[130:200])])
    half = load(tmp_path, run.id, graph)
    assert half.status == "interrupted"
    assert not half.complete
    assert half.events > 0
    put(folder, "3.csv", EVENTS[200:])
    streamed(tmp_path, folder, "lifecycle", OPTIONS, spark)
    rest = load(tmp_path, run.id, graph)
    assert rest.complete
    assert rest.written < rest.parts
    # Inputs, verdicts, and one event inside the slices for each input: all once.
    assert half.events + rest.events == 3 * len(EVENTS)
    index = AssociationIndex(run.rows())
    for position in (0, 150, 299):
        why = explain(graph, run.id, str(position), record=tmp_path)
        found = {n for each in why.inputs for n in range(each.lo, each.hi + 1)}
        (expected,) = index.up("per-case", position).values()
        assert found == set(positions(expected))

"""A job that is no chain hands over five columns, and the questions work on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.engine.lineage.slow_index import AssociationIndex
from whence.engine.errors import ParameterError
from whence.store import Connection, associate
from whence.store.questions import explain, impact, never_matters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [
    ("cleaned", 0, 0, "orders", 0),
    ("cleaned", 0, 1, "orders", 2),
    ("joined", 0, 0, "cleaned", 0),
    ("joined", 0, 0, "customers", 7),
    ("joined", 0, 1, "cleaned", 1),
    ("joined", 0, 1, "customers", 3),
]


def test_rows_become_a_run_of_the_record(tmp_path: Path) -> None:
    run = associate(ROWS, record=tmp_path, run="job-1", metadata={"owner": "ledger"})
    manifest = run.manifest
    assert {s.name: s.role for s in manifest.streams} == {
        "cleaned": "step",
        "joined": "output",
    }
    assert sorted(manifest.logs) == ["customers", "orders"]
    assert (run.log("orders").length, run.log("customers").length) == (3, 8)
    up = AssociationIndex(run.rows()).up("joined", 1)
    assert up == {"orders": ((2, 2),), "customers": ((3, 3),)}


def test_logs_of_which_nothing_is_known_are_never_the_same(tmp_path: Path) -> None:
    first, second = (associate(ROWS, record=tmp_path, run=f"job-{n}") for n in (1, 2))
    assert first.log("orders").id != second.log("orders").id
    assert first.log("orders").id != first.log("customers").id


@pytest.mark.parametrize("rows", [[], [("p", 0, -1, "log", 0)]])
def test_rows_that_say_nothing_or_cannot_be_are_refused(tmp_path: Path, rows: list[object]) -> None:
    with pytest.raises(ParameterError, match="expected"):
        associate(rows, record=tmp_path)  # type: ignore[arg-type]


@pytest.mark.neo4j
@pytest.mark.spark
def test_a_spark_job_is_explained_from_the_graph(
    tmp_path: Path, spark: SparkSession, graph: Connection
) -> None:
    pairs = spark.range(6).selectExpr(
        "'totals' AS processor",
        "0 AS output_pipe",
        "id DIV 3 AS output_position",
        "'sales' AS input_pipe",
        "id + 1 AS input_position",
    )
    run = associate(pairs, record=tmp_path, connection=graph)
    why = explain(graph, run.id, "1")
    assert [(each.log, each.lo, each.hi) for each in why.inputs] == [("sales", 4, 6)]
    (never,) = never_matters(graph, run.id).certain
    assert (never.log, never.ranges) == ("sales", ((0, 0),))
    touched = impact(graph, run.id, {"sales": [(1, 1)]})
    assert [share.ranges for share in touched.unaffected] == [((1, 1),)]
    assert [share.ranges for share in touched.explained] == [((0, 0),)]

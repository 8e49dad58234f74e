"""What a run gives in Python: outputs as tables, on the session that is there."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whence.api import plan, run
from whence.engine import ApplyFunction, Cumulate, Slice

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_outputs_are_a_typed_table(tmp_path: Path) -> None:
    result = run(Cumulate("sum", "add"), [1, 2, None, 4], runner="local", record=tmp_path)
    table = result.to_arrow()
    assert table.to_pydict() == {
        "position": [0, 1, 2, 3],
        "moment": [0, 1, 2, 3],
        "value": [1, 3, None, None],
    }
    assert str(table.schema.field("value").type) == "int64"
    assert result.to_pandas()["value"].tolist()[:2] == [1, 3]
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    when = run(ApplyFunction("at", "value"), [noon, noon], runner="local", record=tmp_path)
    assert when.to_arrow().column("value").to_pylist() == [noon, noon]
    mixed = run(ApplyFunction("same", "value"), [1, "x"], runner="local", record=tmp_path)
    assert mixed.to_arrow().column("value").to_pylist() == ["1", '"x"']
    none = run(Cumulate("sum", "add"), [], runner="local", record=tmp_path)
    assert none.to_arrow().num_rows == 0


def test_tracked_is_one_word(tmp_path: Path) -> None:
    chain = Cumulate("sum", "add")
    plain = run(chain, [1, 2], runner="local", record=tmp_path, tracked=False)
    assert list(plain.record.rows()) == []
    kept = run(chain, [1, 2], runner="local", record=tmp_path, tracked=True)
    assert len(list(kept.record.rows())) > 0


@pytest.mark.spark
def test_the_session_that_is_there_is_used_and_not_stopped(
    tmp_path: Path, spark: SparkSession
) -> None:
    chain = Slice("all", by="case", of=ApplyFunction("ok", "x > 0"), combine="and")
    log = [{"case": n % 3, "x": n - 1} for n in range(20)]
    assert plan(chain, log, record=tmp_path, session=spark, partitions=2).kind == "slices"
    result = run(chain, log, record=tmp_path, partitions=2, tracked=True)
    cut = result.record.manifest.plan
    assert cut is not None
    assert cut.tasks == 2
    rows = result.to_spark(session=spark).collect()
    assert [row["position"] for row in rows] == list(range(20))
    assert [row["value"] for row in rows] == [
        "true" if value else "false" for value in result.to_arrow().column("value").to_pylist()
    ]
    assert spark.range(3).count() == 3

"""Events stay where they are: the driver is told where, however long the log is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whence.engine import ApplyFunction, Chain, Cumulate, Slice, Window
from whence.engine.record import ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.spark.batch import run_on_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CHAINS: dict[str, Any] = {
    "slices": Slice("all", by="case", of=ApplyFunction("ok", "x < 5"), combine="and"),
    "chunks": ApplyFunction("x", "x") | Window("three", n=3, of=Cumulate("sum", "add")),
    "one task": ApplyFunction("x", "x") | Cumulate("total", "add"),
}
OTHER_WAYS = ("toArrow", "toPandas", "toLocalIterator", "take", "first", "head")
SOME, MANY = 1_000, 30_000
FEW = 300
"""Bytes more for longer numbers; a single byte for each event would be a hundred times as many."""


@pytest.mark.parametrize("plan", CHAINS)
def test_the_driver_is_given_no_events(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, plan: str
) -> None:
    frame = type(spark.range(1))
    collect = frame.collect
    bytes_given = 0

    def counted(self: Any) -> Any:
        nonlocal bytes_given
        rows = collect(self)
        bytes_given += sum(len(repr(row)) for row in rows)
        return rows

    def never(self: Any, *_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(frame, "collect", counted)
    for way in OTHER_WAYS:
        monkeypatch.setattr(frame, way, never)
    told = []
    for count in (SOME, MANY):
        events = ({"case": f"case {n % 50}", "x": n * 5 % 9 - 4} for n in range(count))
        log = ingest(tmp_path, "log", events, chunk=500)
        bytes_given = 0
        run = run_on_spark(
            tmp_path,
            Chain.of(CHAINS[plan]),
            {"log": log},
            RunOptions(chunk=count // 2),  # as many parts of either log
            session=spark,
            partitions=2,
        )
        cut = run.manifest.plan
        assert ("one task" if cut is None else cut.kind) == plan
        assert run.manifest.streams[0].length > count - 3
        told.append(bytes_given)
    print(f"\n{plan}: {told[0]} bytes for {SOME} events, {told[1]} for {MANY}")
    assert 0 < told[1] < told[0] + FEW

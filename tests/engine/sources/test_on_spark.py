"""Spark reads any source, whatever the partitions; and a DataFrame is a source itself."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whence.engine.errors import LogError
from whence.engine.language.log import Log
from whence.engine.record import ingest
from whence.engine.sources import Source, events_of, open_source
from whence.engine.sources.on_spark import on_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROWS = [
    {
        "case": f"c{n % 13}",
        "odd `name`.": 'two\nlines, "quoted"' if n % 5 == 0 else "NA",
        "n": n * 7,
        "x": n / 4 if n % 3 else None,
        "at": f"2026-03-01T10:{n % 60:02d}:00.5Z",
        "ok": n % 2 == 0,
    }
    for n in range(700)
]
KINDS = {"n": "integer", "x": "float", "at": "instant", "ok": "boolean"}


def _cell(value: Any) -> str:
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return '"' + text.replace('"', '""') + '"' if '"' in text or "\n" in text else text


def _csv(rows: list[dict[str, Any]]) -> bytes:
    lines = [",".join(map(_cell, row.values())) for row in rows]
    return "\n".join([",".join(ROWS[0]), *lines, ""]).encode()


def csv_file(folder: Path) -> Source:
    (folder / "log.csv").write_bytes(_csv(ROWS))
    return open_source(folder / "log.csv", columns=KINDS)


def csv_files_some_packed(folder: Path) -> Source:
    (folder / "1.csv").write_bytes(_csv(ROWS[:250]))
    (folder / "2.csv.gz").write_bytes(gzip.compress(_csv(ROWS[250:260])))
    (folder / "3.csv").write_bytes(_csv(ROWS[260:]))
    return open_source(folder, columns=KINDS)


def jsonl_files(folder: Path) -> Source:
    for name, rows in (("1.jsonl", ROWS[:3]), ("2.jsonl", ROWS[3:])):
        (folder / name).write_text("\n".join(map(json.dumps, rows)) + "\n")
    return open_source(folder, columns={"at": "instant"})


def parquet_files(folder: Path) -> Source:
    columns: dict[str, list[Any]] = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    columns["at"] = [dt.datetime.fromisoformat(str(at)) for at in columns["at"]]
    table = pa.table(columns)
    pq.write_table(table.slice(0, 333), folder / "1.parquet", row_group_size=50)
    pq.write_table(table.slice(333), folder / "2.parquet", row_group_size=60)
    return open_source(folder)


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (csv_file, (2,)),
        (csv_files_some_packed, (1, 2, 7)),
        (jsonl_files, (7,)),
        (parquet_files, (7,)),
    ],
)
def test_partitions_do_not_matter(
    tmp_path: Path, spark: SparkSession, make: Callable[[Path], Source], wanted: tuple[int, ...]
) -> None:
    source = make(tmp_path)
    expected = pa.Table.from_batches(list(source.batches()))
    assert expected.num_rows == 700
    for partitions in wanted:
        table = on_spark(source, spark, partitions).toArrow().sort_by("row")
        assert table.cast(expected.schema).equals(expected), partitions


def test_rows_are_dropped_and_numbered_as_elsewhere(tmp_path: Path, spark: SparkSession) -> None:
    file = tmp_path / "log.csv"
    file.write_text("a,p\n" + "".join(f"x,{'bad' if n % 10 == 3 else n}\n" for n in range(100)))
    source = open_source(file, columns={"p": "integer"}, on_bad="drop")
    found = on_spark(source, spark, 4).toArrow().sort_by("row").to_pylist()
    assert [(row["row"], row["p"]) for row in found] == [(n, n) for n in range(100) if n % 10 != 3]


def test_a_frame_is_a_log_whatever_its_partitions(tmp_path: Path, spark: SparkSession) -> None:
    source = csv_file(tmp_path)
    frame = on_spark(source, spark, 3).drop("row")
    ids = set()
    for cut in (frame.repartition(3, "case"), frame.coalesce(1)):
        log = ingest(tmp_path / "record", "log", open_source(cut), order=["at"])
        ids.add(log.id)
    assert len(ids) == 1
    read = list(log.read())
    assert sorted(map(str, read)) == sorted(map(str, events_of(source)))
    assert [row["at"] for row in read] == sorted(row["at"] for row in read)  # type: ignore[index]
    with pytest.raises(LogError, match="expected an order, as a table has none of its own"):
        ingest(tmp_path / "record", "log", open_source(frame))


def test_types_of_spark_become_kinds(tmp_path: Path, spark: SparkSession) -> None:
    frame = spark.sql(
        "select map('b', 1, 'a', 2) as m, array(1, null) as l, date'2026-03-01' as d, "
        "timestamp_ntz'2026-03-01 10:00:00' as local, cast(1.20 as decimal(9,2)) as price, 1 as row"
    )
    frame.createOrReplaceTempView("a_view")
    source = open_source("a_view", format="spark", timezone="Europe/Berlin")
    assert source.columns == {
        "m": "any",
        "l": "any",
        "d": "instant",
        "local": "instant",
        "price": "text",
        "row_": "integer",
    }
    (event,) = ingest(tmp_path, "log", source, order=["row_"], declared=Log()).read()
    assert event == {
        "m": {"a": 2, "b": 1},
        "l": [1, None],
        "d": dt.datetime(2026, 2, 28, 23, tzinfo=dt.UTC),
        "local": dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC),
        "price": "1.20",
        "row_": 1,
    }
    with pytest.raises(LogError, match="expected a table 'no_view' in Spark; got none"):
        open_source("no_view", format="spark")
    twice = spark.sql("select 1 as a, 2 as a")
    with pytest.raises(LogError, match="expected columns that differ; got 'a' twice"):
        open_source(twice)

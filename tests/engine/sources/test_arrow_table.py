"""A table in memory is the log that its Parquet file would be, row by row in its own order."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.engine.sources.test_parquet import MIXED
from whence.engine.errors import LogError
from whence.engine.record import ingest
from whence.engine.sources import Limits, events_of, open_source
from whence.engine.sources.arrow_table import is_table
from whence.engine.sources.declared import mapped

NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


class Exported:
    """As Polars, DuckDB and others hand over a table, without any of them."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def opened(given: Any, **how: Any) -> list[dict[str, Any]]:
    return list(events_of(open_source(given, **how)))


@pytest.mark.parametrize(
    "handed",
    [
        lambda table: table,
        lambda table: table.to_batches()[0],
        lambda table: table.to_reader(max_chunksize=2),
        Exported,
    ],
    ids=["table", "batch", "reader", "exported"],
)
def test_every_arrow_form_is_read_as_its_parquet_file(tmp_path: Path, handed: Any) -> None:
    parquet.write_table(MIXED, tmp_path / "log.parquet")
    given = handed(MIXED)
    assert is_table(given)
    source = open_source(given)
    file = open_source(tmp_path / "log.parquet")
    assert source.columns == file.columns
    assert list(events_of(source)) == list(events_of(file))


def test_a_pandas_frame_is_the_log_of_the_parquet_file_that_it_writes(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "case:concept:name": ["a", "b", None],
            "concept:name": pd.Categorical(["pay", "ask", "pay"]),
            "time:timestamp": [
                pd.Timestamp("2026-03-01 12:00"),
                pd.NaT,
                pd.Timestamp("2026-03-02"),
            ],
            "zoned": pd.to_datetime(["2026-03-01T13:00+01:00", None, "2026-03-02T00:00+01:00"]),
            "amount": [1.5, np.nan, 3.0],
            "count": pd.array([1, pd.NA, 3], dtype="Int64"),
            "with gaps": [1, None, 3],
            "text": pd.array(["x", pd.NA, ""], dtype="string"),
            "price": [Decimal("1.20"), None, Decimal("3.00")],
            "took": pd.to_timedelta([1, None, 2], unit="s"),
            "open": pd.array([True, None, False], dtype="boolean"),
            "list": [[1, 2], None, []],
        }
    )
    frame.to_parquet(tmp_path / "log.parquet")
    assert is_table(frame)
    source = open_source(frame)
    assert {role: each.column for role, each in mapped(source, None).items()} == {
        "case": "case:concept:name",
        "activity": "concept:name",
        "time": "time:timestamp",
    }
    rows = opened(frame)
    assert rows[0]["time:timestamp"] == rows[0]["zoned"] == NOON
    assert (rows[0]["count"], rows[0]["with gaps"], rows[0]["price"]) == (1, 1.0, "1.20")
    assert set(rows[1].values()) == {None, "b", "ask"}
    assert rows == opened(tmp_path / "log.parquet")
    one, two = (ingest(tmp_path / "record", "log", open_source(frame.copy())) for _ in range(2))
    file = ingest(tmp_path / "record", "log", open_source(tmp_path / "log.parquet"))
    assert one.id == two.id == file.id


def test_a_frame_is_read_in_the_order_of_its_rows_whatever_they_are_numbered() -> None:
    frame = pd.DataFrame({"n": [3, 1, 2]}).sort_values("n", ascending=False)
    assert list(frame.index) == [0, 2, 1]
    assert [row["n"] for row in opened(frame)] == [3, 2, 1]
    assert opened(frame[frame.n > 9]) == opened(pd.DataFrame({"n": []})) == []


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (pd.DataFrame({"n": [1]}, index=pd.Index([7], name="case")), "the index 'case' as well"),
        (pd.DataFrame({"n": [1]}, index=pd.Index(["a"])), "an index of object as well"),
        (pd.DataFrame({"n": [1]}, index=pd.to_datetime(["2026-03-01"])), "datetime64"),
        (
            pd.DataFrame({"n": [1, 2]}, index=pd.MultiIndex.from_arrays([[1, 2], [3, 4]])),
            "an index of object as well",
        ),
        (pd.DataFrame([[1, 2]]), "columns with names; got 0; try frame.columns"),
        (
            pd.DataFrame([[1, 2]], columns=pd.Index(["n", "n"])),
            "columns that differ; got 'n' twice",
        ),
        (
            pd.DataFrame({"n": [1, "a"]}),
            r"of one kind; got integer \(1 in row 1\) and text \('a' in row 2\); try frame",
        ),
        (
            pd.DataFrame({"n": ["a", None, 3]}),
            r"got text \('a' in row 1\) and integer \(3 in row 3\)",
        ),
        (pd.DataFrame({"n": [{"b": 1}, [1]]}), r"got record \(.* and list \(\[1\] in row 2\)"),
        (pd.DataFrame({"n": [1, "\x1b[2J\n"]}), r"and text \('\\x1b\[2J\\n' in row 2\); try"),
        (pd.DataFrame({"n": [1, 2**70]}), r"expected integers of 64 bits; got 11805.* in row 2;"),
        (pd.DataFrame({"n": [object()]}), "texts, numbers, booleans, times or lists; got object"),
        (pd.DataFrame({"n": [1j]}), "column 'n'"),
        (pd.DataFrame({"n": [b"x"]}), "column 'n': expected numbers, texts, .* got binary"),
        (pd.DataFrame({"n": pd.period_range("2026", periods=1)}), "column 'n': .* got extension"),
        (pa.table({"n": pa.array([dt.time(1)])}), "column 'n': expected numbers, .* got time64"),
        (pa.table([pa.array([1]), pa.array([2])], names=["n", "n"]), "got 'n' twice"),
        (Exported(pa.chunked_array([[1]])), "the Exported: expected rows and columns; got"),
    ],
)
def test_what_is_no_log_is_refused_by_name_in_one_line(frame: Any, told: str) -> None:
    with pytest.raises(LogError, match=told) as refused:
        opened(frame)
    assert "\n" not in str(refused.value)
    assert "; try " in str(refused.value)


def test_a_nan_that_is_not_null_is_refused_as_in_parquet_or_becomes_missing() -> None:
    table = pa.table({"n": [1.0, float("nan")]})
    with pytest.raises(LogError, match="the Table, row 2, column 'n': expected a finite float"):
        opened(table)
    assert [row["n"] for row in opened(table, on_bad="keep")] == [1.0, None]
    assert [row["n"] for row in opened(table, on_bad="drop")] == [1.0]
    assert [row["n"] for row in opened(table.to_pandas())] == [1.0, None]


def test_a_reader_is_read_once_batch_by_batch_and_limits_hold() -> None:
    batches = [pa.record_batch({"n": [n]}) for n in range(3)]
    read: list[int] = []

    def given() -> Any:
        for number, batch in enumerate(batches):
            read.append(number)
            yield batch

    source = open_source(pa.RecordBatchReader.from_batches(batches[0].schema, given()))
    assert read == []
    assert len(list(events_of(source))) == 3
    with pytest.raises(LogError, match="a table to read again; got a reader; try reader"):
        list(events_of(source))
    with pytest.raises(LogError, match="events"):
        opened(pa.table({"n": range(3)}), limits=Limits(events=2))


def test_a_fault_of_who_hands_the_rows_over_is_one_line() -> None:
    def given() -> Any:
        yield pa.record_batch({"n": [1]})
        msg = "lost\nthe connection"
        raise OSError(msg)

    reader = pa.RecordBatchReader.from_batches(pa.schema([("n", pa.int64())]), given())
    with pytest.raises(LogError, match="expected a whole table; got a fault while it was read"):
        opened(reader)


def test_stated_kinds_and_zones_apply() -> None:
    frame = pd.DataFrame({"n": ["1", "2"], "at": pd.to_datetime(["2026-03-01 13:00"] * 2)})
    rows = opened(frame, columns={"n": "integer"}, timezone="Europe/Berlin")
    assert [(row["n"], row["at"]) for row in rows] == [(1, NOON), (2, NOON)]
    with pytest.raises(LogError, match="column 'q'; got no such column"):
        opened(frame, columns={"q": "integer"})


@pytest.mark.parametrize(
    "given", [[{"n": 1}], (1, 2), {"n": [1]}, pa.array([1]), pa.chunked_array([[1]]), "a.csv"]
)
def test_what_has_no_columns_is_no_table(given: Any) -> None:
    assert not is_table(given)

"""Parquet: types become kinds, row groups become splits, and nothing is rounded silently."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whence.engine.errors import LogError
from whence.engine.sources import events_of, open_source

MIXED = pa.table(
    {
        "i": pa.array([1, None, 3], pa.int16()),
        "u": pa.array([1, 2, 2**63 - 1], pa.uint64()),
        "f": pa.array([1.5, None, -2.0], pa.float32()),
        "t": ["a", "", "NA"],
        "coded": pa.array(["x", "y", None]).dictionary_encode(),
        "at": pa.array([0, 1_500, None], pa.timestamp("ms")),
        "zoned": pa.array([0, 1, None], pa.timestamp("s", tz="America/New_York")),
        "day": pa.array([dt.date(2026, 3, 1), None, dt.date(1, 1, 1)]),
        "price": pa.array([Decimal("1.20"), None, Decimal("-3.00")]),
        "list": [[1, None], None, []],
        "map": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int64())),
        "struct": [{"x": 1, "y": "b"}, None, {"x": 2, "y": None}],
        "took": pa.array([1, None, 2], pa.duration("ms")),
        "nothing": pa.nulls(3),
        "position": [7, 8, 9],
    }
)


def test_every_type_becomes_a_kind(tmp_path: Path) -> None:
    file = tmp_path / "log.parquet"
    pq.write_table(MIXED, file)
    source = open_source(file)
    assert list(source.columns.values()) == [
        *("integer", "integer", "float", "text", "text", "instant", "instant", "instant"),
        *("text", "any", "any", "any", "duration", "any", "integer"),
    ]
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    rows = list(events_of(source))
    assert rows[0] == {
        **{"i": 1, "u": 1, "f": 1.5, "t": "a", "coded": "x", "at": epoch, "zoned": epoch},
        "day": dt.datetime(2026, 3, 1, tzinfo=dt.UTC),
        **{"price": "1.20", "list": [1, None], "map": {"k": 1}, "struct": {"x": 1, "y": "b"}},
        **{"took": dt.timedelta(milliseconds=1), "nothing": None, "position_": 7},
    }
    assert rows[1]["t"] == ""
    assert rows[1]["map"] == {}
    assert rows[1]["at"] == epoch + dt.timedelta(seconds=1.5)
    assert rows[2]["u"] == 2**63 - 1


def test_stated_kinds_and_zones_apply(tmp_path: Path) -> None:
    file = tmp_path / "log.parquet"
    pq.write_table(pa.table({"p": MIXED["price"], "at": MIXED["at"], "t": ["1", "02", None]}), file)
    kinds = {"p": "float", "t": "integer"}
    rows = list(events_of(open_source(file, columns=kinds, timezone="Europe/Berlin")))
    assert [row["p"] for row in rows] == [1.2, None, -3.0]
    assert [row["t"] for row in rows] == [1, 2, None]
    assert rows[0]["at"] == dt.datetime(1969, 12, 31, 23, tzinfo=dt.UTC)
    with pytest.raises(LogError, match="column 'q'; got no such column"):
        open_source(file, columns={"q": "float"})


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (pa.array([1, 2**64 - 1], pa.uint64()), "an integer of 64 bits; got uint64 1844"),
        (pa.array([1.0, float("nan")]), "a finite float; got double nan"),
        (pa.array([1.0, float("-inf")]), "a finite float; got double -inf"),
        (pa.array([1000, 1], pa.timestamp("ns")), "try times in microseconds"),
        (pa.array([0, 2**53], pa.timestamp("ms")), "in the years 1 to 9999"),
    ],
)
def test_what_no_kind_can_hold_is_refused_dropped_or_kept(
    tmp_path: Path, column: pa.Array, told: str
) -> None:
    file = tmp_path / "log.parquet"
    pq.write_table(pa.table({"c": column}), file)
    with pytest.raises(LogError, match=rf"log.parquet, row 2, column 'c': expected .*{told}"):
        list(open_source(file).batches())
    dropped = open_source(file, on_bad="drop")
    assert [b["row"].to_pylist() for b in dropped.batches()] == [[0]]
    assert [row["c"] is None for row in events_of(open_source(file, on_bad="keep"))] == [
        False,
        True,
    ]


def test_bytes_and_damage_are_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "log.parquet"
    pq.write_table(pa.table({"c": pa.array([b"x"], pa.binary())}), file)
    with pytest.raises(LogError, match=r"column 'c': expected numbers, .* got binary"):
        open_source(file)
    pq.write_table(pa.table({"c": list(range(100_000))}), file)
    whole = file.read_bytes()
    for content in (whole[:-20], whole[: len(whole) // 2], b"PAR1", b"", b"nothing"):
        file.write_bytes(content)
        with pytest.raises(LogError, match=r"log.parquet: expected .*Parquet.*; got .*; try") as e:
            list(open_source(file, format="parquet").batches())
        assert "\n" not in str(e.value)
    damaged = bytearray(whole)
    damaged[100:4000] = bytes(3900)
    file.write_bytes(bytes(damaged))
    with pytest.raises(LogError, match=r"log.parquet: expected a whole Parquet file"):
        list(open_source(file).batches())


@pytest.mark.parametrize("wanted", [1, 2, 7])
def test_row_groups_of_several_files_are_read_in_order(tmp_path: Path, wanted: int) -> None:
    for number, size in enumerate((50, 0, 130, 7)):
        table = pa.table({"x": pa.array(range(size), pa.int64())})
        pq.write_table(table, tmp_path / f"part-{number}.parquet", row_group_size=20)
    source = open_source(tmp_path)
    parts = [batch for split in source.splits(wanted) for batch in source.batches(split)]
    table = pa.Table.from_batches(parts)
    assert table.equals(pa.Table.from_batches(list(source.batches())))
    assert table["row"].to_pylist() == list(range(187))
    pq.write_table(pa.table({"x": ["text"]}), tmp_path / "part-9.parquet")
    with pytest.raises(LogError, match=r"part-9.parquet: expected the columns of part-0.parquet"):
        open_source(tmp_path)


def broken_texts() -> pa.Array:
    """Two texts, the first of which is not in UTF-8: Arrow writes any bytes."""
    offsets, bytes_ = pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"\xffa")
    return pa.Array.from_buffers(pa.string(), 2, [None, offsets, bytes_])


TWICE = pa.array([[("k", 1), ("k", 2)], [("k", 1)]], pa.map_(pa.string(), pa.int64()))
ODD = {
    "texts": (broken_texts(), "expected text in UTF-8; got other bytes", "a"),
    "texts in records": (
        pa.StructArray.from_arrays([broken_texts()], ["f"]),
        "expected text in UTF-8; got other bytes",
        {"f": "a"},
    ),
    "a key twice": (TWICE, "expected each key of a map once; got one twice", {"k": 1}),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_value_does_not_fit_and_is_named_by_its_row(name: str, tmp_path: Path) -> None:
    column, message, other = ODD[name]
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"case": ["x", "y"], "v": column}), path)
    with pytest.raises(LogError, match=message) as refused:
        list(events_of(open_source(path)))
    assert str(refused.value).startswith("log.parquet, row 1, column 'v': ")
    kept = open_source(path, on_bad="keep")
    assert [event["v"] for event in events_of(kept)] == [None, other]
    assert kept.report.missing == 1


def test_fields_of_one_name_are_refused_in_one_line(tmp_path: Path) -> None:
    column = pa.StructArray.from_arrays([pa.array([1, 2]), pa.array([3, 4])], ["a", "a"])
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"case": ["x", "y"], "v": column}), path)
    with pytest.raises(LogError, match=r"column 'v': expected a value; got .*try leaving"):
        list(events_of(open_source(path)))

"""Order by a key: total, stable, the same in memory and on disk."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.text_strategies import BROAD
from whence.engine.errors import LogError
from whence.engine.record import ordering
from whence.engine.record.ordering import in_order_of

SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("i", pa.int64()),
        ("f", pa.float64()),
        ("t", pa.string()),
        ("at", pa.timestamp("us", tz="UTC")),
        ("b", pa.bool_()),
        ("d", pa.duration("us")),
    ]
)
START = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-2, 2),
        st.none() | st.sampled_from([-1.5, 0.0, 2.5, math.inf]),
        st.none() | st.sampled_from(["", "a", "B", "é", "\U0001f600", "\uffff", "z"]),
        st.none() | st.integers(0, 3).map(lambda n: START + timedelta(microseconds=n)),
        st.none() | st.booleans(),
        st.none() | st.integers(-1, 2).map(lambda n: timedelta(microseconds=n)),
    ),
    max_size=40,
)
KEYS = st.lists(st.sampled_from(SCHEMA.names[1:]), min_size=1, max_size=3, unique=True)


def batches(rows: list[Any], size: int) -> list[pa.RecordBatch]:
    columns = [list(range(len(rows))), *([r[n] for r in rows] for n in range(6))]
    table = pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], SCHEMA)
    return list(table.to_batches(size))


def told(rows: list[Any], keys: list[str], first: bool) -> list[int]:
    """The order by Python's own stable sort."""

    def key(number: int) -> list[tuple[int, Any]]:
        made: list[tuple[int, Any]] = []
        for name in keys:
            value = rows[number][SCHEMA.names.index(name) - 1]
            made.append((0 if first else 2, 0) if value is None else (1, value))
        return made

    return sorted(range(len(rows)), key=key)


@BROAD
@given(ROWS, KEYS, st.sampled_from(["first", "last"]), st.integers(1, 9), st.booleans())
def test_the_order_is_that_of_a_stable_sort_also_when_runs_are_merged(
    rows: list[Any], keys: list[str], missing: str, size: int, spilled: bool
) -> None:
    kept = ordering.BATCH_ROWS, ordering.FAN_IN
    ordering.BATCH_ROWS, ordering.FAN_IN = 2, 3  # so that few rows are many batches and rounds
    try:
        with TemporaryDirectory() as folder:
            found = list(
                in_order_of(
                    batches(rows, size),
                    keys,
                    folder=Path(folder),
                    missing=missing,
                    run_bytes=1 if spilled else 1 << 30,
                )
            )
            assert list(Path(folder).iterdir()) == []
    finally:
        ordering.BATCH_ROWS, ordering.FAN_IN = kept
    order = [number for batch in found for number in batch.column("row").to_pylist()]
    assert order == told(rows, keys, missing == "first")
    content = [tuple(r[n] for n in SCHEMA.names[1:]) for b in found for r in b.to_pylist()]
    assert content == [rows[number] for number in order]


def test_a_missing_key_is_refused_unless_its_place_is_stated(tmp_path: Path) -> None:
    rows = [(1, 1.0, "a", START, True, None), (None, 1.0, "a", START, True, None)]
    with pytest.raises(LogError, match="fines, row 2, column 'i': expected a value, to order by"):
        list(in_order_of(batches(rows, 9), ["i"], folder=tmp_path, name="fines"))


def test_what_is_held_does_not_grow_with_the_log(tmp_path: Path) -> None:
    peaks = []
    for count in (40_000, 160_000):
        base = pa.total_allocated_bytes()
        peak = [0]

        def rows(count: int = count, base: int = base, peak: list[int] = peak) -> Any:
            for start in range(0, count, 5_000):
                numbers = pa.array(range(start, start + 5_000), pa.int64())
                keys = pa.array([n * 7919 % 10_007 for n in range(start, start + 5_000)])
                text = pa.array([f"{n:060d}" for n in range(start, start + 5_000)])
                yield pa.RecordBatch.from_arrays([numbers, keys, text], names=["row", "k", "t"])
                peak[0] = max(peak[0], pa.total_allocated_bytes() - base)

        found = 0
        for batch in in_order_of(rows(), ["k"], folder=tmp_path, run_bytes=1_000_000):
            found += batch.num_rows
            peak[0] = max(peak[0], pa.total_allocated_bytes() - base)
        assert found == count
        peaks.append(peak[0])
    assert peaks[1] < 2 * peaks[0]

"""Columns are written as the interpreter writes their values, one by one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from whence.engine.kernels.columns.column import from_values, records
from whence.engine.kernels.columns.texts import Texts
from whence.engine.record.output_columns import outputs_table, selected
from whence.engine.values import kind_of
from whence.engine.values.columns import canonical

NAN = float("nan")
VALUES: dict[str, list[Any]] = {
    "boolean": [True, False, None],
    "integer": [0, -1, 2**63 - 1, -(2**63), None, 7],
    "float": [0.0, -0.0, 1e22, 1e16, 1e-7, 0.1 + 0.2, 5e-324, -1.5, None, 123456789.0],
    "text": ["", "a", 'quote " \\ \n', "é\u2028\x7f", "a", None, "null"],
    "instant": [
        datetime(2026, 3, 1, tzinfo=UTC),
        None,
        datetime(1969, 1, 1, 0, 0, 0, 5, tzinfo=UTC),
    ],
    "duration": [timedelta(0), timedelta(microseconds=-1), None, timedelta(days=400)],
    "any": [None, 1, True, "x", [1, {"a": None}], {"b": 1.0}, 2**70, NAN],
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("missing", [True, False])
def test_a_column_is_written_as_its_values_are(kind: str, missing: bool) -> None:
    values = [v for v in VALUES[kind] if missing or v is not None]
    column = from_values(values, kind, Texts())
    places = np.arange(len(values))
    table = outputs_table(places, places, column)
    assert table.column("value").to_pylist() == [canonical(v) for v in values]
    assert table.column("kind").to_pylist() == [kind_of(v) for v in values]


def test_what_is_not_finite_is_written_too() -> None:
    values = [1.0, NAN, float("inf"), float("-inf"), -0.0, 0.0]
    table = outputs_table(np.arange(6), np.arange(6), from_values(values, "float", Texts()))
    assert table.column("value").to_pylist() == [canonical(v) for v in values]


def test_records_and_helpers_are_written_too() -> None:
    texts = Texts()
    fields = {
        "b": from_values([1, None], "integer", texts),
        "a": from_values(["x", "y"], "text", texts),
    }
    column = records(fields, 2, texts)
    table = outputs_table(np.arange(2), np.arange(2), column)
    assert table.column("value").to_pylist() == [canonical(v) for v in column.to_list()]
    assert table.column("kind").to_pylist() == ["record", "record"]
    helper = outputs_table(np.arange(2), np.arange(2), None)
    assert helper.column("kind").to_pylist() == ["missing", "missing"]
    assert helper.column("value").to_pylist() == ["null", "null"]


@pytest.mark.parametrize("kind", VALUES)
def test_a_test_is_asked_of_every_value(kind: str) -> None:
    column = from_values(VALUES[kind], kind, Texts())

    def asked(value: Any) -> bool:
        return value is None or len(canonical(value)) % 2 == 0

    assert selected(column, asked).tolist() == [asked(v) for v in VALUES[kind]]

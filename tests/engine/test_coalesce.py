"""The rule of coalesce by brute force: what is outside of a support changes nothing."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from whence.engine import ApplyFunction, MemoryTracker, interpret
from whence.engine.values import Value

VALUES = (None, 0, 1, 2)
ROWS: list[dict[str, Value]] = [
    dict(zip("xyz", row, strict=True)) for row in product(VALUES, repeat=3)
]


@pytest.mark.parametrize(
    "text",
    [
        "coalesce(x, y, 1)",
        "coalesce(coalesce(x, y), z)",
        "coalesce(x * y, z)",
        "coalesce(x, 0) * coalesce(y, 1)",
        "coalesce(x, 0) * y",
        "coalesce(x, y) * coalesce(z, 0) * x",
        "coalesce(missing, x) * y",
        "coalesce(if x > 1 then y else missing, z) * coalesce(z, 1)",
        "coalesce(if x > 0 then missing else y, 0) * z",
        "min(coalesce(x, 1), coalesce(y, z))",
    ],
)
def test_no_change_outside_of_a_support_changes_the_value(text: str) -> None:
    """Present fields stay present; fields that were missing may be anything."""
    result = interpret(ApplyFunction("e", text), ROWS, tracker=MemoryTracker())
    value_of: dict[Any, Value] = {
        tuple(row.values()): value for row, value in zip(ROWS, result.values, strict=True)
    }
    precise = 0
    for k, row in enumerate(ROWS):
        (fields,) = result.explain(k).support.values()
        assert fields is not None
        choices = [
            (row[name],) if name in fields else VALUES if row[name] is None else VALUES[1:]
            for name in row
        ]
        assert {value_of[changed] for changed in product(*choices)} == {result.values[k]}
        precise += len(fields) < len(row)
    assert precise > 0

"""Comparison of columns: =, !=, <, <=, >, >=, and `is missing`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.engine.functions.base import Function
from whence.engine.kernels.columns.column import Bools, Column
from whence.engine.kernels.expressions.functions.base import (
    NUMBERS,
    ColumnFunction,
    Compute,
    first_bad,
    stateless,
    valid_of,
)
from whence.engine.kernels.expressions.functions.tables import TextTables

__all__ = ["FUNCTIONS", "equal", "exact_pair"]

_EXACT = 2**53
_Array = npt.NDArray[Any]


def exact_pair(a: Column, b: Column) -> tuple[_Array, _Array] | None:
    """Two columns of numbers such that NumPy compares them by value; ``None`` if it would not.

    An integer beyond 2**53 may become another float. That does no harm as long as the floats that
    it is compared with are smaller.
    """
    if a.kind == b.kind or _small(a) or _small(b):
        return a.data, b.data
    return None


def _small(column: Column) -> bool:
    if not len(column.data):
        return True
    low, high = column.bounds or (column.data.min(), column.data.max())
    return bool(low > -_EXACT and high < _EXACT)  # false for NaN as well


def _both(a: Column, b: Column) -> Bools:
    return a.present & b.present


def _refuse_mixed(a: Column, b: Column) -> None:
    first_bad(_both(a, b))


def equal(a: Column, b: Column) -> Bools | None:
    """Whether values are the same: missing is missing, mixed kinds are refused."""
    if {a.kind, b.kind} & {"any", "record"}:
        return None
    if a.kind in NUMBERS and b.kind in NUMBERS:
        pair = exact_pair(a, b)
        if pair is None:
            return None
        found: Bools = pair[0] == pair[1]
    elif a.kind == b.kind:
        found = a.data == b.data
    else:
        _refuse_mixed(a, b)
        found = np.zeros(1, np.bool_)
    if a.valid is None and b.valid is None:
        return found
    has_a, has_b = a.present, b.present
    return (found & has_a & has_b) | ~(has_a | has_b)


def _eq(columns: Sequence[Column]) -> Column | None:
    found = equal(*columns)
    return None if found is None else Column("boolean", found, None, columns[0].texts)


def _ne(columns: Sequence[Column]) -> Column | None:
    found = equal(*columns)
    return None if found is None else Column("boolean", ~found, None, columns[0].texts)


def _ordered(compare: Callable[[Any, Any], Any]) -> Callable[[Function], Compute]:
    def start(function: Function) -> Compute:
        tables = TextTables(function, "boolean")

        def compute(columns: Sequence[Column]) -> Column | None:
            a, b = columns
            if {a.kind, b.kind} & {"any", "record"}:
                return None
            if a.kind in NUMBERS and b.kind in NUMBERS:
                pair = exact_pair(a, b)
                if pair is None:
                    return None
                found: Bools = compare(*pair)
            elif a.kind != b.kind or a.kind == "boolean":
                _refuse_mixed(a, b)
                found = np.zeros(max(len(a), len(b)), np.bool_)
            elif a.kind == "text":
                if (len(a) == 1) != (len(b) == 1):
                    return tables.compute(columns)
                ranks = a.texts.ranks()
                if not len(ranks):
                    found = np.zeros(max(len(a), len(b)), np.bool_)
                else:
                    found = compare(ranks[a.data], ranks[b.data])
            else:
                found = compare(a.data, b.data)
            valid = valid_of(a, b)
            return Column("boolean", found if valid is None else found & valid, None, a.texts)

        return compute

    return start


def _is_missing(columns: Sequence[Column]) -> Column:
    return Column("boolean", ~columns[0].present, None, columns[0].texts)


FUNCTIONS = {
    "eq": ColumnFunction(stateless(_eq)),
    "ne": ColumnFunction(stateless(_ne)),
    "lt": ColumnFunction(_ordered(np.less)),
    "le": ColumnFunction(_ordered(np.less_equal)),
    "gt": ColumnFunction(_ordered(np.greater)),
    "ge": ColumnFunction(_ordered(np.greater_equal)),
    "is_missing": ColumnFunction(stateless(_is_missing)),
}

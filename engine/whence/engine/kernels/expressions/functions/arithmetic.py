"""Arithmetic on columns with checked overflow, min and max."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.engine.kernels.columns.column import Bools, Column, Ints
from whence.engine.kernels.expressions.functions.base import (
    NUMBERS,
    BadRow,
    Bounds,
    ColumnFunction,
    Compute,
    Picks,
    first_bad,
    made,
    spread,
    stateless,
    valid_of,
)
from whence.engine.values import INT64_MAX, INT64_MIN

__all__ = ["FUNCTIONS", "bounds_of"]

_TIMES = ("instant", "duration")
_FIRST_INSTANT = -62_135_596_800_000_000
_LAST_INSTANT = 253_402_300_799_999_999
_Pair = Callable[[Column, Column], Column | None]


def bounds_of(column: Column) -> Bounds | None:
    """Between which two numbers all data lie; ``None`` if some are not finite.

    Integers are Python's own, so that reckoning with them cannot overflow.
    """
    if column.bounds is not None:
        return column.bounds
    low, high = column.data.min().item(), column.data.max().item()
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _fits(bounds: Bounds) -> bool:
    return bounds[0] >= INT64_MIN and bounds[1] <= INT64_MAX


def _sum_bounds(a: Bounds, b: Bounds) -> Bounds:
    return a[0] + b[0], a[1] + b[1]


def _difference_bounds(a: Bounds, b: Bounds) -> Bounds:
    return a[0] - b[1], a[1] - b[0]


def _product_bounds(a: Bounds, b: Bounds) -> Bounds:
    corners = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return min(corners), max(corners)


def _added_too_much(a: Ints, b: Ints, result: Ints, valid: Bools | None) -> None:
    first_bad(((a ^ result) & (b ^ result)) < 0, valid)


def _subtracted_too_much(a: Ints, b: Ints, result: Ints, valid: Bools | None) -> None:
    first_bad(((a ^ b) & (a ^ result)) < 0, valid)


def _multiplied_too_much(a: Ints, b: Ints, result: Ints, valid: Bools | None) -> None:
    near = np.abs(a.astype(np.float64) * b) > 2.0**62
    if valid is not None:
        near = near & valid
    count = len(result)
    for row in np.flatnonzero(near).tolist():
        exact = int(spread(a, count)[row]) * int(spread(b, count)[row])
        if not INT64_MIN <= exact <= INT64_MAX:
            raise BadRow(row)


def _check_finite(
    result: npt.NDArray[np.float64], a: npt.NDArray[Any], b: npt.NDArray[Any], valid: Bools | None
) -> None:
    """Refuse what is not finite unless an operand was not; the sum is finite if all results are."""
    if not math.isfinite(result.sum()):
        first_bad(~np.isfinite(result) & np.isfinite(a) & np.isfinite(b), valid)


def _numbers(
    compute: Callable[..., npt.NDArray[Any]],
    bound: Callable[[Bounds, Bounds], Bounds],
    too_much: Callable[[Ints, Ints, Ints, Bools | None], None],
    times: _Pair | None,
) -> _Pair:
    """Arithmetic of two columns; rows are checked only where the bounds do not settle it."""

    def pair(a: Column, b: Column) -> Column | None:
        if a.kind not in NUMBERS or b.kind not in NUMBERS:
            return None if times is None else times(a, b)
        valid = valid_of(a, b)
        of_a, of_b = bounds_of(a), bounds_of(b)
        within = None if of_a is None or of_b is None else bound(of_a, of_b)
        if a.kind == b.kind == "integer":
            if within is not None and within[0] >= INT64_MIN and within[1] <= INT64_MAX:
                result = compute(a.data, b.data, _room(a, b, "integer"))
            else:
                result = compute(a.data, b.data)
                too_much(a.data, b.data, result, valid)
                within = None
            return made("integer", result, valid, a.texts, within, spare=True)
        if within is None or not (math.isfinite(within[0]) and math.isfinite(within[1])):
            with np.errstate(all="ignore"):
                result = compute(a.data, b.data)
                _check_finite(result, a.data, b.data, valid)
            return made("float", result, valid, a.texts, spare=True)
        result = compute(a.data, b.data, _room(a, b, "float"))
        return made("float", result, valid, a.texts, within, spare=True)

    return pair


def _room(a: Column, b: Column, kind: str) -> npt.NDArray[Any] | None:
    """The data of one of two columns, if a result of this kind may take their place."""
    for column, other in ((a, b), (b, a)):
        if column.spare and column.kind == kind and len(column.data) >= len(other.data):
            return column.data
    return None


def _multiply(a: Any, b: Any, out: Any = None) -> npt.NDArray[Any]:
    result: npt.NDArray[Any] = np.multiply(a, b, out)
    if result.dtype == np.float64:
        result += 0.0  # a zero product is +0
    return result


def _timed(
    kind: str,
    data: Ints,
    bound: Callable[[Bounds, Bounds], Bounds],
    a: Column,
    b: Column,
) -> Column | None:
    """A time, if it is one that both a calendar and 64 bits have."""
    of_a, of_b = bounds_of(a), bounds_of(b)
    if of_a is None or of_b is None or not _fits(bound(of_a, of_b)):
        return None
    valid = valid_of(a, b)
    if kind == "instant":
        outside = (data < _FIRST_INSTANT) | (data > _LAST_INSTANT)
        if outside.any():
            first_bad(outside, valid)
            data = np.where(outside, 0, data)  # missing, but a time all the same
    return made(kind, data, valid, a.texts)


def _add_times(a: Column, b: Column) -> Column | None:
    if not (a.kind in _TIMES and b.kind in _TIMES) or a.kind == b.kind == "instant":
        return None
    kind = "instant" if "instant" in (a.kind, b.kind) else "duration"
    return _timed(kind, a.data + b.data, _sum_bounds, a, b)


def _sub_times(a: Column, b: Column) -> Column | None:
    if not (a.kind in _TIMES and b.kind in _TIMES) or (a.kind, b.kind) == ("duration", "instant"):
        return None
    kind = "duration" if a.kind == b.kind else "instant"
    return _timed(kind, a.data - b.data, _difference_bounds, a, b)


def _fold(pair: _Pair, alone: tuple[str, ...]) -> Compute:
    def compute(columns: Sequence[Column]) -> Column | None:
        result: Column | None = columns[0]
        if len(columns) == 1:
            return result if columns[0].kind in alone else None
        for column in columns[1:]:
            result = None if result is None else pair(result, column)
        return result

    return compute


def _div(columns: Sequence[Column]) -> Column | None:
    a, b = columns
    if a.kind not in NUMBERS or b.kind not in NUMBERS:
        return None
    valid = valid_of(a, b)
    zero = b.data == 0
    if zero.any():
        count = max(len(a), len(b))
        first_bad(spread(zero, count), valid)
    with np.errstate(all="ignore"):
        result = np.true_divide(a.data, b.data)
        _check_finite(result, a.data, b.data, valid)
    return made("float", result, valid, a.texts)


def _abs(columns: Sequence[Column]) -> Column | None:
    (a,) = columns
    if a.kind not in (*NUMBERS, "duration"):
        return None
    of_a = bounds_of(a)
    within = None if of_a is None else (0, max(abs(of_a[0]), abs(of_a[1])))
    if a.kind != "float" and within is not None and not _fits(within):
        if a.kind == "duration":
            return None
        first_bad(a.data == INT64_MIN, a.valid)
        within = None
    return made(a.kind, np.abs(a.data), a.valid, a.texts, within)


def _any_nan(columns: Sequence[Column]) -> Bools | None:
    found: Bools | None = None
    for column in columns:
        nan = np.isnan(column.data)
        if nan.any():
            found = nan if found is None else found | nan
    return found


def _ordered(column: Column) -> npt.NDArray[Any]:
    """Data that are ordered as the values are."""
    if column.kind != "text":
        return column.data
    ranks = column.texts.ranks()
    found: npt.NDArray[Any] = ranks[column.data] if len(ranks) else column.data
    return found


def _extreme(better: Callable[[Any, Any], Any]) -> Compute:
    def compute(columns: Sequence[Column]) -> Column | None:
        first = columns[0]
        if len(columns) == 1:
            return None if first.kind in ("any", "record") else first
        fit = first.kind in (*NUMBERS, "text", *_TIMES)
        if not fit or any(c.kind != first.kind for c in columns):
            return None
        best, rank = first.data, _ordered(first)
        for column in columns[1:]:
            order = _ordered(column)
            wins = better(order, rank)
            best, rank = np.where(wins, column.data, best), np.where(wins, order, rank)
        if first.kind == "float":
            nan = _any_nan(columns)
            if nan is not None:
                best = np.where(nan, np.nan, best)
        return made(first.kind, best, valid_of(*columns), first.texts)

    return compute


def _attains(columns: Sequence[Column], result: Column) -> Picks | None:
    """The first argument that attains the extreme; missing and NaN are explained by all."""
    if result.kind in ("any", "record") or any(c.kind != result.kind for c in columns):
        return None
    picks: Picks = []
    left: Bools = np.ones(1, np.bool_) if result.valid is None else result.valid
    for number, column in enumerate(columns):
        here = left & (column.data == result.data)
        picks.append(((number,), here))
        left = left & ~here
    # NaN equals nothing, so that its rows are left over like those that are missing.
    rest = left if result.valid is None else left | ~result.valid
    picks.append((tuple(range(len(columns))), rest))
    return picks


def _zero(columns: Sequence[Column], result: Column) -> Picks | None:
    """The first zero, if all arguments are present and finite; otherwise all."""
    if any(c.kind not in NUMBERS for c in columns):
        return None
    valid = valid_of(*columns)
    left: Bools = np.ones(1, np.bool_) if valid is None else valid
    for column in columns:
        if column.kind == "float" and bounds_of(column) is None:
            left = left & np.isfinite(column.data)
    odd = ~left
    picks: Picks = []
    for number, column in enumerate(columns):
        zero = column.data == 0
        picks.append(((number,), left & zero))
        left = left & ~zero
    picks.append((tuple(range(len(columns))), left | odd))
    return picks


_ADD = _numbers(np.add, _sum_bounds, _added_too_much, _add_times)
_SUB = _numbers(np.subtract, _difference_bounds, _subtracted_too_much, _sub_times)
_PRODUCT = _numbers(_multiply, _product_bounds, _multiplied_too_much, None)

FUNCTIONS = {
    "add": ColumnFunction(stateless(_fold(_ADD, (*NUMBERS, *_TIMES)))),
    "product": ColumnFunction(stateless(_fold(_PRODUCT, (*NUMBERS, *_TIMES))), _zero),
    "min": ColumnFunction(stateless(_extreme(np.less)), _attains),
    "max": ColumnFunction(stateless(_extreme(np.greater)), _attains),
    "sub": ColumnFunction(stateless(lambda columns: _SUB(*columns))),
    "div": ColumnFunction(stateless(_div)),
    "abs": ColumnFunction(stateless(_abs)),
}

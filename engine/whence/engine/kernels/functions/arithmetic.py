"""Arithmetic on columns with checked overflow, min and max."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.engine.kernels.columns import Bools, Column, Ints
from whence.engine.kernels.functions.base import (
    NUMBERS,
    BadRow,
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

__all__ = ["FUNCTIONS", "bounds"]

_TIMES = ("instant", "duration")
_FIRST_INSTANT = -62_135_596_800_000_000
_LAST_INSTANT = 253_402_300_799_999_999
_Pair = Callable[[Column, Column], Column | None]


def bounds(data: npt.NDArray[Any]) -> tuple[int, int]:
    """The smallest and the largest of some integers, as numbers that cannot overflow."""
    return int(data.min()), int(data.max())


def _fits(low: int, high: int) -> bool:
    return low >= INT64_MIN and high <= INT64_MAX


def _sum_fits(a: Ints, b: Ints) -> bool:
    (low_a, high_a), (low_b, high_b) = bounds(a), bounds(b)
    return _fits(low_a + low_b, high_a + high_b)


def _difference_fits(a: Ints, b: Ints) -> bool:
    (low_a, high_a), (low_b, high_b) = bounds(a), bounds(b)
    return _fits(low_a - high_b, high_a - low_b)


def _add_integers(a: Ints, b: Ints, valid: Bools | None) -> Ints:
    result = a + b
    if not _sum_fits(a, b):
        first_bad(((a ^ result) & (b ^ result)) < 0, valid)
    return result


def _sub_integers(a: Ints, b: Ints, valid: Bools | None) -> Ints:
    result = a - b
    if not _difference_fits(a, b):
        first_bad(((a ^ b) & (a ^ result)) < 0, valid)
    return result


def _multiply_integers(a: Ints, b: Ints, valid: Bools | None) -> Ints:
    result = a * b
    (low_a, high_a), (low_b, high_b) = bounds(a), bounds(b)
    corners = [low_a * low_b, low_a * high_b, high_a * low_b, high_a * high_b]
    if not _fits(min(corners), max(corners)):
        near = np.abs(a.astype(np.float64) * b) > 2.0**62
        if valid is not None:
            near = near & valid
        count = len(result)
        for row in np.flatnonzero(near).tolist():
            exact = int(spread(a, count)[row]) * int(spread(b, count)[row])
            if not _fits(exact, exact):
                raise BadRow(row)
    return result


def _check_finite(
    result: npt.NDArray[np.float64], a: npt.NDArray[Any], b: npt.NDArray[Any], valid: Bools | None
) -> None:
    """Refuse what is not finite unless an operand was not; the sum is finite if all results are."""
    if not np.isfinite(result.sum()):
        first_bad(~np.isfinite(result) & np.isfinite(a) & np.isfinite(b), valid)


def _numbers(
    integers: Callable[[Ints, Ints, Bools | None], Ints],
    floats: Callable[[Any, Any], npt.NDArray[np.float64]],
    times: _Pair | None,
) -> _Pair:
    def pair(a: Column, b: Column) -> Column | None:
        if a.kind in NUMBERS and b.kind in NUMBERS:
            valid = valid_of(a, b)
            if a.kind == b.kind == "integer":
                return made("integer", integers(a.data, b.data, valid), valid, a.texts)
            result = floats(a.data, b.data)
            _check_finite(result, a.data, b.data, valid)
            return made("float", result, valid, a.texts)
        return None if times is None else times(a, b)

    return pair


def _multiply_floats(a: Any, b: Any) -> npt.NDArray[np.float64]:
    result: npt.NDArray[np.float64] = np.multiply(a, b)
    result += 0.0  # a zero product is +0
    return result


def _timed(kind: str, data: Ints, fits: bool, a: Column, b: Column) -> Column | None:
    """A time, if it is one that both a calendar and 64 bits have."""
    if not fits:
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
    return _timed(kind, a.data + b.data, _sum_fits(a.data, b.data), a, b)


def _sub_times(a: Column, b: Column) -> Column | None:
    if not (a.kind in _TIMES and b.kind in _TIMES) or (a.kind, b.kind) == ("duration", "instant"):
        return None
    kind = "duration" if a.kind == b.kind else "instant"
    return _timed(kind, a.data - b.data, _difference_fits(a.data, b.data), a, b)


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
    result = np.true_divide(a.data, b.data)
    _check_finite(result, a.data, b.data, valid)
    return made("float", result, valid, a.texts)


def _abs(columns: Sequence[Column]) -> Column | None:
    (a,) = columns
    if a.kind not in (*NUMBERS, "duration"):
        return None
    if a.kind == "integer":
        first_bad(a.data == INT64_MIN, a.valid)
    elif a.kind == "duration" and (a.data == INT64_MIN).any():
        return None
    return Column(a.kind, np.abs(a.data), a.valid, a.texts)


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
        if column.kind == "float" and not np.isfinite(column.data.sum()):
            left = left & np.isfinite(column.data)
    odd = ~left
    picks: Picks = []
    for number, column in enumerate(columns):
        zero = column.data == 0
        picks.append(((number,), left & zero))
        left = left & ~zero
    picks.append((tuple(range(len(columns))), left | odd))
    return picks


_ADD = _numbers(_add_integers, np.add, _add_times)
_SUB = _numbers(_sub_integers, np.subtract, _sub_times)
_PRODUCT = _numbers(_multiply_integers, _multiply_floats, None)

FUNCTIONS = {
    "add": ColumnFunction(stateless(_fold(_ADD, (*NUMBERS, *_TIMES)))),
    "product": ColumnFunction(stateless(_fold(_PRODUCT, (*NUMBERS, *_TIMES))), _zero),
    "min": ColumnFunction(stateless(_extreme(np.less)), _attains),
    "max": ColumnFunction(stateless(_extreme(np.greater)), _attains),
    "sub": ColumnFunction(stateless(lambda columns: _SUB(*columns))),
    "div": ColumnFunction(stateless(_div)),
    "abs": ColumnFunction(stateless(_abs)),
}

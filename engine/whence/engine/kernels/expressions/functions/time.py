"""Time on columns, in microseconds: instants, durations, and what lies between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whence.engine.functions.base import Function
from whence.engine.kernels.columns.column import Column
from whence.engine.kernels.expressions.functions.arithmetic import bounds_of
from whence.engine.kernels.expressions.functions.base import (
    ColumnFunction,
    Compute,
    made,
    stateless,
    valid_of,
)
from whence.engine.kernels.expressions.functions.tables import TextTables
from whence.engine.values import INT64_MAX

__all__ = ["FUNCTIONS"]

_SECOND = 1_000_000
_HOUR = 3_600 * _SECOND
_DAY = 24 * _HOUR
_EXACT = 2**53


def _instant(function: Function) -> Compute:
    tables = TextTables(function, "instant", test=False)

    def compute(columns: Sequence[Column]) -> Column | None:
        return columns[0] if columns[0].kind == "instant" else tables.compute(columns)

    return compute


def _duration(unit: int) -> ColumnFunction:
    def compute(columns: Sequence[Column]) -> Column | None:
        (number,) = columns
        data = number.data
        if number.kind == "float":
            # Python rounds the exact product; that is the same where there is nothing to round.
            within = bounds_of(number)
            if within is None or max(-within[0], within[1]) >= _EXACT:
                return None
            whole = data.astype(np.int64)
            if (whole != data).any():
                return None
            data = whole
        elif number.kind != "integer":
            return None
        if max(-int(data.min()), int(data.max())) * unit > INT64_MAX:
            return None
        return made("duration", data * unit, number.valid, number.texts)

    return ColumnFunction(stateless(compute))


def _days_between(columns: Sequence[Column]) -> Column | None:
    start, end = columns
    if start.kind != "instant" or end.kind != "instant":
        return None
    days = end.data // _DAY - start.data // _DAY
    return made("integer", days, valid_of(start, end), start.texts)


def _seconds_between(columns: Sequence[Column]) -> Column | None:
    start, end = columns
    if start.kind != "instant" or end.kind != "instant":
        return None
    apart = end.data - start.data
    if max(-int(apart.min()), int(apart.max())) > _EXACT:
        return None
    return made("float", apart / _SECOND, valid_of(start, end), start.texts)


def _hour(columns: Sequence[Column]) -> Column | None:
    (instant,) = columns
    if instant.kind != "instant":
        return None
    return Column("integer", instant.data // _HOUR % 24, instant.valid, instant.texts)


def _weekday(columns: Sequence[Column]) -> Column | None:
    (instant,) = columns
    if instant.kind != "instant":
        return None
    # 1970-01-01 was a Thursday, the fourth day.
    days = instant.data // _DAY
    return Column("integer", (days + 3) % 7 + 1, instant.valid, instant.texts)


FUNCTIONS = {
    "instant": ColumnFunction(_instant),
    "days": _duration(_DAY),
    "hours": _duration(_HOUR),
    "minutes": _duration(60 * _SECOND),
    "seconds": _duration(_SECOND),
    "days_between": ColumnFunction(stateless(_days_between)),
    "seconds_between": ColumnFunction(stateless(_seconds_between)),
    "hour": ColumnFunction(stateless(_hour)),
    "weekday": ColumnFunction(stateless(_weekday)),
}

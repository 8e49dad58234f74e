"""Time: instants, durations, and what lies between. Instants are in UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from whence.engine.functions.base import Function, takes
from whence.engine.values import Value, ValueFault, describe
from whence.engine.values.instants import parse_instant

__all__ = ["FUNCTIONS"]

_DAY = timedelta(days=1)


def _instant(value: Value) -> Value:
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, str):
        return parse_instant(value)
    raise ValueFault("an instant", describe(value), "declaring the column as instant")


def _moment(value: Value) -> datetime:
    if isinstance(value, datetime):
        return value
    raise ValueFault("an instant", describe(value), "declaring the column as instant")


def _duration(unit: timedelta) -> Callable[[Any], Value]:
    def compute(value: Any) -> Value:
        if value is None:
            return None
        if type(value) not in (int, float):
            raise ValueFault("a number", describe(value), "days(2)")
        try:
            return value * unit
        except (OverflowError, ValueError) as fault:
            raise ValueFault("a duration that fits", describe(value), "a smaller number") from fault

    return compute


def _between(unit: timedelta) -> Callable[[Any, Any], Value]:
    def compute(start: Any, end: Any) -> Value:
        if start is None or end is None:
            return None
        return (_moment(end) - _moment(start)) / unit

    return compute


def _days_between(start: Any, end: Any) -> Value:
    """Whole calendar days (UTC) from one instant to another; negative if it lies before."""
    if start is None or end is None:
        return None
    return (_moment(end).astimezone(UTC).date() - _moment(start).astimezone(UTC).date()) // _DAY


def _part(read: Callable[[datetime], int]) -> Callable[[Any], Value]:
    def compute(value: Any) -> Value:
        return None if value is None else read(_moment(value).astimezone(UTC))

    return compute


_times = takes("instant", "integer")

FUNCTIONS = (
    Function("instant", _instant, (1, 1), check=takes("any", "instant")),
    Function("days", _duration(_DAY), (1, 1), check=takes("number", "duration")),
    Function("hours", _duration(timedelta(hours=1)), (1, 1), check=takes("number", "duration")),
    Function("minutes", _duration(timedelta(minutes=1)), (1, 1), check=takes("number", "duration")),
    Function("seconds", _duration(timedelta(seconds=1)), (1, 1), check=takes("number", "duration")),
    Function("days_between", _days_between, (2, 2), check=_times),
    Function(
        "seconds_between",
        _between(timedelta(seconds=1)),
        (2, 2),
        check=takes("instant", "float"),
    ),
    Function("hour", _part(lambda t: t.hour), (1, 1), check=_times),
    Function("weekday", _part(lambda t: t.isoweekday()), (1, 1), check=_times),
)

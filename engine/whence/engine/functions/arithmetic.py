"""Arithmetic with checked overflow, min and max. A missing argument makes the result missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from operator import add, sub
from typing import Any

from whence.engine.functions.base import Function, Kind, Pick, takes
from whence.engine.values import (
    Value,
    ValueFault,
    check_integer,
    check_ordered,
    check_zone,
    describe,
)

__all__ = ["ADD", "FUNCTIONS", "MAX", "MIN", "PRODUCT", "is_zero"]

_HINT = "declaring the column's type, e.g. --type NAME=integer"


def _number(value: Value) -> Any:
    kind = type(value)
    if kind is int:
        return check_integer(value)  # type: ignore[arg-type]
    if kind is float:
        return value
    raise ValueFault("a number", describe(value), _HINT)


def _checked(result: Any, *operands: Any) -> Value:
    """Refuse an overflow; infinities and NaN among the operands may pass."""
    if type(result) is int:
        return check_integer(result)
    if not math.isfinite(result) and all(math.isfinite(x) for x in operands):
        raise ValueFault(
            "a finite result", f"{result} from {operands}", "scaling the values down before"
        )
    return result


def is_zero(value: Value) -> bool:
    """Whether a value *is* zero: -0.0 is, NaN and false are not."""
    return (type(value) is int or type(value) is float) and value == 0


def _is_time(value: Value) -> bool:
    return isinstance(value, (datetime, timedelta))


def _timed(compute: Callable[[Any, Any], Any], x: Any, y: Any) -> Value:
    for operand in (x, y):
        if isinstance(operand, datetime):
            check_zone(operand)
    try:
        return compute(x, y)
    except OverflowError as fault:
        got = f"{describe(x)} and {describe(y)}"
        raise ValueFault("a time that a calendar has", got, "a smaller duration") from fault


def _missing(*operands: Any) -> Value:
    """Missing; but what is present has to be a number or a time all the same."""
    for x in operands:
        if x is not None and not _is_time(x):
            _number(x)
    return None


def _add2(x: Any, y: Any) -> Value:
    if type(x) is int and type(y) is int:
        return check_integer(x + y)
    if x is None or y is None:
        return _missing(x, y)
    if _is_time(x) or _is_time(y):
        if (isinstance(x, datetime) and isinstance(y, datetime)) or not (
            _is_time(x) and _is_time(y)
        ):
            got = f"{describe(x)} and {describe(y)}"
            raise ValueFault("numbers, durations, or an instant and a duration", got, _HINT)
        return _timed(add, x, y)
    return _checked(_number(x) + _number(y), x, y)


def _sub2(x: Any, y: Any) -> Value:
    if type(x) is int and type(y) is int:
        return check_integer(x - y)
    if x is None or y is None:
        return _missing(x, y)
    if _is_time(x) or _is_time(y):
        if not (_is_time(x) and _is_time(y)) or (
            isinstance(x, timedelta) and isinstance(y, datetime)
        ):
            got = f"{describe(x)} and {describe(y)}"
            raise ValueFault("numbers, or instants and durations", got, _HINT)
        return _timed(sub, x, y)
    return _checked(_number(x) - _number(y), x, y)


def _product2(x: Any, y: Any) -> Value:
    if type(x) is int and type(y) is int:
        return check_integer(x * y)
    if x is None or y is None:
        return _missing(x, y)
    result: Any = _checked(_number(x) * _number(y), x, y)
    return abs(result) if result == 0 else result


def _div(x: Any, y: Any) -> Value:
    if x is None or y is None:
        return _missing(x, y)
    if _number(y) == 0:
        raise ValueFault("a divisor that is not zero", f"{describe(x)} / 0", "if y = 0 then …")
    return _checked(float(_number(x)) / float(y), x, y)


def _abs(x: Any) -> Value:
    if x is None:
        return None
    return abs(x) if isinstance(x, timedelta) else _checked(abs(_number(x)), x)


def _fold(step: Callable[[Any, Any], Value]) -> Callable[..., Value]:
    def compute(*arguments: Value) -> Value:
        result = arguments[0]
        if len(arguments) == 1:
            _missing(result)
        for argument in arguments[1:]:
            result = step(result, argument)
        return result

    return compute


def _extreme(better: Callable[[Any, Any], bool]) -> Callable[..., Value]:
    def compute(*arguments: Any) -> Value:
        best = arguments[0]
        for x in arguments[1:]:
            if check_ordered(best, x) and better(x, best):
                best = x
        if any(x is None for x in arguments):
            return None
        for x in arguments:
            if type(x) is float and math.isnan(x):
                return x
        return best

    return compute


class _Zero:
    """A zero explains a product alone, if all arguments are present and finite."""

    def explain(self, arguments: Sequence[Value], result: Value) -> Sequence[Pick]:
        """Look at the operands, never at the result: an underflow is explained by all."""
        everything = (tuple(range(len(arguments))),)
        for x in arguments:
            if x is None or (type(x) is float and not math.isfinite(x)):
                return everything
        return [(i,) for i, x in enumerate(arguments) if is_zero(x)] or everything

    def support(self, pick: Pick, may_vanish: Sequence[bool]) -> Pick:
        """The zero, and whatever could become missing: missing times zero is missing."""
        return tuple(i for i, may in enumerate(may_vanish) if may or i in pick)


class _Attains:
    """An argument that attains the extreme explains it; all arguments support it."""

    def explain(self, arguments: Sequence[Value], result: Value) -> Sequence[Pick]:
        """Each attaining argument is an alternative; missing and NaN are explained by all."""
        if result is None or result != result:
            return (tuple(range(len(arguments))),)
        return [(i,) for i, x in enumerate(arguments) if x == result]

    def support(self, pick: Pick, may_vanish: Sequence[bool]) -> Pick:
        """All of them: any other could be smaller, or larger."""
        return tuple(range(len(may_vanish)))


_numbers = takes("number", "number")


def _numbers_or_times(kinds: Sequence[Kind]) -> Kind:
    if any(k in ("instant", "duration") for k in kinds):
        return "any"
    return _numbers(kinds)


ADD = Function("add", _fold(_add2), (1, None), check=_numbers_or_times, neutral=0, pair=_add2)
PRODUCT = Function(
    "product",
    _fold(_product2),
    (1, None),
    _Zero(),
    _numbers,
    neutral=1,
    absorbing=0,
    pair=_product2,
)
MIN = Function("min", _extreme(lambda a, b: a < b), (1, None), _Attains())
MAX = Function("max", _extreme(lambda a, b: a > b), (1, None), _Attains())

FUNCTIONS = (
    ADD,
    PRODUCT,
    MIN,
    MAX,
    Function("sub", _sub2, (2, 2), check=_numbers_or_times),
    Function("div", _div, (2, 2), check=takes("number", "float")),
    Function("abs", _abs, (1, 1), check=_numbers_or_times),
)

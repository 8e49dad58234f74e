"""Values: what an event may hold, how values compare, and what they are called in errors.

An event is a value or a record (a mapping) of named fields. *Missing* is a value of its own
and is Python's ``None``. Booleans are never numbers; integers have 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

__all__ = [
    "INT64_MAX",
    "INT64_MIN",
    "Value",
    "ValueFault",
    "as_condition",
    "check_integer",
    "check_ordered",
    "check_zone",
    "describe",
    "is_number",
    "is_odd",
    "key_of",
    "kind_of",
    "same",
]

_KINDS: dict[type, str] = {
    type(None): "missing",
    bool: "boolean",
    int: "integer",
    float: "float",
    str: "text",
    datetime: "instant",
    timedelta: "duration",
    list: "list",
    tuple: "list",
    dict: "record",
}

Value = object
"""Any value of an event; the kinds are checked where they matter, at run time."""

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


class ValueFault(Exception):
    """A value that a function cannot take; the runner adds processor and position.

    Attributes:
        expected: what would have been right.
        got: what came.
        hint: what to try.
    """

    def __init__(self, expected: str, got: str, hint: str) -> None:
        super().__init__(f"expected {expected}; got {got}; try {hint}")


def kind_of(value: Value) -> str:
    """Name the kind of a value as SEMANTICS.md does.

    >>> [kind_of(v) for v in (None, True, 1, 1.5, "a", [1])]
    ['missing', 'boolean', 'integer', 'float', 'text', 'list']
    """
    name = _KINDS.get(type(value))
    if name is None:
        name = "map" if isinstance(value, Mapping) else type(value).__name__
    return name


def describe(value: Value) -> str:
    """Show a value with its kind, short enough for one line."""
    if value is None:
        return "missing"
    text = repr(value)
    return f"{kind_of(value)} {text if len(text) <= 60 else text[:57] + '...'}"


def is_number(value: Value) -> bool:
    """Whether a value is an integer or a float; a boolean is no number."""
    kind = type(value)
    return kind is int or kind is float


def is_odd(value: Value) -> bool:
    """Whether a value is missing or not finite: with one of these a zero decides no product."""
    return value is None or (type(value) is float and not math.isfinite(value))


def as_condition(value: Value) -> bool:
    """Read a value as a condition: true, false, or missing, which counts as false."""
    if value is True:
        return True
    if value is False or value is None:
        return False
    raise ValueFault(
        "a boolean", describe(value), "a comparison such as `x > 0`, or the boolean column type"
    )


def check_integer(result: int) -> int:
    """Let a 64-bit integer pass and refuse a larger one."""
    if INT64_MIN <= result <= INT64_MAX:
        return result
    raise ValueFault(
        "an integer of 64 bits", f"{result}, an overflow", "floats (x * 1.0) for such large numbers"
    )


def _mixed(left: Value, right: Value) -> ValueFault:
    kinds = {kind_of(left), kind_of(right)}
    hint = "values of one kind"
    if kinds & {"integer", "float"} and "text" in kinds:
        hint = "declaring the column's type, e.g. --type NAME=integer"
    return ValueFault("two values of one kind", f"{describe(left)} and {describe(right)}", hint)


def same(left: Value, right: Value) -> bool:
    """Compare as ``=`` does: numbers by value, missing equals missing, mixed kinds refused.

    >>> same(1, 1.0), same(None, 3), same(None, None)
    (True, False, True)
    >>> same(True, 1)
    Traceback (most recent call last):
    ...
    whence.engine.values.value.ValueFault: expected two values of one kind; got boolean True and \
integer 1; try values of one kind
    """
    if left is None or right is None:
        return left is right
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(
            [same(x, y) for x, y in zip(left, right, strict=True)]
        )
    if type(left) is not type(right) and not (is_number(left) and is_number(right)):
        pair = {kind_of(left), kind_of(right)}
        if len(pair) > 1 and pair != {"record", "map"}:
            raise _mixed(left, right)
    if isinstance(left, datetime):
        check_zone(left)
        check_zone(right)
    return bool(left == right)


def check_zone(instant: Value) -> datetime:
    """Let an instant with a time zone pass; without one it would mean another time elsewhere."""
    assert isinstance(instant, datetime)
    if instant.tzinfo is None:
        raise ValueFault("an instant with a time zone", repr(instant), "tzinfo=UTC")
    return instant


def check_ordered(left: Value, right: Value) -> bool:
    """Whether two values can be ordered: false if one is missing, an error if they are mixed."""
    if left is None or right is None:
        return False
    if is_number(left) and is_number(right):
        return True
    if type(left) is not type(right):
        raise _mixed(left, right)
    if isinstance(left, datetime):
        check_zone(left)
        check_zone(right)
    elif not isinstance(left, (str, timedelta)):
        raise ValueFault(
            "numbers, texts, instants or durations",
            f"{describe(left)} and {describe(right)}",
            "`=` or `!=`, the only comparisons of such values",
        )
    return True


def key_of(value: Value) -> object:
    """A hashable stand-in under which equal slice keys meet: 1 and 1.0, every NaN; not true and 1.

    >>> key_of(1) == key_of(1.0), key_of(True) == key_of(1), key_of(float("nan")) == "nan"
    (True, False, True)
    """
    kind = type(value)
    if kind is str:
        return ("text", value)
    if kind is bool:
        return ("boolean", value)
    if kind is float and math.isnan(value):  # type: ignore[arg-type]
        return "nan"
    if isinstance(value, datetime):
        return ("instant", check_zone(value).astimezone(UTC))
    if isinstance(value, Mapping):
        return ("map", tuple((key_of(k), key_of(v)) for k, v in value.items()))
    if isinstance(value, (list, tuple)):
        return ("list", tuple(key_of(v) for v in value))
    return value

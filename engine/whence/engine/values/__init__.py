"""What events hold: values, how they compare and are written, columns of them, and their limits."""

from __future__ import annotations

from whence.engine.values.value import (
    INT64_MAX,
    INT64_MIN,
    Value,
    ValueFault,
    as_condition,
    check_integer,
    check_ordered,
    check_zone,
    describe,
    is_number,
    is_odd,
    key_of,
    kind_of,
    same,
)

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

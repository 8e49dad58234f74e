"""Comparison: =, !=, <, <=, >, >=, and `is missing`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import ge, gt, le, lt
from typing import Any

from whence.engine.functions.base import Function, Kind
from whence.engine.values import Value, ValueFault, check_ordered, same

__all__ = ["FUNCTIONS"]

_NUMBERS = ("integer", "float", "number")


def _comparable(kinds: Sequence[Kind]) -> Kind:
    """Refuse a comparison that must fail on every event, and say how to declare the type."""
    known = {"number" if k in _NUMBERS else k for k in kinds if k not in ("any", "missing")}
    if len(known) > 1:
        hint = "values of one kind"
        if known == {"text", "number"}:
            hint = "declaring the column's type, e.g. --type NAME=integer"
        raise ValueFault("two values of one kind", " and ".join(sorted(known)), hint)
    return "boolean"


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Value, Value], Value]:
    def compute(x: Any, y: Any) -> bool:
        if type(x) is int and type(y) is int:
            return compare(x, y)
        return check_ordered(x, y) and compare(x, y)

    return compute


def _eq(x: Value, y: Value) -> bool:
    if type(x) is type(y) and type(x) in (int, str, bool):
        return x == y
    return same(x, y)


def _ne(x: Value, y: Value) -> bool:
    return not _eq(x, y)


FUNCTIONS = (
    Function("eq", _eq, (2, 2), check=_comparable, missing="never"),
    Function("ne", _ne, (2, 2), check=_comparable, missing="never"),
    Function("lt", _ordered(lt), (2, 2), check=_comparable, missing="never"),
    Function("le", _ordered(le), (2, 2), check=_comparable, missing="never"),
    Function("gt", _ordered(gt), (2, 2), check=_comparable, missing="never"),
    Function("ge", _ordered(ge), (2, 2), check=_comparable, missing="never"),
    Function("is_missing", lambda x: x is None, (1, 1), missing="never"),
)

"""Expressions and folds for `whole_lists`: a value, and the set of input events that explain it."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

__all__ = ["Pair", "evaluate", "fold", "key_of", "neutral", "true"]

Pair = tuple[Any, frozenset[Any]]
NOTHING: frozenset[Any] = frozenset()
COMPARE = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


def true(value: object) -> bool:
    """As a condition: missing counts as false."""
    return value is True


def key_of(value: Any) -> object:
    """Keys compare as values, but a boolean is no number."""
    return (isinstance(value, bool), tuple(value) if isinstance(value, list) else value)


def neutral(name: str) -> Any:
    """What a fold over nothing gives."""
    return {"and": True, "or": False, "add": 0, "product": 1, "count": 0}.get(name)


def evaluate(expression: Any, front: Sequence[Pair]) -> Pair:
    """The value of an expression over a front, and its first witness."""
    if not isinstance(expression, dict):
        return expression, NOTHING
    if "field" in expression:
        record, why = front[expression.get("input", 0)]
        return (None if record is None else record.get(expression["field"])), why
    ((name, written),) = expression.items()
    if name == "input":
        return front[written]
    if name == "constant":
        is_record = isinstance(written, dict) and "record" in written
        return (written["record"] if is_record else written), NOTHING
    arguments = written if isinstance(written, list) else [written]
    if name == "if":
        condition = evaluate(arguments[0], front)
        taken = evaluate(arguments[1 if true(condition[0]) else 2], front)
        return taken[0], condition[1] | taken[1]
    if name == "coalesce":
        return _coalesced([evaluate(x, front) for x in arguments])
    return _call(name, [evaluate(x, front) for x in arguments])


def _coalesced(pairs: list[Pair]) -> Pair:
    """The first present value, and what explains it and all before it."""
    why = NOTHING
    for value, below in pairs:
        why = why | below
        if value is not None:
            return value, why
    return None, why


def _call(name: str, pairs: list[Pair]) -> Pair:
    if name in ("and", "or", "add", "product", "min", "max"):
        return fold(name, pairs)
    values = [value for value, _ in pairs]
    everything = NOTHING.union(*(why for _, why in pairs))
    if name == "implies":
        if not true(values[0]):
            return True, pairs[0][1]
        return (True, pairs[1][1]) if true(values[1]) else (False, everything)
    return _plain(name, values), everything


def _plain(name: str, values: list[Any]) -> Any:
    if name == "list":
        return values
    if name == "is_missing":
        return values[0] is None
    if name == "not":
        return not true(values[0])
    if name == "xor":
        return sum(map(true, values)) % 2 == 1
    if name in ("eq", "ne"):
        same = values[0] is values[1] if None in values else values[0] == values[1]
        return same == (name == "eq")
    if name in COMPARE:
        return None not in values and COMPARE[name](*values)
    if None in values:
        return None
    return abs(values[0]) if name == "abs" else values[0] - values[1]


def fold(name: str, pairs: list[Pair]) -> Pair:
    """A function of any number of arguments, folded from the left, and its first witness."""
    values = [value for value, _ in pairs]
    everything = NOTHING.union(*(why for _, why in pairs))
    if name in ("and", "or"):
        decisive = name == "or"
        for value, why in pairs:
            if true(value) is decisive:
                return decisive, why
        return not decisive, everything
    if None in values:
        return None, everything
    if name in ("min", "max"):
        best = min(values) if name == "min" else max(values)
        return best, next(why for value, why in pairs if value == best)
    if name == "add":
        return sum(values), everything
    if all(math.isfinite(value) for value in values):
        for value, why in pairs:
            if value == 0:
                return 0, why
    return math.prod(values), everything

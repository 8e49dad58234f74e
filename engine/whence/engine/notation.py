"""How values and expressions are written in chain files: the JSON forms, both ways."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from whence.engine.errors import DefinitionError
from whence.engine.expression import Call, Constant, Expression, Field, Input
from whence.engine.functions import FUNCTIONS, check_path, function_named, load_function
from whence.engine.functions.time import parse_instant
from whence.engine.traits import MOST_PIPES
from whence.engine.values import Value, describe

__all__ = ["expression_from_json", "expression_json", "value_from_json", "value_json"]

Json = Any
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def value_json(value: Value) -> Json:
    """Write a value: JSON's own where it has one, else an object with one telling key.

    >>> value_json(timedelta(hours=1))
    {'duration': 3600.0}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, datetime):
        return {"instant": value.isoformat()}
    if isinstance(value, timedelta):
        return {"duration": value.total_seconds()}
    if isinstance(value, (list, tuple)):
        return [value_json(v) for v in value]
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        return {"record": {k: value_json(v) for k, v in value.items()}}
    if isinstance(value, Mapping):
        return {"map": [[value_json(k), value_json(v)] for k, v in value.items()]}
    msg = (
        f"a constant: expected a value of an event; got {describe(value)}; "
        "try a boolean, number, text, instant, duration, list or record"
    )
    raise DefinitionError(msg)


def value_from_json(written: Json) -> Value:
    """Read a value that `value_json` wrote."""
    if isinstance(written, list):
        return [value_from_json(v) for v in written]
    if not isinstance(written, dict):
        return written
    if len(written) == 1:
        ((key, inner),) = written.items()
        if key == "instant":
            return parse_instant(inner)
        if key == "duration":
            return timedelta(seconds=inner)
        if key == "float" and inner in _SPECIAL:
            return _SPECIAL[inner]
        if key == "record":
            return {k: value_from_json(v) for k, v in inner.items()}
        if key == "map":
            return {value_from_json(k): value_from_json(v) for k, v in inner}
    msg = (
        f"a constant: expected a value; got {written!r}; "
        "try {'record': {…}} for a record, {'instant': '2026-03-01T00:00:00Z'} for an instant"
    )
    raise DefinitionError(msg)


def expression_json(expression: Expression) -> Json:
    """Write an expression as in chain files.

    >>> expression_json(Call(function_named("lt"), (Field("p"), Constant(0))))
    {'lt': [{'field': 'p'}, 0]}
    """
    if isinstance(expression, Constant) and isinstance(expression.value, str):
        # Where a whole expression stands, a text would be read as a formula.
        return {"constant": expression.value}
    return _write(expression)


def _write(expression: Expression) -> Json:
    if isinstance(expression, Constant):
        if expression.value is None or isinstance(expression.value, (bool, int, float, str)):
            written = value_json(expression.value)
            return {"constant": written} if isinstance(written, dict) else written
        return {"constant": value_json(expression.value)}
    if isinstance(expression, Input):
        return {"input": expression.pipe}
    if isinstance(expression, Field):
        if expression.pipe:
            return {"field": expression.name, "input": expression.pipe}
        return {"field": expression.name}
    arguments = [_write(x) for x in expression.arguments]
    if expression.function.path:
        check_path(expression.function)
        return {"call": expression.function.path, "arguments": arguments}
    return {expression.function.name: arguments}


def expression_from_json(
    written: Json, text: Callable[[str], Expression] | None = None
) -> Expression:
    """Read an expression.

    Args:
        written: the JSON form. Inside a function's arguments a text is a constant.
        text: reads a text that stands for a whole expression: a formula. Without it such a text
            is a constant too.
    """
    if isinstance(written, str):
        return Constant(written) if text is None else text(written)
    return _read(written)


def _read(written: Json) -> Expression:
    if not isinstance(written, dict):
        return Constant(value_from_json(written))
    keys = set(written)
    if keys == {"input"}:
        return Input(_pipe(written["input"]))
    if keys == {"field"} or keys == {"field", "input"}:
        if not isinstance(written["field"], str):
            _refuse(written, "a field's name as text", "{'field': 'amount'}")
        return Field(written["field"], _pipe(written.get("input", 0)))
    if keys == {"constant"}:
        return Constant(value_from_json(written["constant"]))
    if keys == {"call", "arguments"}:
        return Call(load_function(written["call"]), tuple(_read(x) for x in written["arguments"]))
    if len(keys) != 1:
        _refuse(written, "an object with one key, the function's name", "{'lt': [x, y]}")
    ((name, arguments),) = written.items()
    if not isinstance(arguments, list):
        arguments = [arguments]
    return Call(function_named(name), tuple(_read(x) for x in arguments))


def _pipe(written: Json) -> int:
    if type(written) is not int or not 0 <= written < MOST_PIPES:
        _refuse(written, f"the number of a pipe below {MOST_PIPES}", "0 for the first")
    return int(written)


def _refuse(written: Json, expected: str, hint: str) -> None:
    known = ", ".join(sorted(FUNCTIONS))
    msg = f"an expression: expected {expected}; got {written!r}; try {hint} (functions: {known})"
    raise DefinitionError(msg)

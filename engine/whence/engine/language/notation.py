"""How expressions are written in chain files: the JSON form, both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whence.engine.errors import DefinitionError
from whence.engine.functions import FUNCTIONS, NEVER, OwnFunctions, check_path, function_named
from whence.engine.language.expression import Call, Constant, Expression, Field, Input
from whence.engine.language.traits import MOST_PIPES
from whence.engine.values.value_json import value_from_json, value_json

__all__ = ["expression_from_json", "expression_json"]

Json = Any


def expression_json(expression: Expression) -> Json:
    """Write an expression as in chain files.

    >>> expression_json(Call(function_named("lt"), (Field("p"), Constant(0))))
    {'lt': [{'field': 'p'}, 0]}
    """
    if isinstance(expression, Constant) and isinstance(expression.value, str):
        # In place of an expression, a text would be read as a formula.
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
    written: Json,
    text: Callable[[str], Expression] | None = None,
    *,
    own: OwnFunctions = NEVER,
) -> Expression:
    """Read an expression.

    Args:
        written: the JSON form. Inside a function's arguments a text is a constant.
        text: reads a text in place of an expression: a formula. Without it such a text
            is a constant too.
        own: finds the functions of the user's own that it calls.
    """
    if isinstance(written, str):
        return Constant(written) if text is None else text(written)
    return _read(written, own)


def _read(written: Json, own: OwnFunctions) -> Expression:
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
        given = tuple(_read(x, own) for x in written["arguments"])
        return Call(own.named(written["call"]), given)
    if len(keys) != 1:
        _refuse(written, "an object with one key, the function's name", "{'lt': [x, y]}")
    ((name, arguments),) = written.items()
    if not isinstance(arguments, list):
        arguments = [arguments]
    return Call(function_named(name), tuple(_read(x, own) for x in arguments))


def _pipe(written: Json) -> int:
    if type(written) is not int or not 0 <= written < MOST_PIPES:
        _refuse(written, f"the number of a pipe below {MOST_PIPES}", "0 for the first")
    return int(written)


def _refuse(written: Json, expected: str, hint: str) -> None:
    known = ", ".join(sorted(FUNCTIONS))
    msg = f"an expression: expected {expected}; got {written!r}; try {hint} (functions: {known})"
    raise DefinitionError(msg)

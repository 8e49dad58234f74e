"""Text: concat, length, lower, upper, strip, starts_with, ends_with, contains, matches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whence.engine.functions.base import Function, takes
from whence.engine.functions.patterns import check_pattern, matches
from whence.engine.values import Value, ValueFault, describe
from whence.engine.values.limits import LONG, check_text

__all__ = ["FUNCTIONS"]

_FEW = 8


def _text(value: Value) -> str:
    if type(value) is str:
        return value
    raise ValueFault("a text", describe(value), "declaring the column as text")


def _text_function(
    name: str,
    arity: int,
    compute: Callable[..., Value],
    gives: str,
    *,
    test: bool = False,
    constant: Callable[[int, Value], None] | None = None,
) -> Function:
    """A function of texts: with a missing argument it is missing, or false if it is a test."""

    def checked(*arguments: Any) -> Value:
        if any([x is None for x in arguments]):
            return False if test else None
        return compute(*[_text(x) for x in arguments])

    return Function(
        name,
        checked,
        (arity, arity),
        check=takes("text", gives),
        missing="never" if test else "arguments",
        constant=constant,
    )


def _constant_pattern(number: int, value: Value) -> None:
    """Refuse a constant that is no pattern before any event is seen."""
    if number == 1 and isinstance(value, str):
        check_pattern(value)


def _concat(*parts: Value) -> Value:
    if any([x is None for x in parts]):
        return None
    made = [_text(x) for x in parts]
    if len(made) > _FEW:
        check_text(made)
        return "".join(made)
    text = "".join(made)  # of a few values, each of which is not too long itself
    if len(text) > LONG:
        check_text(made)
    return text


FUNCTIONS = (
    Function("concat", _concat, (1, None), check=takes("text", "text")),
    _text_function("length", 1, len, "integer"),
    _text_function("lower", 1, str.lower, "text"),
    _text_function("upper", 1, str.upper, "text"),
    _text_function("strip", 1, str.strip, "text"),
    _text_function("starts_with", 2, str.startswith, "boolean", test=True),
    _text_function("ends_with", 2, str.endswith, "boolean", test=True),
    _text_function("contains", 2, lambda x, y: y in x, "boolean", test=True),
    _text_function("matches", 2, matches, "boolean", test=True, constant=_constant_pattern),
)

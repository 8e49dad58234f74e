"""Text: concat, length, lower, upper, strip, starts_with, ends_with, contains, matches."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from whence.engine.functions.base import Function, takes
from whence.engine.values import Value, ValueFault, describe

__all__ = ["FUNCTIONS"]


def _text(value: Value) -> str:
    if type(value) is str:
        return value
    raise ValueFault("a text", describe(value), "declaring the column as text")


@lru_cache(maxsize=256)
def _pattern(source: str) -> re.Pattern[str]:
    try:
        return re.compile(source)
    except re.error as fault:
        msg = f"{source!r} ({fault})"
        raise ValueFault("a regular expression", msg, "escaping special characters") from fault


def _text_function(
    name: str, arity: int, compute: Callable[..., Value], gives: str, *, test: bool = False
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
    )


def _concat(*parts: Value) -> Value:
    if any([x is None for x in parts]):
        return None
    return "".join([_text(x) for x in parts])


FUNCTIONS = (
    Function("concat", _concat, (1, None), check=takes("text", "text")),
    _text_function("length", 1, len, "integer"),
    _text_function("lower", 1, str.lower, "text"),
    _text_function("upper", 1, str.upper, "text"),
    _text_function("strip", 1, str.strip, "text"),
    _text_function("starts_with", 2, str.startswith, "boolean", test=True),
    _text_function("ends_with", 2, str.endswith, "boolean", test=True),
    _text_function("contains", 2, lambda x, y: y in x, "boolean", test=True),
    _text_function("matches", 2, lambda x, y: bool(_pattern(y).search(x)), "boolean", test=True),
)

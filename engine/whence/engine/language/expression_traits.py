"""What is known of an expression before any event: its kind, what may be missing or vanish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from whence.engine.language.expression import (
    Call,
    Constant,
    Expression,
    Field,
    Input,
)
from whence.engine.language.traits import ComparedColumns, Traits
from whence.engine.values import ValueFault, is_odd, kind_of

__all__ = ["kind_of_expression", "may_be_missing", "may_vanish", "no_record", "unknown_field"]


def may_be_missing(expression: Expression, pipes: Sequence[Traits]) -> bool:
    """Whether the value may be missing at all (or a constant that is not finite)."""
    if isinstance(expression, Constant):
        return is_odd(expression.value)
    if isinstance(expression, (Input, Field)):
        return isinstance(expression, Field) or pipes[expression.pipe].may_be_missing
    how = expression.function.missing
    if how == "branches":
        return any(may_be_missing(x, pipes) for x in expression.arguments[1:])
    if how == "all":
        return _first_may_be_odd(expression.arguments, pipes)
    return how == "always" or (
        how == "arguments" and any(may_be_missing(x, pipes) for x in expression.arguments)
    )


_FINITE = frozenset({"missing", "boolean", "integer", "text", "instant", "duration", "list"})
"""Kinds of values that are finite if they are present."""


def _first_may_be_odd(arguments: Sequence[Expression], pipes: Sequence[Traits]) -> bool:
    """Whether the first argument that is present may be infinite, or there may be none."""
    for x in arguments:
        if not may_be_missing(x, pipes) or not _is_finite(x, pipes):
            return may_be_missing(x, pipes)
    return True


def _is_finite(expression: Expression, pipes: Sequence[Traits]) -> bool:
    """Whether the value is finite if it is present, by its kind."""
    if isinstance(expression, Call) and expression.function.missing == "branches":
        return all(_is_finite(x, pipes) for x in expression.arguments[1:])
    return kind_of_expression(expression, pipes) in _FINITE


def may_vanish(expression: Expression, pipes: Sequence[Traits]) -> bool:
    """Whether the value may become missing while all inputs stay present."""
    if isinstance(expression, Constant):
        return False
    if isinstance(expression, (Input, Field)):
        return pipes[expression.pipe].may_vanish
    how = expression.function.missing
    if how == "branches":
        # Another branch may be taken, and that one may be missing already.
        return may_be_missing(expression, pipes) or any(
            may_vanish(x, pipes) for x in expression.arguments[1:]
        )
    if how == "all":
        # Those before the first that can vanish stay as they are: missing, or what is taken.
        given = expression.arguments
        settled = next((n for n, x in enumerate(given) if not may_be_missing(x, pipes)), len(given))
        vanish = [n for n, x in enumerate(given[: settled + 1]) if may_vanish(x, pipes)]
        return bool(vanish) and _first_may_be_odd(given[vanish[0] :], pipes)
    return how == "always" or (
        how == "arguments" and any(may_vanish(x, pipes) for x in expression.arguments)
    )


def kind_of_expression(expression: Expression, pipes: Sequence[Traits]) -> str:
    """The kind of the value as far as it is known; raises `ValueFault` where kinds do not fit."""
    if isinstance(expression, Constant):
        return kind_of(expression.value)
    if isinstance(expression, Input):
        return pipes[expression.pipe].kind
    if isinstance(expression, Field):
        columns = pipes[expression.pipe].columns
        if columns is None:
            kind = pipes[expression.pipe].kind
            if kind in ("any", "record", "map", "missing"):
                return "any"
            if expression.name == "value":
                return kind
            raise no_record(expression.name, kind)
        if expression.name not in columns:
            raise unknown_field(expression.name, columns)
        return columns[expression.name]
    kinds = [kind_of_expression(x, pipes) for x in expression.arguments]
    expression.function.check_constants(expression.constants)
    _note_compared(expression, pipes)
    try:
        return expression.function.check(kinds)
    except ValueFault as fault:
        for argument, kind in zip(expression.arguments, kinds, strict=True):
            if isinstance(argument, Field) and kind == "text":
                # The hint can name the very column that is text only for want of a declaration.
                fault.args = (str(fault).replace("--type NAME=", f"--type {argument.name}="),)
                break
        raise


_EQUALITY = {"eq": "=", "ne": "!=", "in": "="}


def _note_compared(call: Call, pipes: Sequence[Traits]) -> None:
    """Let columns know the texts that they are compared with, if they want to."""
    how = _EQUALITY.get(call.function.name)
    if how is None or call.function.path:
        return
    reads = [x for x in call.arguments if isinstance(x, Field)]
    texts = [x.value for x in call.arguments if isinstance(x, Constant)]
    for read in reads:
        columns = pipes[read.pipe].columns
        if isinstance(columns, ComparedColumns):
            for value in texts:
                for text in value if isinstance(value, (list, tuple)) else (value,):
                    if isinstance(text, str):
                        columns.note(read.name, text, how)


def no_record(name: str, got: str) -> ValueFault:
    """The fault of reading a field of a value that is no record."""
    return ValueFault(f"a record with the field {name!r}", got, "`value`, the event itself")


def unknown_field(name: str, columns: Sequence[str] | Mapping[str, str]) -> ValueFault:
    """The error for a field that no record has."""
    near = get_close_matches(name, list(columns), n=1)
    hint = f"{near[0]!r} (did you mean that?)" if near else "one of " + ", ".join(columns)
    return ValueFault("a field of the log", repr(name), hint)

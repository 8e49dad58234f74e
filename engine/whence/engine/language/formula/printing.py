"""Write an expression as formula text: for reports, drawings and errors."""

from __future__ import annotations

import re
from collections.abc import Container
from datetime import datetime, timedelta

from whence.engine.functions import FUNCTIONS
from whence.engine.language.expression import Call, Constant, Expression, Field, Input
from whence.engine.language.formula.faults import RESERVED
from whence.engine.values import Value

__all__ = ["expression_text", "field_text"]

# How tightly each form binds, as in the grammar; a looser one inside a tighter needs parentheses.
_FORMULA, _OR, _AND, _PREFIX, _COMPARISON, _SUM, _TERM, _UNARY, _ATOM = range(9)

_NAME = re.compile(r"[^\W\d]\w*")
_COMPARES = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_JOINS = {
    "or": ("or", _OR), "xor": ("xor", _OR), "and": ("and", _AND),
    "add": ("+", _SUM), "sub": ("-", _SUM), "product": ("*", _TERM), "div": ("/", _TERM),
}  # fmt: skip


def expression_text(expression: Expression) -> str:
    """Write an expression; reading the text gives the expression back.

    Constants for which formulas have no literal (an instant, a duration, a list, a record, NaN) are
    shown by the function that makes them, for people.

    >>> from whence.engine.language.formula import parse_expression
    >>> expression_text(parse_expression("not(a and(b or c))"))
    'not (a and (b or c))'
    """
    if isinstance(expression, Constant) and isinstance(expression.value, str):
        # Alone, a quoted text would be read as a column.
        return f"({_quoted(expression.value)})"
    return _write(expression, _FORMULA)


def _write(expression: Expression, at_least: int) -> str:
    text, binds = _form(expression)
    return text if binds >= at_least else f"({text})"


def _form(expression: Expression) -> tuple[str, int]:
    if isinstance(expression, Constant):
        return _constant(expression.value)
    if isinstance(expression, Input):
        return f"${expression.pipe}", _ATOM
    if isinstance(expression, Field):
        name = _field_name(expression.name)
        return (f"${expression.pipe}.{name}" if expression.pipe else name), _ATOM
    return _call(expression)


def _call(call: Call) -> tuple[str, int]:
    name, arguments = call.function.name, list(call.arguments)
    if call.function.path:
        return _named(call.function.path, call)
    if name == "implies":
        return f"{_write(arguments[0], _OR)} -> {_write(arguments[1], _FORMULA)}", _FORMULA
    if name == "if":
        c, x, y = [_write(argument, _FORMULA) for argument in arguments]
        return f"if {c} then {x} else {y}", _FORMULA
    if name in _JOINS and len(arguments) > 1:
        return _joined(call)
    if name == "not":
        return _negated(arguments[0])
    if name in _COMPARES:
        left, right = [_write(argument, _SUM) for argument in arguments]
        return f"{left} {_COMPARES[name]} {right}", _COMPARISON
    if name in ("in", "is_missing"):
        return _test(call, ""), _COMPARISON
    if name == "element":
        return f"{_write(arguments[0], _ATOM)}[{_write(arguments[1], _FORMULA)}]", _ATOM
    return _named(name, call)


def _named(name: str, call: Call) -> tuple[str, int]:
    return f"{name}({', '.join([_write(x, _FORMULA) for x in call.arguments])})", _ATOM


def _joined(call: Call) -> tuple[str, int]:
    sign, binds = _JOINS[call.function.name]
    first, *rest = call.arguments
    # `a - b + c` reads from the left; but `a + b + c` is one sum, so a sum first needs parentheses.
    other = isinstance(first, Call) and first.function.name != call.function.name
    left_too = binds >= _SUM and (other or call.function.name in ("sub", "div"))
    begin = _write(first, binds if left_too else binds + 1)
    return f" {sign} ".join([begin, *[_write(x, binds + 1) for x in rest]]), binds


def _negated(argument: Expression) -> tuple[str, int]:
    if isinstance(argument, Call) and argument.function in (
        FUNCTIONS["in"],
        FUNCTIONS["is_missing"],
    ):
        return _test(argument, "not "), _COMPARISON
    return f"not {_write(argument, _PREFIX)}", _PREFIX


def _test(call: Call, negation: str) -> str:
    value = _write(call.arguments[0], _SUM)
    if call.function.name == "is_missing":
        return f"{value} is {negation}missing"
    candidates = ", ".join([_write(x, _FORMULA) for x in call.arguments[1:]])
    return f"{value} {negation}in ({candidates})"


def _field_name(name: str) -> str:
    return field_text(name, RESERVED)


def field_text(name: str, reserved: Container[str]) -> str:
    """A field's name, in double quotes where it could be read as something else."""
    if _NAME.fullmatch(name) and name not in reserved:
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _constant(value: Value) -> tuple[str, int]:
    if value is None:
        return "missing", _ATOM
    if isinstance(value, bool):
        return ("true" if value else "false"), _ATOM
    if isinstance(value, (int, float)):
        text = repr(value)
        return text, _UNARY if text.startswith("-") else _ATOM
    if isinstance(value, str):
        return _quoted(value), _ATOM
    if isinstance(value, datetime):
        return f"instant('{value.isoformat()}')", _ATOM
    if isinstance(value, timedelta):
        return f"seconds({value.total_seconds()!r})", _ATOM
    if isinstance(value, (list, tuple)):
        return f"list({', '.join([_constant(x)[0] for x in value])})", _ATOM
    return repr(value), _ATOM

"""Write expressions in Python: ``field.amount > 100``, ``(field.p < 0) & (field.action == "a")``.

A `Sketch` overloads the operators and holds the expression; declarations keep the plain expression.
Wherever a sketch may stand, formula text, an `Expression` or a constant may too.
"""

from __future__ import annotations

from typing import TypeAlias

from whence.engine.errors import ParameterError
from whence.engine.functions import Function, function_named, in_force
from whence.engine.language.expression import Call, Constant, Expression, Field, Input
from whence.engine.values import Value

__all__ = ["Expressible", "Sketch", "as_expression", "call", "event", "field"]


class Sketch:
    """An expression under construction."""

    __slots__ = ("expression",)

    def __init__(self, expression: Expression) -> None:
        """Hold an expression."""
        self.expression = expression

    def __repr__(self) -> str:
        """Show the expression."""
        return f"Sketch({self.expression!r})"

    def __lt__(self, other: Operand) -> Sketch:
        """``x < y``."""
        return call("lt", self, other)

    def __le__(self, other: Operand) -> Sketch:
        """``x <= y``."""
        return call("le", self, other)

    def __gt__(self, other: Operand) -> Sketch:
        """``x > y``."""
        return call("gt", self, other)

    def __ge__(self, other: Operand) -> Sketch:
        """``x >= y``."""
        return call("ge", self, other)

    def __eq__(self, other: Operand) -> Sketch:  # type: ignore[override]
        """``x = y``, as an expression."""
        return call("eq", self, other)

    def __ne__(self, other: Operand) -> Sketch:  # type: ignore[override]
        """``x != y``, as an expression."""
        return call("ne", self, other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        """Refuse Python's ``and``, ``or``, ``not`` and chained comparisons, which cannot work."""
        msg = "an expression: expected &, |, ~; got Python's and, or, not; try (x > 0) & (y > 0)"
        raise ParameterError(msg)

    def __and__(self, other: Operand) -> Sketch:
        """``x and y``."""
        return call("and", self, other)

    def __or__(self, other: Operand) -> Sketch:
        """``x or y``."""
        return call("or", self, other)

    def __xor__(self, other: Operand) -> Sketch:
        """``x xor y``."""
        return call("xor", self, other)

    def __invert__(self) -> Sketch:
        """``not x``."""
        return call("not", self)

    def __rshift__(self, other: Operand) -> Sketch:
        """``x -> y``: implies."""
        return call("implies", self, other)

    def __add__(self, other: Operand) -> Sketch:
        """``x + y``."""
        return call("add", self, other)

    def __radd__(self, other: Operand) -> Sketch:
        """``1 + x``."""
        return call("add", other, self)

    def __sub__(self, other: Operand) -> Sketch:
        """``x - y``."""
        return call("sub", self, other)

    def __rsub__(self, other: Operand) -> Sketch:
        """``1 - x``."""
        return call("sub", other, self)

    def __mul__(self, other: Operand) -> Sketch:
        """``x * y``."""
        return call("product", self, other)

    def __rmul__(self, other: Operand) -> Sketch:
        """``2 * x``."""
        return call("product", other, self)

    def __truediv__(self, other: Operand) -> Sketch:
        """``x / y``."""
        return call("div", self, other)

    def __rtruediv__(self, other: Operand) -> Sketch:
        """``1 / x``."""
        return call("div", other, self)

    def __abs__(self) -> Sketch:
        """``abs(x)``."""
        return call("abs", self)

    def __neg__(self) -> Sketch:
        """``-x``."""
        return call("sub", 0, self)

    def is_missing(self) -> Sketch:
        """``x is missing``."""
        return call("is_missing", self)

    def one_of(self, *values: Value) -> Sketch:
        """``x in (a, b)``."""
        return call("in", self, *values)


Operand: TypeAlias = Value
Expressible: TypeAlias = Expression | Sketch | Value
"""An expression, a sketch, formula text, or a constant."""


def _operand(value: Operand) -> Expression:
    if isinstance(value, Sketch):
        return value.expression
    if isinstance(value, (Call, Field, Input, Constant)):
        return value
    return Constant(value)


def call(function: str | Function, *arguments: Operand) -> Sketch:
    """A function of arguments; Python values among them are constants.

    >>> call("max", field.x, 0).expression.function.name
    'max'
    """
    found = function_named(function) if isinstance(function, str) else function
    return Sketch(Call(found, tuple(_operand(x) for x in arguments)))


class _Fields:
    """``field.amount``, or ``field["event time"]``, or ``field("amount", pipe=1)``."""

    def __getattr__(self, name: str) -> Sketch:
        if name.startswith("__"):
            raise AttributeError(name)
        return Sketch(Field(name))

    def __getitem__(self, name: str) -> Sketch:
        return Sketch(Field(name))

    def __call__(self, name: str, pipe: int = 0) -> Sketch:
        return Sketch(Field(name, pipe))


field = _Fields()


def event(pipe: int = 0) -> Sketch:
    """The event of a pipe, as a whole."""
    return Sketch(Input(pipe))


def as_expression(given: Expressible, owner: str = "") -> Expression:
    """Read whatever may stand for an expression; text is formula text.

    Args:
        given: an expression, a sketch, text, a user's function, or a constant.
        owner: the processor, for errors.
    """
    if isinstance(given, str):
        from whence.engine.language.formula import parse_expression

        return parse_expression(given, in_force())
    if isinstance(given, Function):
        low, high = given.arity
        return Call(given, tuple(Input(i) for i in range(max(low, 1) if high is None else high)))
    return _operand(given)

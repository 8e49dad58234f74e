"""Expressions over a front: constants, the event of a pipe, its fields, and functions of these.

An expression is an immutable description; `whence.engine.language.compiled` computes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from whence.engine.errors import ParameterError
from whence.engine.functions import Function
from whence.engine.language.traits import Traits
from whence.engine.values import Value, kind_of

__all__ = [
    "Call",
    "Constant",
    "Expression",
    "Field",
    "Input",
    "pipes_read",
    "raw_field",
    "subexpressions",
]


@dataclass(frozen=True)
class Constant:
    """A value that is always the same; it explains nothing."""

    value: Value

    def __hash__(self) -> int:
        """Hash by text: a constant list or map has no hash of its own."""
        return hash(repr(self.value))

    def __eq__(self, other: object) -> bool:
        """Equal in kind and value: ``1`` is not ``true``."""
        return (
            isinstance(other, Constant)
            and kind_of(self.value) == kind_of(other.value)
            and self.value == other.value
        )


@dataclass(frozen=True)
class Input:
    """The event of a pipe."""

    pipe: int = 0


@dataclass(frozen=True)
class Field:
    """A named field of the record on a pipe; ``value`` of a plain value is the value itself."""

    name: str
    pipe: int = 0


@dataclass(frozen=True)
class Call:
    """A function of expressions."""

    function: Function
    arguments: tuple[Expression, ...]

    @property
    def constants(self) -> dict[int, Value]:
        """The arguments that are constants, by their numbers."""
        return {n: x.value for n, x in enumerate(self.arguments) if isinstance(x, Constant)}

    def __post_init__(self) -> None:
        low, high = self.function.arity
        count = len(self.arguments)
        if count < low or (high is not None and count > high):
            msg = (
                f"function {self.function.name!r}: expected {self.function.arity_text()}; "
                f"got {count}; try adding or removing some"
            )
            raise ParameterError(msg)


Expression: TypeAlias = Constant | Input | Field | Call


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """The expression and all that it is made of."""
    stack = [expression]
    while stack:
        item = stack.pop()
        yield item
        if isinstance(item, Call):
            stack.extend(item.arguments)


def pipes_read(expression: Expression) -> int:
    """How many input pipes the expression asks for: the highest it names, plus one."""
    return 1 + max(
        (x.pipe for x in subexpressions(expression) if isinstance(x, (Input, Field))), default=0
    )


def raw_field(expression: Expression, pipes: Sequence[Traits]) -> bool:
    """Whether an expression is just a field (or the event itself) of an input event."""
    return isinstance(expression, (Field, Input)) and pipes[expression.pipe].raw

"""The syntax tree of formula text; each node knows its place in the text."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token

from whence.engine.errors import FormulaError, ParameterError
from whence.engine.functions import Function
from whence.engine.language.expression import Call, Constant, Expression, Field, Input
from whence.engine.language.formula.faults import fault_at, place_of
from whence.engine.language.formula.temporal import Head
from whence.engine.values import INT64_MAX, ValueFault
from whence.engine.values.limits import current

__all__ = ["Node", "deepest", "too_many"]

deepest = 100
"""Formulas nested deeper are refused: Python's own call depth bounds what runs them."""


def too_many(at: Token) -> FormulaError:
    """The error for a formula of too many parts."""
    limits = current()
    hint = limits.hint("formula", "splitting it over several processors")
    return fault_at(at, limits.expected("formula"), "more", hint)


class Node:
    """A leaf, a function of nodes, or a temporal operator over nodes.

    Attributes:
        at: the token that errors point at.
        head: the leaf itself, the function, or the operator's symbol.
        arguments: the nodes below.
        temporal: whether a temporal operator is at or below this node.
        ruled: whether something that only rules know is: time, the past, aggregates, the trigger.
        closed: whether it stood in parentheses, so that ``(a and b) and c`` keeps its shape.
        size: how many nodes it has, itself included.
    """

    __slots__ = ("arguments", "at", "closed", "depth", "head", "ruled", "size", "temporal")

    def __init__(
        self,
        at: Token,
        head: Constant | Input | Field | Function | Head | str,
        arguments: Sequence[Node] = (),
    ) -> None:
        """Keep the parts; refuse what is nested too deep."""
        self.at = at
        self.head = head
        self.arguments = tuple(arguments)
        self.ruled: bool = isinstance(head, Head) or any([x.ruled for x in arguments])
        self.temporal: bool = (
            self.ruled or isinstance(head, str) or any([x.temporal for x in arguments])
        )
        self.depth: int = 1 + max([x.depth for x in arguments], default=0)
        self.size: int = 1 + sum([x.size for x in self.arguments])
        self.closed = False
        if self.size > current().formula:
            raise too_many(at)
        if self.depth > deepest:
            raise fault_at(
                at, f"at most {deepest} levels", "more", "splitting it over several processors"
            )

    def expression(self) -> Expression:
        """The node as an expression."""
        if isinstance(self.head, (Constant, Input, Field)):
            return self._checked(self.head)
        if isinstance(self.head, Head):
            raise fault_at(
                self.at,
                "an expression of one event",
                str(self.head),
                "`each` or `formula:` in a chain file, Each(…) in Python, "
                f'or "{self.at}" in double quotes if it is a column',
            )
        if isinstance(self.head, str):
            raise fault_at(
                self.at,
                "an expression of one event",
                f"the temporal operator {self.head}",
                f"`formula:` in a chain file, formula({str(self.head) + ' (…)'!r}) in Python, "
                f'or "{self.head}" in double quotes if it is a column',
            )
        arguments = tuple([x.expression() for x in self.arguments])
        return self.call(arguments)

    def call(self, arguments: tuple[Expression, ...]) -> Call:
        """The node's function over given arguments; a wrong number is an error at its place."""
        assert isinstance(self.head, Function)
        try:
            made = Call(self.head, arguments)
            self.head.check_constants(made.constants)
            return made
        except ValueFault as fault:
            msg = f"{place_of(self.at)}: {fault}"
            raise FormulaError(msg) from fault
        except ParameterError as fault:
            expected, got = self.head.arity_text(), len(arguments)
            raise fault_at(
                self.at, f"{expected} of {self.head.name}", str(got), "adding or removing some"
            ) from fault

    def _checked(self, leaf: Constant | Input | Field) -> Expression:
        number = leaf.value if isinstance(leaf, Constant) else 0
        if type(number) is int and number > INT64_MAX:
            raise fault_at(self.at, "an integer of 64 bits", str(number), f"{number}.0")
        return leaf

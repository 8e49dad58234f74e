"""Formula text: expressions over one event, and temporal formulas over a whole log."""

from __future__ import annotations

from whence.engine.expression import Constant, Expression, Field
from whence.engine.formula.parser import parse

__all__ = ["parse_expression"]


def parse_expression(text: str) -> Expression:
    """Read expression text.

    A text that is one single-quoted name, such as ``'event time'``, is the field of that name:
    a constant alone would say nothing of an event.

    Raises:
        FormulaError: with line and column, what was expected, what came, what to try.

    >>> parse_expression("amount").name
    'amount'
    >>> parse_expression("price * quantity > limit").function.name
    'gt'
    """
    node = parse(text)
    if node.at.type == "TEXT" and isinstance(node.head, Constant) and not node.closed:
        return Field(str(node.head.value))
    return node.expression()

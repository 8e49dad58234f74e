"""Formula text: expressions over one event, and what temporal formulas are made of."""

from __future__ import annotations

from whence.engine.functions import NEVER, OwnFunctions
from whence.engine.language.expression import Constant, Expression, Field
from whence.engine.language.formula.parser import parse
from whence.engine.language.formula.printing import expression_text

__all__ = ["expression_text", "parse_expression"]


def parse_expression(text: str, own: OwnFunctions = NEVER) -> Expression:
    """Read expression text.

    A text that is one single-quoted name, such as ``'event time'``, is the field of that name:
    a constant alone would say nothing of an event.

    Args:
        text: the expression.
        own: finds the functions of the user's own that it calls; unless given, it may call none.

    Raises:
        FormulaError: with line and column, what was expected, what came, what to try.

    >>> parse_expression("amount").name
    'amount'
    >>> parse_expression("price * quantity > limit").function.name
    'gt'
    """
    node = parse(text, own)
    if node.at.type == "TEXT" and isinstance(node.head, Constant) and not node.closed:
        return Field(str(node.head.value))
    return node.expression()

"""Formula text: expressions over one event, and temporal formulas over a whole log."""

from __future__ import annotations

from whence.engine.expression import Constant, Expression, Field
from whence.engine.formula.parser import parse
from whence.engine.formula.printing import expression_text
from whence.engine.processors.group import Group

__all__ = ["expression_text", "formula", "parse_expression"]


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


def formula(text: str, id: str = "formula") -> Group:
    """Read a temporal formula as a Group; its output k is the verdict for the log from k on.

    Args:
        text: a formula with G, F, X, U; without any, the Group is just a function of each event.
        id: the Group's id.

    Raises:
        FormulaError: with line and column, what was expected, what came, what to try.

    >>> from whence.engine.testing import run
    >>> run(formula("F (action = 'stop')"), [{"action": "go"}, {"action": "stop"}])
    [(True, {1}), (True, {1})]
    """
    # Late, since the processors read expressions with this module.
    from whence.engine.formula.temporal import group_of

    return group_of(parse(text), id)

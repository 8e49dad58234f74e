"""Write a rule's formula as text again: reading it gives the same formula."""

from __future__ import annotations

from datetime import timedelta

from whence.engine.functions import Function
from whence.engine.language.expression import Constant, Field
from whence.engine.language.formula.bounds import duration_text
from whence.engine.language.formula.faults import LATER, RESERVED
from whence.engine.language.formula.nodes import Node
from whence.engine.language.formula.printing import expression_text, field_text
from whence.engine.language.formula.temporal import Aggregate, Operator, Reference

__all__ = ["rule_text"]

_WORDS = frozenset((*RESERVED, *LATER))
_SIGNS = {
    "and": "and", "or": "or", "xor": "xor", "implies": "->", "eq": "=", "ne": "!=", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "add": "+", "sub": "-", "product": "*", "div": "/",
}  # fmt: skip


def rule_text(node: Node) -> str:
    """Write a formula of a rule, with brackets around whatever has parts.

    >>> from whence.engine.language.formula.parser import parse
    >>> rule_text(parse("F[..90d] a = 'b' and not O c", rules=True))
    "(F[..12w6d] (a = 'b')) and (not (O c))"
    """
    return _text(node)


def _inner(node: Node) -> str:
    written = _text(node)
    return f"({written})" if node.arguments else written


def _text(node: Node) -> str:
    head, parts = node.head, [_inner(x) for x in node.arguments]
    if isinstance(head, (str, Operator)):
        if not parts:
            return str(head)
        return f"{parts[0]} {head} {parts[1]}" if len(parts) == 2 else f"{head} {parts[0]}"
    if isinstance(head, Aggregate):
        inside = " where ".join([_text(x) for x in node.arguments])
        return f"{head}({inside})"
    if isinstance(head, Reference):
        field = "" if head.field is None else f".{field_text(head.field, _WORDS)}"
        return f"{head.event}{field}"
    if isinstance(head, Function):
        return _function(head, node, parts)
    if isinstance(head, Field) and not head.pipe:
        return field_text(head.name, _WORDS)
    if isinstance(head, Constant) and isinstance(head.value, timedelta):
        return duration_text(head.value // timedelta(microseconds=1))
    written = expression_text(head)
    # Alone, a text stands in brackets; here brackets say what is one part.
    return written[1:-1] if isinstance(head, Constant) and isinstance(head.value, str) else written


def _function(head: Function, node: Node, parts: list[str]) -> str:
    name = head.path or head.name
    if head.path:
        return f"{name}({', '.join(parts)})"
    if name == "not":
        return f"not {parts[0]}"
    if name == "if":
        return f"if {parts[0]} then {parts[1]} else {parts[2]}"
    if name == "is_missing":
        return f"{parts[0]} is missing"
    if name == "in":
        return f"{parts[0]} in ({', '.join(parts[1:])})"
    if name == "element":
        return f"{parts[0]}[{parts[1]}]"
    if name in _SIGNS and len(parts) > 1:
        return f" {_SIGNS[name]} ".join(parts)
    return f"{name}({', '.join(parts)})"

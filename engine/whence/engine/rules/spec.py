"""Formulas of rules made ready: a tree of parts, each with what can be said of it beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from whence.engine.errors import FormulaError
from whence.engine.functions import Function
from whence.engine.language.compiled import Compiled, compile_expression
from whence.engine.language.expression import Call, Constant, Expression, Field, Input
from whence.engine.language.formula.bounds import Bound
from whence.engine.language.formula.faults import fault_at, place_of
from whence.engine.language.formula.nodes import Node
from whence.engine.language.formula.temporal import AHEAD, BACK, Aggregate, Operator, Reference
from whence.engine.language.traits import Traits
from whence.engine.values import ValueFault

__all__ = ["CONNECTIVES", "FIRST", "TRIGGER", "Spec", "reads", "spec_of"]

CONNECTIVES = ("and", "or", "implies", "not")
TRIGGER, FIRST = 1, 2
"""The pipes by which an expression of a rule reads the trigger and the case's first event."""


@dataclass(eq=False)
class Spec:
    """A part of a formula.

    Attributes:
        node: where it stands in the text.
        kind: ``atom`` (an expression of an event), ``connective``, ``call``, ``whole`` (a
            comparison over a case's events), ``trigger``, or the name of an operator or aggregate.
        parts: the parts below.
        compiled: of an atom.
        fields: of an atom: the fields it reads, by pipe.
        triggered: whether it reads the trigger, here or below.
        ahead: whether it looks at later events, here or below.
        back: whether it looks at earlier ones.
        timed: whether it has a bound.
        height: above the highest of its parts.
    """

    node: Node
    kind: str
    parts: tuple[Spec, ...] = ()
    compiled: Compiled | None = None
    fields: dict[int, frozenset[str] | None] = field(default_factory=dict)
    triggered: bool = False
    ahead: bool = False
    back: bool = False
    timed: bool = False
    height: int = 0
    bound: Bound | None = None

    def __post_init__(self) -> None:
        """Take over what holds of the parts."""
        head = self.node.head
        self.bound = head.bound if isinstance(head, (Operator, Aggregate)) else None
        self.triggered |= any(x.triggered for x in self.parts)
        self.ahead |= self.kind in (*AHEAD, "whole") or any(x.ahead for x in self.parts)
        self.back |= self.kind in BACK or isinstance(head, Aggregate) or FIRST in self.fields
        self.back |= any(x.back for x in self.parts)
        self.timed |= self.bound is not None or any(x.timed for x in self.parts)
        self.height = 1 + max((x.height for x in self.parts), default=0)

    def below(self) -> Iterator[Spec]:
        """It and all its parts."""
        waiting: list[Spec] = [self]
        while waiting:
            item = waiting.pop()
            yield item
            waiting.extend(item.parts)


def spec_of(node: Node, row: Traits, *, case: bool = False) -> Spec:
    """Make a formula ready.

    Args:
        node: the formula as it was read.
        row: what is known of the events.
        case: it is about a case as a whole: a comparison with an aggregate is about all events.
    """
    return _Builder(row).spec(node, whole=case)


def reads(spec: Spec) -> set[tuple[int, frozenset[str] | None]]:
    """The fields that a formula may read, by pipe: of events, the trigger, the first event."""
    return {pair for item in spec.below() for pair in item.fields.items()}


class _Builder:
    def __init__(self, row: Traits) -> None:
        self.pipes = (row, row, row)

    def spec(self, node: Node, *, whole: bool, past: Node | None = None) -> Spec:
        """A node's spec.

        Args:
            node: the node.
            whole: aggregates here are about all the case's events.
            past: the past operator or aggregate that this stands in.
        """
        head = node.head
        if isinstance(head, str):
            head = Operator(head)
        if isinstance(head, Reference):
            return self._reference(node, head)
        if isinstance(head, Operator):
            _check_past(node, head, past)
            inside = node if head.symbol in BACK else past
            return self._over(node, head.symbol, node.arguments, inside)
        if isinstance(head, Aggregate):
            return self._over(node, head.name, node.arguments, node)
        connective = isinstance(head, Function) and not head.path and head.name in CONNECTIVES
        if not _mixed(node):
            return self._atom(node)
        assert isinstance(head, Function)
        if connective:
            parts = tuple([self.spec(x, whole=whole, past=past) for x in node.arguments])
            for part in parts:
                check_condition(part)
            return Spec(node, "connective", parts)
        parts = tuple([self.spec(x, whole=False, past=past) for x in node.arguments])
        for part in parts:
            if part.kind in ("end", "trigger") and head.name not in ("xor", "if"):
                column = f'"{part.kind}" in double quotes if it is a column'
                raise fault_at(part.node.at, "a value", f"the condition {part.kind}", column)
        # Whether the number of arguments fits, and which constants it takes, is known here.
        node.call(tuple([Constant(None) for _ in parts]))
        about_all = whole and any(isinstance(x.node.head, Aggregate) for x in _values(parts))
        return Spec(node, "whole" if about_all else "call", parts)

    def _over(self, node: Node, kind: str, arguments: Sequence[Node], past: Node | None) -> Spec:
        parts = tuple([self.spec(x, whole=False, past=past) for x in arguments])
        if not isinstance(node.head, Aggregate):
            for part in parts:
                check_condition(part)
        elif node.head.name == "count" or node.head.where:
            check_condition(parts[-1])
        return Spec(node, kind, parts)

    def _reference(self, node: Node, head: Reference) -> Spec:
        if head.field is None:
            return Spec(node, "trigger", triggered=True)
        return self._atom(node)

    def _atom(self, node: Node) -> Spec:
        expression = self._expression(node)
        fields: dict[int, frozenset[str] | None] = {}
        _note_fields(expression, fields)
        try:
            compiled = compile_expression(expression, self.pipes)
        except ValueFault as fault:
            msg = f"{place_of(node.at)}: {fault}"
            raise FormulaError(msg) from fault
        return Spec(node, "atom", (), compiled, fields, triggered=TRIGGER in fields)

    def _expression(self, node: Node) -> Expression:
        head = node.head
        if isinstance(head, Reference):
            assert head.field is not None
            return Field(head.field, TRIGGER if head.event == "trigger" else FIRST)
        if isinstance(head, (Field, Input)):
            if head.pipe:
                raise fault_at(node.at, "a column of the log", str(node.at), "a rule of one log")
            return head
        if isinstance(head, Function):
            return node.call(tuple([self._expression(x) for x in node.arguments]))
        return node.expression()


def _mixed(node: Node) -> bool:
    """Whether something other than fields, also of the trigger, stands at a node or below it."""
    waiting = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item.head, (str, Operator, Aggregate)):
            return True
        if isinstance(item.head, Reference) and item.head.field is None:
            return True
        if item.temporal:
            waiting.extend(item.arguments)
    return False


def _values(parts: Sequence[Spec]) -> Iterator[Spec]:
    """These parts and what functions among them are computed from, operators of time left out."""
    waiting = list(parts)
    while waiting:
        item = waiting.pop()
        yield item
        if item.kind in ("call", "connective"):
            waiting.extend(item.parts)


def check_condition(spec: Spec) -> None:
    """Refuse what can be no condition, such as a sum."""
    kind = spec.compiled.kind if spec.compiled is not None else "any"
    if isinstance(spec.node.head, Aggregate):
        kind = "value"
    if kind not in ("any", "boolean", "missing"):
        hint = "a comparison such as `x > 0`"
        raise fault_at(
            spec.node.at, "a condition", f"{spec.node.head if kind == 'value' else kind}", hint
        )


def _check_past(node: Node, head: Operator, past: Node | None) -> None:
    if past is not None and head.symbol in AHEAD and isinstance(past.head, Aggregate):
        inside = f"the present and the past inside {past.head}"
        raise fault_at(node.at, inside, str(head), "O, H, S, Y or Z there")
    unbounded = head.bound is None or head.bound.high is None
    if past is not None and head.symbol in AHEAD and unbounded:
        raise fault_at(
            node.at,
            f"a bound on what looks ahead inside {past.head}",
            f"{head} without an end",
            f"{head.symbol}[..5d]" if head.symbol != "end" else "X[..5d]",
        )


def _note_fields(expression: Expression, fields: dict[int, frozenset[str] | None]) -> None:
    if isinstance(expression, Field):
        known = fields.get(expression.pipe, frozenset())
        fields[expression.pipe] = None if known is None else known | {expression.name}
    elif isinstance(expression, Input):
        fields[expression.pipe] = None
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            _note_fields(argument, fields)

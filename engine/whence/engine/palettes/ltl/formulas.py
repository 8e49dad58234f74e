"""A temporal formula as processors: one for each part that differs."""

from __future__ import annotations

import re

from whence.engine.errors import FormulaError
from whence.engine.functions import Function, in_force
from whence.engine.language.chain import Chain
from whence.engine.language.expression import Call, Constant, Expression, Input, pipes_read
from whence.engine.language.formula.faults import LATER
from whence.engine.language.formula.nodes import Node
from whence.engine.language.formula.parser import parse
from whence.engine.language.formula.printing import expression_text
from whence.engine.language.processor import Processor
from whence.engine.palettes.ltl import PROCESSORS
from whence.engine.processors.apply_function import ApplyFunction
from whence.engine.processors.each import Each
from whence.engine.processors.group import Group

__all__ = ["formula"]

_OPERATORS = {operator.symbol: operator for operator in PROCESSORS}
_WORDS = {
    "->": "implies", "<=": "le", ">=": "ge", "!=": "ne", "=": "eq", "<": "lt", ">": "gt",
    "+": "plus", "-": "minus", "*": "times", "/": "over", "$": "pipe",
}  # fmt: skip
_SIGN = re.compile("|".join(re.escape(sign) for sign in _WORDS))
_WORD = re.compile(r"\w+")
_LONGEST = 40


def formula(text: str, id: str = "formula") -> Group | Each:
    """Read a temporal formula; its output k is the verdict for the log from k on.

    Args:
        text: a formula with G, F, X, U: a Group of processors; without any, the Group is just a
            function of each event. With bounds, the past or aggregates it is an `Each` over all
            events. Words that only rules reserve, such as ``end``, are columns wherever the text
            can be read so: that is what they were in chain files of format 0.1.0.
        id: its id.

    Raises:
        FormulaError: with line and column, what was expected, what came, what to try.

    >>> from whence.engine.testing import run
    >>> run(formula("F (action = 'stop')"), [{"action": "go"}, {"action": "stop"}])
    [(True, {1}), (True, {1})]
    >>> run(formula("O action = 'go'"), [{"action": "go"}, {"action": "stop"}])
    [(True, {0}), (True, {0})]
    """
    try:
        node = parse(text, in_force())
    except FormulaError:
        try:
            node = parse(text, in_force(), rules=True)
        except FormulaError as fault:
            if any(word in _WORD.findall(text) for word in LATER):
                raise fault from None
            raise
    return Each(id, text, "true", in_order=True) if node.ruled else _group_of(node, id)


def _group_of(node: Node, id: str) -> Group:
    """Make the Group: expressions of one event first, then operators and connectives over them."""
    pipes = _pipes(node)
    inputs = ("log",) if pipes == 1 else tuple(f"log{pipe}" for pipe in range(pipes))
    builder = _Builder(inputs)
    output = builder.pipe_of(node)
    return Group(id, Chain.graph(inputs, builder.connections, [output]))


def _pipes(node: Node) -> int:
    if not node.temporal:
        return pipes_read(node.expression())
    return max(_pipes(x) for x in node.arguments)


class _Builder:
    """Makes processors from below; equal parts are made once."""

    def __init__(self, inputs: tuple[str, ...]) -> None:
        self.inputs = inputs
        self.connections: list[tuple[Processor, tuple[str, ...]]] = []
        self._made: dict[object, str] = {}
        self._taken = set(inputs)

    def pipe_of(self, node: Node) -> str:
        """The id of the processor that gives this node's value."""
        if not node.temporal:
            expression = node.expression()
            sources = self.inputs[: pipes_read(expression)]
            return self._apply(expression_text(expression), expression, sources)
        if isinstance(node.head, str):
            sources = tuple([self.pipe_of(x) for x in node.arguments])
            key = (node.head, sources)
            if key not in self._made:
                name = self._name(node.head)
                self.connections.append((_OPERATORS[node.head](name), sources))
                self._made[key] = name
            return self._made[key]
        return self._connective(node)

    def _connective(self, node: Node) -> str:
        assert isinstance(node.head, Function)
        sources: list[str] = []
        arguments: list[Expression] = []
        for argument in node.arguments:
            if isinstance(argument.head, Constant):
                arguments.append(argument.expression())
                continue
            source = self.pipe_of(argument)
            if source not in sources:
                sources.append(source)
            arguments.append(Input(sources.index(source)))
        call: Call = node.call(tuple(arguments))
        return self._apply(node.head.name, call, tuple(sources))

    def _apply(self, wish: str, expression: Expression, sources: tuple[str, ...]) -> str:
        key = (expression, sources)
        if key not in self._made:
            name = self._name(wish)
            self.connections.append((ApplyFunction(name, expression), sources))
            self._made[key] = name
        return self._made[key]

    def _name(self, wish: str) -> str:
        """A readable id that no other part has: ``action-eq-a``, ``X``, ``X-2``."""
        words = _SIGN.sub(lambda sign: f" {_WORDS[sign[0]]} ", wish)
        slug = "-".join(re.findall(r"\w+", words))[:_LONGEST].strip("-") or "part"
        name, number = slug, 1
        while name in self._taken:
            number += 1
            name = f"{slug}-{number}"
        self._taken.add(name)
        return name

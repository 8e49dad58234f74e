"""Read formula text with the grammar in this folder."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from math import isfinite

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from whence.engine.errors import FormulaError, ParameterError
from whence.engine.functions import FUNCTIONS, NEVER, Function, OwnFunctions, not_loaded
from whence.engine.language.expression import Constant, Field, Input
from whence.engine.language.formula.bounds import bound_of, delta_of, duration_of
from whence.engine.language.formula.faults import LATER, fault_at, fault_of
from whence.engine.language.formula.nodes import Node, too_many
from whence.engine.language.formula.temporal import AGGREGATES, Aggregate, Operator, Reference
from whence.engine.language.traits import MOST_PIPES
from whence.engine.values import Value
from whence.engine.values.limits import current

__all__ = ["parse"]

_INFIX = {
    "IMPLIES": "implies", "OR": "or", "XOR": "xor", "AND": "and", "EQ": "eq", "NE": "ne",
    "LT": "lt", "LE": "le", "GT": "gt", "GE": "ge", "PLUS": "add", "MINUS": "sub",
    "STAR": "product", "SLASH": "div",
}  # fmt: skip
_SIGNS_A_PART = 4
"""A formula of many parts has about two signs for each, counting brackets and commas."""
_LETTERS_A_PART = 20
_STREAMED = ("G", "F", "X", "U")
"""Operators that, without a bound, chains have as processors of their own."""
_SPREADS = {"or", "xor", "and", "add", "product"}


def parse(text: str, own: OwnFunctions = NEVER, *, rules: bool = False) -> Node:
    """Read text as a tree of nodes.

    Args:
        text: the formula.
        own: finds the functions of the user's own that it calls; none is loaded unless all of the
            text reads well.
        rules: the text is of a rule: ``O``, ``end``, ``trigger`` and others are reserved words, and
            ``min`` and ``max`` of one argument look at all events so far.

    Raises:
        FormulaError: with line and column, what was expected, what came, what to try.
    """
    if not isinstance(text, str) or not text.strip():
        msg = f"formula, line 1, column 1: expected formula text; got {text!r}; try `x > 0`"
        raise FormulaError(msg)
    try:
        _check_length(text)
        node: Node = _parser(rules).parse(text)  # type: ignore[assignment]
    except UnexpectedInput as error:
        raise fault_of(error, text, rules) from None
    if ":" in text:
        _find_own(node, own)
    return node


def _find_own(root: Node, own: OwnFunctions) -> None:
    waiting = [root]
    for node in waiting:
        waiting.extend(node.arguments)
        if isinstance(node.head, Function) and node.head.path:
            try:
                node.head = own.named(node.head.path)
            except ParameterError as fault:
                msg = f"formula, line {node.at.line}, column {node.at.column}: {fault}"
                raise FormulaError(msg) from fault


def _check_length(text: str) -> None:
    """Refuse what can only have too many parts before it is taken apart."""
    limits = current()
    letters = _LETTERS_A_PART * limits.formula
    if len(text) > letters:
        hint = limits.hint("formula", "a shorter one", -(-len(text) // _LETTERS_A_PART))
        msg = (
            f"formula, line 1, column 1: expected at most {letters:,} characters "
            f"({_LETTERS_A_PART} for each part that the limit 'formula' allows); "
            f"got {len(text):,}; try {hint}"
        )
        raise FormulaError(msg)
    most = _SIGNS_A_PART * limits.formula
    if len(text) <= most:
        return
    for number, token in enumerate(_parser(False).lex(text)):
        if number > most:
            raise too_many(token)


@v_args(inline=True)
class _Reader(Transformer[Token, Node]):
    """Builds nodes while the parser reduces; nothing recurses over the tree.

    Args:
        rules: ``count(…)``, and ``min`` and ``max`` of one argument, are aggregates.
    """

    def __init__(self, *, rules: bool) -> None:
        super().__init__()
        self.rules = rules

    def infix(self, left: Node, sign: Token, right: Node) -> Node:
        """``x < y``, ``x -> y``."""
        return Node(sign, FUNCTIONS[_INFIX[sign.type]], (left, right))

    def infixes(self, first: Node, *rest: Node | Token) -> Node:
        """``a + b + c``: one function as long as the sign stays the same; else from the left."""
        at: Token | None = None
        parts = [first]
        for sign, right in zip(rest[::2], rest[1::2], strict=True):
            assert isinstance(sign, Token)
            assert isinstance(right, Node)
            name = _INFIX[sign.type]
            if at is not None and name == _INFIX[at.type] and name in _SPREADS:
                parts.append(right)
            else:
                at, parts = sign, [_joined(at, parts), right]
        return _joined(at, parts)

    def prefix(self, sign: Token, operand: Node) -> Node:
        """``not x``."""
        return Node(sign, FUNCTIONS["not"], (operand,))

    def temporal_prefix(self, sign: Token, bound: Token | None, operand: Node) -> Node:
        """``G x``, ``O[..3s] x``."""
        return self._temporal(sign, bound, (operand,))

    def temporal_infix(self, left: Node, sign: Token, bound: Token | None, right: Node) -> Node:
        """``p U q``."""
        return self._temporal(sign, bound, (left, right))

    def _temporal(self, sign: Token, bound: Token | None, parts: tuple[Node, ...]) -> Node:
        if bound is None and sign in _STREAMED:
            return Node(sign, str(sign), parts)
        return Node(sign, Operator(str(sign), bound_of(bound) if bound else None), parts)

    def end(self, token: Token) -> Node:
        """``end``."""
        return Node(token, Operator("end"))

    def trigger(self, token: Token) -> Node:
        """``trigger`` alone."""
        return Node(token, Reference("trigger"))

    def reference(self, token: Token, name: Token) -> Node:
        """``trigger.amount``, ``first.time``."""
        return Node(token, Reference(str(token), _unquoted(name)))

    def aggregate(
        self, name: Token, bound: Token, value: Node, _where: Token | None, condition: Node | None
    ) -> Node:
        """``sum[..24h](amount where paid)``."""
        if name not in AGGREGATES:
            near = get_close_matches(str(name), AGGREGATES, n=1)
            hint = f"{near[0]!r} (did you mean that?)" if near else "no bound here"
            raise fault_at(name, f"one of {', '.join(AGGREGATES)}", repr(str(name)), hint)
        parts = (value,) if condition is None else (value, condition)
        found = bound_of(bound) if bound else None
        return Node(name, Aggregate(str(name), found, len(parts) == 2), parts)

    def aggregate_where(self, name: Token, value: Node, where: Token, condition: Node) -> Node:
        """``sum(amount where paid)``."""
        return self.aggregate(name, Token("BOUND", ""), value, where, condition)

    def duration(self, token: Token) -> Node:
        """``90d``."""
        return Node(token, Constant(delta_of(duration_of(str(token), token))))

    def choice(self, sign: Token, *parts: Node | Token) -> Node:
        """``if c then x else y``."""
        return Node(sign, FUNCTIONS["if"], [x for x in parts if isinstance(x, Node)])

    def arguments(self, *given: Node) -> tuple[Node, ...]:
        """``x, y``."""
        return given

    def among(self, value: Node, sign: Token, candidates: tuple[Node, ...]) -> Node:
        """``x in (a, b)``."""
        return Node(sign, FUNCTIONS["in"], (value, *candidates))

    def not_among(
        self, value: Node, negation: Token, sign: Token, candidates: tuple[Node, ...]
    ) -> Node:
        """``x not in (a, b)``."""
        return self.prefix(negation, self.among(value, sign, candidates))

    def is_missing(self, value: Node, sign: Token, _missing: Token) -> Node:
        """``x is missing``."""
        return Node(sign, FUNCTIONS["is_missing"], (value,))

    def is_not_missing(self, value: Node, sign: Token, negation: Token, missing: Token) -> Node:
        """``x is not missing``."""
        return self.prefix(negation, self.is_missing(value, sign, missing))

    def minus(self, sign: Token, operand: Node) -> Node:
        """``-3`` is a number; ``-x`` is ``0 - x``."""
        if operand.at.type in ("INTEGER", "FLOAT") and not operand.closed:
            assert isinstance(operand.head, Constant)
            number = operand.head.value
            assert isinstance(number, (int, float))
            return Node(sign, Constant(-number))
        return Node(sign, FUNCTIONS["sub"], (Node(sign, Constant(0)), operand))

    def element(self, value: Node, sign: Token, index: Node) -> Node:
        """``tags[0]``."""
        return Node(sign, FUNCTIONS["element"], (value, index))

    def integer(self, token: Token) -> Node:
        """``42``; whether it fits is known once a minus had its chance."""
        return Node(token, Constant(int(token)))

    def float(self, token: Token) -> Node:
        """``1.5``, ``2e9``."""
        number = float(token)
        if not isfinite(number):
            raise fault_at(token, "a float below 1.8e308", str(token), "a smaller number")
        return Node(token, Constant(number))

    def text(self, token: Token) -> Node:
        """``'it''s'``."""
        return Node(token, Constant(_unquoted(token)))

    def true(self, token: Token) -> Node:
        """``true``."""
        return self._constant(token, True)

    def false(self, token: Token) -> Node:
        """``false``."""
        return self._constant(token, False)

    def missing(self, token: Token) -> Node:
        """``missing``."""
        return self._constant(token, None)

    def _constant(self, token: Token, value: Value) -> Node:
        return Node(token, Constant(value))

    def name(self, token: Token) -> Token:
        """A column's name, quoted or not."""
        return token

    def own_field(self, name: Token) -> Node:
        """``amount``, ``"concept:name"``."""
        return Node(name, Field(_unquoted(name)))

    def event(self, pipe: Token) -> Node:
        """``$1``."""
        return Node(pipe, Input(_number(pipe)))

    def field(self, pipe: Token, name: Token) -> Node:
        """``$1.amount``."""
        return Node(pipe, Field(_unquoted(name), _number(pipe)))

    def call(self, name: Token, arguments: tuple[Node, ...]) -> Node:
        """``max(x, y)``."""
        if self.rules and name in AGGREGATES and len(arguments) == 1:
            return Node(name, Aggregate(str(name), None, False), arguments)
        found = FUNCTIONS.get(str(name))
        if found is None:
            near = get_close_matches(str(name), FUNCTIONS, n=1)
            hint = f"{near[0]!r} (did you mean that?)" if near else _all_names()
            raise fault_at(name, "a known function", repr(str(name)), hint)
        return Node(name, found, arguments)

    def own_call(self, path: Token, arguments: tuple[Node, ...] | None) -> Node:
        """``package.module:name(x)``."""
        return Node(path, not_loaded(str(path), "not found yet"), arguments or ())

    def parenthesised(self, inner: Node) -> Node:
        """``(x)``."""
        inner.closed = True
        return inner


def _joined(sign: Token | None, parts: list[Node]) -> Node:
    """Parts with the same sign between them, as one function."""
    return parts[0] if sign is None else Node(sign, FUNCTIONS[_INFIX[sign.type]], parts)


def _number(pipe: Token) -> int:
    number = int(pipe[1:6])
    if number >= MOST_PIPES:
        raise fault_at(pipe, f"a pipe below ${MOST_PIPES}", str(pipe), "$0 for the first")
    return number


def _all_names() -> str:
    return "one of " + ", ".join(sorted(FUNCTIONS))


def _unquoted(token: Token) -> str:
    if token.type == "NAME":
        return str(token)
    quote = token[0]
    return token[1:-1].replace(quote * 2, quote)


@cache
def _parser(rules: bool) -> Lark:
    grammar = files("whence.engine.language.formula").joinpath("formula.lark").read_text("utf-8")
    if not rules:
        for word in LATER:
            # A sign that no text begins with: what is a keyword in rules is then a name.
            grammar = grammar.replace(f'{word.upper()}: "{word}"', f'{word.upper()}: "\\0{word}"')
    return Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        maybe_placeholders=True,
        transformer=_Reader(rules=rules),
    )

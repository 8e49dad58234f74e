"""What a function is: how it computes, which arguments explain the result, which support it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from whence.engine.values import Value, ValueFault

__all__ = [
    "AllArguments",
    "Function",
    "Kind",
    "Pick",
    "Rule",
    "takes",
]

Pick = tuple[int, ...]
"""The arguments, by number, that explain a result together."""

Kind = str
"""A kind of value as `values.kind_of` names it; ``any`` where it is not known before the run."""

Missing = Literal["arguments", "never", "branches", "all", "always"]


class Rule(Protocol):
    """Which arguments explain a result, and which support it."""

    def explain(self, arguments: Sequence[Value], result: Value) -> Sequence[Pick]:
        """List the alternatives, the preferred one first; each is a set of argument numbers."""
        ...

    def support(self, pick: Pick, may_vanish: Sequence[bool]) -> Pick:
        """List the arguments that are enough for a result explained by ``pick``.

        Args:
            pick: one alternative of `explain`.
            may_vanish: per argument, whether it can become missing while all inputs stay present.
        """
        ...


class AllArguments:
    """The rule of every function that has no other: all arguments explain and support."""

    def explain(self, arguments: Sequence[Value], result: Value) -> Sequence[Pick]:
        """All arguments, together."""
        return (tuple(range(len(arguments))),)

    def support(self, pick: Pick, may_vanish: Sequence[bool]) -> Pick:
        """The same ones."""
        return pick


ALL = AllArguments()

_NUMBERS = ("integer", "float", "number")
_ACCEPTS: dict[str, tuple[str, ...]] = {
    "condition": ("boolean", "missing"),
    "number": (*_NUMBERS, "missing"),
    "text": ("text", "missing"),
    "instant": ("instant", "missing"),
    "list": ("list", "missing"),
    "any": (),
}


def takes(wanted: str, gives: Kind) -> Callable[[Sequence[Kind]], Kind]:
    """Make a check of argument kinds before any event is seen.

    >>> takes("number", "number")(["integer", "any"])
    'number'
    """
    accepted = _ACCEPTS[wanted]

    def check(kinds: Sequence[Kind]) -> Kind:
        for kind in kinds:
            if accepted and kind != "any" and kind not in accepted:
                hint = "declaring the column's type, e.g. --type NAME=integer"
                if wanted == "condition":
                    hint = "a comparison such as `x > 0`"
                article = "a boolean" if wanted == "condition" else f"a {wanted}"
                raise ValueFault(article, kind, hint)
        return gives

    return check


@dataclass(frozen=True, eq=False)
class Function:
    """A named function of values.

    Attributes:
        name: as written in chain files and formulas.
        compute: from argument values to the result; raises `ValueFault` for what it cannot take.
        arity: fewest and most arguments; ``None`` for any number.
        rule: which arguments explain and support the result.
        check: from argument kinds to the result's kind, before any event is seen.
        missing: when the result can be missing: if an argument is, never, if a branch can, if all
            arguments are, always.
        path: ``module:name`` of a user's own function; empty for ours.
        neutral: the value of a fold over nothing, where there is one.
        absorbing: the value that alone decides a fold, where there is one.
        pair: the same as ``compute`` for exactly two arguments, where that is quicker.
        constant: refuses a constant argument, given its number, before any event is seen.
    """

    name: str
    compute: Callable[..., Value]
    arity: tuple[int, int | None]
    rule: Rule = ALL
    check: Callable[[Sequence[Kind]], Kind] = field(default=takes("any", "any"), compare=False)
    missing: Missing = "arguments"
    path: str = ""
    neutral: Value = None
    absorbing: Value = None
    pair: Callable[[Value, Value], Value] | None = None
    constant: Callable[[int, Value], None] | None = None

    def __eq__(self, other: object) -> bool:
        """Two functions are the same if they are found under the same name or path."""
        if not isinstance(other, Function):
            return NotImplemented
        if not self.path and not other.path:
            return self.name == other.name
        return (self.path, self.compute, self.rule) == (other.path, other.compute, other.rule)

    def __hash__(self) -> int:
        return hash((self.name, self.path))

    def __reduce__(self) -> tuple[Callable[..., Function], tuple[Any, ...]]:
        """Travel by name or import path, as in chain files; by code only what no import brings."""
        from whence.engine import functions

        if self.path:
            functions.check_path(self)
            if isinstance(self.compute, functions.NotLoaded):
                return functions.not_loaded, (self.path, self.compute.why)
            if self.path.startswith("__main__:"):  # a notebook's or script's own
                rule = None if self.rule is ALL else self.rule
                return functions.brought, (self.path, self.name, self.compute, self.arity, rule)
            return functions.import_function, (self.path,)
        return functions.function_named, (self.name,)

    def check_constants(self, constants: Mapping[int, Value]) -> None:
        """Refuse constant arguments, by their numbers, that it could never take.

        Raises:
            ValueFault: one of them is refused.
        """
        if self.constant is not None:
            for number, value in constants.items():
                self.constant(number, value)

    @property
    def explains_all(self) -> bool:
        """Whether every argument always explains and supports the result."""
        return self.rule is ALL

    def arity_text(self) -> str:
        """Say how many arguments it takes."""
        low, high = self.arity
        if high is None:
            return f"{low} or more arguments"
        if low == high:
            return f"{low} argument" + ("s" if low != 1 else "")
        return f"{low} to {high} arguments"

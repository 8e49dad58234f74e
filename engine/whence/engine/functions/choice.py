"""Choice: ``if c then x else y``, of which only the branch taken is computed, and ``coalesce``."""

from __future__ import annotations

from collections.abc import Sequence

from whence.engine.functions.base import Function, Kind, Pick, takes
from whence.engine.values import Value, as_condition

__all__ = ["FUNCTIONS", "IF"]


class _BranchTaken:
    """The condition and the branch taken explain and support the result."""

    def explain(self, arguments: Sequence[Value], result: Value) -> Sequence[Pick]:
        """Condition and branch, together."""
        return ((0, 1 if as_condition(arguments[0]) else 2),)

    def support(self, pick: Pick, may_vanish: Sequence[bool]) -> Pick:
        return pick


class _FirstPresent:
    """The argument taken, and those before it, which are missing, explain and support the result.

    With an earlier argument present the result would be another one; a later one is never used.
    """

    def explain(self, arguments: Sequence[Value], result: Value) -> Sequence[Pick]:
        """All arguments up to the first that is present, together."""
        last = next((i for i, x in enumerate(arguments) if x is not None), len(arguments) - 1)
        return (tuple(range(last + 1)),)

    def support(self, pick: Pick, may_vanish: Sequence[bool]) -> Pick:
        return pick


def _check(kinds: Sequence[Kind]) -> Kind:
    takes("condition", "boolean")(kinds[:1])
    return kinds[1] if kinds[1] == kinds[2] else "any"


def _coalesce(*arguments: Value) -> Value:
    return next((x for x in arguments if x is not None), None)


def _shared_kind(kinds: Sequence[Kind]) -> Kind:
    """The kind of all arguments but those that are always missing."""
    known = {kind for kind in kinds if kind != "missing"}
    if len(known) > 1:
        return "number" if known <= {"integer", "float", "number"} else "any"
    return known.pop() if known else "missing"


IF = Function(
    "if", lambda c, x, y: x if as_condition(c) else y, (3, 3), _BranchTaken(), _check, "branches"
)
COALESCE = Function("coalesce", _coalesce, (1, None), _FirstPresent(), _shared_kind, "all")

FUNCTIONS = (IF, COALESCE)

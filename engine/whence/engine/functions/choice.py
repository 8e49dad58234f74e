"""Choice: ``if c then x else y``. Only the branch taken is computed."""

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
        """The same ones."""
        return pick


def _check(kinds: Sequence[Kind]) -> Kind:
    takes("condition", "boolean")(kinds[:1])
    return kinds[1] if kinds[1] == kinds[2] else "any"


IF = Function(
    "if", lambda c, x, y: x if as_condition(c) else y, (3, 3), _BranchTaken(), _check, "branches"
)

FUNCTIONS = (IF,)

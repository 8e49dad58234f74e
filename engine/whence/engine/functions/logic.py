"""Logic: and, or, not, implies, xor. A missing argument counts as false; results are booleans."""

from __future__ import annotations

from collections.abc import Sequence

from whence.engine.functions.base import Function, Pick, takes
from whence.engine.values import Value, as_condition

__all__ = ["AND", "FUNCTIONS", "IMPLIES", "NOT", "OR", "XOR"]


class _Decisive:
    """One argument with the decisive value explains alone; without any, all arguments do."""

    def __init__(self, decisive: bool) -> None:
        self.decisive = decisive

    def explain(self, arguments: Sequence[Value], result: Value) -> Sequence[Pick]:
        """``and``: each false argument is an alternative. ``or``: each true one."""
        picks = [(i,) for i, x in enumerate(arguments) if as_condition(x) is self.decisive]
        return picks or (tuple(range(len(arguments))),)

    def support(self, pick: Pick, may_vanish: Sequence[bool]) -> Pick:
        """What explains is enough."""
        return pick


class _Implies:
    """A false premise explains alone, and so does a true conclusion."""

    def explain(self, arguments: Sequence[Value], result: Value) -> Sequence[Pick]:
        """Premise first, then conclusion; a violation is explained by both."""
        picks: list[Pick] = []
        if not as_condition(arguments[0]):
            picks.append((0,))
        if as_condition(arguments[1]):
            picks.append((1,))
        return picks or ((0, 1),)

    def support(self, pick: Pick, may_vanish: Sequence[bool]) -> Pick:
        """What explains is enough."""
        return pick


def _and(*arguments: Value) -> bool:
    return all([as_condition(x) for x in arguments])


def _or(*arguments: Value) -> bool:
    return any([as_condition(x) for x in arguments])


_conditions = takes("condition", "boolean")

AND = Function(
    "and", _and, (1, None), _Decisive(False), _conditions, "never", neutral=True, absorbing=False
)
OR = Function(
    "or", _or, (1, None), _Decisive(True), _conditions, "never", neutral=False, absorbing=True
)
NOT = Function("not", lambda x: not as_condition(x), (1, 1), check=_conditions, missing="never")
IMPLIES = Function(
    "implies",
    lambda x, y: (not as_condition(x)) | as_condition(y),
    (2, 2),
    _Implies(),
    _conditions,
    "never",
)
XOR = Function(
    "xor",
    lambda *xs: sum([as_condition(x) for x in xs]) % 2 == 1,
    (2, None),
    check=_conditions,
    missing="never",
)

FUNCTIONS = (AND, OR, NOT, IMPLIES, XOR)

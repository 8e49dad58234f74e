"""The condition of ``where=`` on outputs: formula text over an output's ``value``."""

from __future__ import annotations

from collections.abc import Callable

from whence.engine.errors import WhenceError
from whence.engine.functions import NEVER
from whence.engine.language.compiled import compile_expression
from whence.engine.language.events import Event
from whence.engine.language.traits import Traits
from whence.engine.sketch import as_expression
from whence.engine.values import Value, ValueFault, as_condition

__all__ = ["where_holds"]


def where_holds(where: str) -> Callable[[Value], bool]:
    """Which values the condition is true of.

    >>> [where_holds("value > 2")(value) for value in (2, 3)]
    [False, True]
    """
    # The text may come from a command line or a manifest: it calls no function of the user's own.
    with NEVER.reading():
        condition = compile_expression(as_expression(where), [Traits()])

    def holds(value: Value) -> bool:
        try:
            return as_condition(condition.value((Event(value),)))
        except ValueFault as fault:
            msg = f"where {where!r}: {fault}"
            raise WhenceError(msg) from fault

    return holds

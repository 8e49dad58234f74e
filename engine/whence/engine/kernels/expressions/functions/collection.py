"""Membership on columns; what makes or reads lists is left to the interpreter's functions."""

from __future__ import annotations

from collections.abc import Sequence

from whence.engine.kernels.columns.column import Bools, Column, guessed
from whence.engine.kernels.expressions.functions.base import ColumnFunction, stateless, typed
from whence.engine.kernels.expressions.functions.comparison import equal

__all__ = ["FUNCTIONS"]


def _in(columns: Sequence[Column]) -> Column | None:
    """Whether a value equals one of the candidates, which may be a constant list."""
    value, *candidates = columns
    if len(candidates) == 1 and candidates[0].kind == "any":
        (held,) = candidates
        if len(held) != 1 or not isinstance(held.data[0], (list, tuple)):
            return None
        candidates = [guessed([item], held.texts) for item in held.data[0]]
    found: Bools | None = None
    for candidate in candidates:
        same = equal(*typed([value, candidate]))
        if same is None:
            return None
        found = same if found is None else found | same
    return None if found is None else Column("boolean", found, None, value.texts)


FUNCTIONS = {"in": ColumnFunction(stateless(_in))}

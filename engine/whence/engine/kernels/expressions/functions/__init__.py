"""The engine's functions on whole columns, by the names that they have in the interpreter."""

from __future__ import annotations

from whence.engine.kernels.expressions.functions import (
    arithmetic,
    choice,
    collection,
    comparison,
    logic,
    text,
    time,
)
from whence.engine.kernels.expressions.functions.base import ColumnFunction

__all__ = ["COLUMN_FUNCTIONS"]

COLUMN_FUNCTIONS: dict[str, ColumnFunction] = {
    **logic.FUNCTIONS,
    **comparison.FUNCTIONS,
    **arithmetic.FUNCTIONS,
    **choice.FUNCTIONS,
    **collection.FUNCTIONS,
    **text.FUNCTIONS,
    **time.FUNCTIONS,
}

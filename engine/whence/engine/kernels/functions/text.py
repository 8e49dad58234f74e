"""Text on columns: every distinct text is computed once."""

from __future__ import annotations

from whence.engine.functions.base import Function
from whence.engine.kernels.functions.base import ColumnFunction, Compute
from whence.engine.kernels.functions.tables import TextTables

__all__ = ["FUNCTIONS"]


def _text(kind: str, *, test: bool = False) -> ColumnFunction:
    def start(function: Function) -> Compute:
        return TextTables(function, kind, test=test).compute

    return ColumnFunction(start)


FUNCTIONS = {
    "concat": _text("text"),
    "length": _text("integer"),
    "lower": _text("text"),
    "upper": _text("text"),
    "strip": _text("text"),
    "starts_with": _text("boolean", test=True),
    "ends_with": _text("boolean", test=True),
    "contains": _text("boolean", test=True),
    "matches": _text("boolean", test=True),
}

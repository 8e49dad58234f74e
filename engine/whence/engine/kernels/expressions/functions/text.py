"""Text on columns: every distinct text is computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from whence.engine.functions.base import Function
from whence.engine.functions.patterns import matches_each
from whence.engine.kernels.columns.column import Bools
from whence.engine.kernels.expressions.functions.base import ColumnFunction, Compute
from whence.engine.kernels.expressions.functions.tables import TextTables

__all__ = ["FUNCTIONS"]


def _text(
    kind: str, *, test: bool = False, each: Callable[..., npt.NDArray[Any]] | None = None
) -> ColumnFunction:
    def start(function: Function) -> Compute:
        return TextTables(function, kind, test=test, each=each).compute

    return ColumnFunction(start)


def _matches(texts: list[str], pattern: str) -> Bools:
    found: Bools = matches_each(texts, pattern).to_numpy(zero_copy_only=False)
    return found


FUNCTIONS = {
    "concat": _text("text"),
    "length": _text("integer"),
    "lower": _text("text"),
    "upper": _text("text"),
    "strip": _text("text"),
    "starts_with": _text("boolean", test=True),
    "ends_with": _text("boolean", test=True),
    "contains": _text("boolean", test=True),
    "matches": _text("boolean", test=True, each=_matches),
}

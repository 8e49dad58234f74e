"""Which rows are meant: a mask, or ``None`` for all of them."""

from __future__ import annotations

from whence.engine.kernels.columns.column import Bools

__all__ = ["both", "either"]


def both(left: Bools | None, right: Bools | None) -> Bools | None:
    """The rows that both mean."""
    if left is None or right is None:
        return right if left is None else left
    return left & right


def either(left: Bools | None, right: Bools | None) -> Bools | None:
    """The rows that one of them means; the very same object if both are."""
    if left is right:
        return left
    return None if left is None or right is None else left | right

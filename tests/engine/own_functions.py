"""Functions of a user's own, for tests that name them by path."""

from __future__ import annotations

import math

__all__ = ["hypot", "length", "neg"]


def hypot(x: float, y: float) -> float:
    """Length of the hypotenuse."""
    return math.hypot(x, y)


def neg(x: float) -> float:
    """Less than nothing by as much."""
    return -x


def length(text: str) -> int:
    """Number of characters."""
    return len(text)

"""Marks of erased events in manifests and outputs."""

from __future__ import annotations

import numpy as np

from whence.engine.lineage.positions import Intervals, Ints

__all__ = ["ERASED", "within"]

ERASED = "erased"
"""The kind of an output whose value was erased."""


def within(positions: Ints, places: Intervals) -> np.ndarray:
    """Which of some positions are among some places."""
    if not places:
        return np.zeros(len(positions), bool)
    lows = np.array([lo for lo, _ in places], np.int64)
    highs = np.array([hi for _, hi in places], np.int64)
    at = np.searchsorted(lows, positions, side="right") - 1
    return np.asarray((at >= 0) & (positions <= highs[np.maximum(at, 0)]))

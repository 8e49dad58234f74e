"""The path that the manual and users import the tracker by; it lives in ``lineage``."""

from whence.engine.lineage.tracker import (
    Explanation,
    MemoryTracker,
    Tracker,
    Witnesses,
    input_names,
)

__all__ = ["Explanation", "MemoryTracker", "Tracker", "Witnesses", "input_names"]

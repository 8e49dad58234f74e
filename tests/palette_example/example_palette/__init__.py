"""A palette as somebody else would ship it: a package of its own with one processor."""

from __future__ import annotations

from .difference import Difference

__all__ = ["PROCESSORS", "Difference"]

PROCESSORS = (Difference,)

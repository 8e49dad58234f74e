"""Linear temporal logic: G, F, X, U. Connectives are functions; see `whence.engine.formula`."""

from __future__ import annotations

from whence.engine.palettes.ltl.eventually import F
from whence.engine.palettes.ltl.globally import G
from whence.engine.palettes.ltl.next import X
from whence.engine.palettes.ltl.until import U

__all__ = ["PROCESSORS", "F", "G", "U", "X"]

PROCESSORS = (G, F, X, U)
"""What this palette brings; every palette has this name."""

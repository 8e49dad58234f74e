"""What if some input values were different? Run again with them; compare old and new."""

from __future__ import annotations

from whence.engine.what_if.corrections import Correction, read_corrections
from whence.engine.what_if.differences import OutputChange, PipeDifference, differences
from whence.engine.what_if.running import WhatIf, what_if

__all__ = [
    "Correction",
    "OutputChange",
    "PipeDifference",
    "WhatIf",
    "differences",
    "read_corrections",
    "what_if",
]

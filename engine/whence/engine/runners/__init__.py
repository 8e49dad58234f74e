"""Ways to run a chain and leave a record."""

from __future__ import annotations

from whence.engine.runners.local import run_recorded
from whence.engine.runners.options import RunOptions

__all__ = ["RunOptions", "run_recorded"]

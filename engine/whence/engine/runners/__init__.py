"""Ways to run a chain and leave a record."""

from __future__ import annotations

from whence.engine.runners.local import described, run_recorded
from whence.engine.runners.options import CHUNK, RunOptions

__all__ = ["CHUNK", "RunOptions", "described", "run_recorded"]

"""What notebooks show of runs and answers: static HTML with drawings, made where it is shown."""

from __future__ import annotations

from whence.notebook.shown import ShownAnswer, ShownRun

__all__ = ["ShownAnswer", "ShownRun"]

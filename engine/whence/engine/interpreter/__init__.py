"""The interpreter: one event at a time, in plain Python. It gives every chain its meaning."""

from __future__ import annotations

from whence.engine.interpreter.run import Interpreter, Output, RunResult, interpret

__all__ = ["Interpreter", "Output", "RunResult", "interpret"]

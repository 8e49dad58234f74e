"""The engine: chains of processors, what they compute, and what explains each result."""

from __future__ import annotations

import whence.engine.showing  # noqa: F401 - registers what notebooks show
from whence.engine.errors import WhenceError
from whence.engine.functions import function
from whence.engine.interpreter import Interpreter, RunResult, interpret
from whence.engine.language.chain import Chain, Log
from whence.engine.lineage.tracker import Explanation, MemoryTracker, Tracker
from whence.engine.processors import (
    ApplyFunction,
    CountDecimate,
    Cumulate,
    Each,
    Filter,
    Fork,
    Freeze,
    Group,
    Insert,
    Multiplex,
    Passthrough,
    PythonProcessor,
    Slice,
    Stutter,
    Trim,
    TurnInto,
    Window,
)
from whence.engine.sketch import call, event, field

__all__ = [
    "ApplyFunction",
    "Chain",
    "CountDecimate",
    "Cumulate",
    "Each",
    "Explanation",
    "Filter",
    "Fork",
    "Freeze",
    "Group",
    "Insert",
    "Interpreter",
    "Log",
    "MemoryTracker",
    "Multiplex",
    "Passthrough",
    "PythonProcessor",
    "RunResult",
    "Slice",
    "Stutter",
    "Tracker",
    "Trim",
    "TurnInto",
    "WhenceError",
    "Window",
    "call",
    "event",
    "field",
    "function",
    "interpret",
]

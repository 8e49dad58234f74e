"""The processors, one file each."""

from __future__ import annotations

from whence.engine.processors.apply_function import ApplyFunction
from whence.engine.processors.count_decimate import CountDecimate
from whence.engine.processors.cumulate import Cumulate
from whence.engine.processors.each import Each
from whence.engine.processors.filter import Filter
from whence.engine.processors.fork import Fork
from whence.engine.processors.freeze import Freeze
from whence.engine.processors.group import Group
from whence.engine.processors.insert import Insert
from whence.engine.processors.multiplex import Multiplex
from whence.engine.processors.passthrough import Passthrough
from whence.engine.processors.python_processor import PythonProcessor
from whence.engine.processors.slice import Slice
from whence.engine.processors.stutter import Stutter
from whence.engine.processors.trim import Trim
from whence.engine.processors.turn_into import TurnInto
from whence.engine.processors.window import Window

__all__ = [
    "PROCESSORS",
    "ApplyFunction",
    "CountDecimate",
    "Cumulate",
    "Each",
    "Filter",
    "Fork",
    "Freeze",
    "Group",
    "Insert",
    "Multiplex",
    "Passthrough",
    "PythonProcessor",
    "Slice",
    "Stutter",
    "Trim",
    "TurnInto",
    "Window",
]

PROCESSORS = (
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
    Slice,
    Stutter,
    Trim,
    TurnInto,
    Window,
)

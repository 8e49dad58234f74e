"""Which kernel runs which processor: the module named like the processor's file."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from whence.engine.kernels.kernel import Kernel, Place
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.palettes.ltl import F, G, U, X
from whence.engine.processor import Processor
from whence.engine.processors import (
    ApplyFunction,
    CountDecimate,
    Cumulate,
    Filter,
    Fork,
    Freeze,
    Insert,
    Multiplex,
    Passthrough,
    Slice,
    Stutter,
    Trim,
    TurnInto,
    Window,
)

__all__ = ["kernel_for"]

_MODULES: dict[type[Processor], str] = {
    ApplyFunction: "apply_function",
    CountDecimate: "count_decimate",
    Cumulate: "cumulate",
    F: "eventually",
    Filter: "filter",
    Fork: "fork",
    Freeze: "freeze",
    G: "globally",
    Insert: "insert",
    MooreMachine: "moore_machine",
    Multiplex: "multiplex",
    Passthrough: "passthrough",
    Slice: "slice",
    Stutter: "stutter",
    Trim: "trim",
    TurnInto: "turn_into",
    U: "until",
    Window: "window",
    X: "next",
}


def _module(name: str) -> ModuleType | None:
    full = f"whence.engine.kernels.{name}"
    return import_module(full) if find_spec(full) else None


def kernel_for(place: Place) -> Kernel | None:
    """The kernel of a processor in its place; ``None`` if it runs as the interpreter does."""
    name = _MODULES.get(type(place.processor))
    module = None if name is None else _module(name)
    found: Kernel | None = None if module is None else module.kernel(place)
    return found

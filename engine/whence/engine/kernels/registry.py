"""Which kernel runs which processor: the module named like the processor's file."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from whence.engine.kernels.kernel import Kernel, Place
from whence.engine.language.processor import Processor

__all__ = ["kernel_for", "kernel_module"]

_PROCESSORS = (
    "whence.engine.processors",
    "whence.engine.palettes.fsm",
    "whence.engine.palettes.ltl",
)
"""Where the files of processors are that may have a kernel."""


def kernel_module(kind: type[Processor]) -> ModuleType | None:
    """The module of a processor's kernel; a class derived from one of ours has none."""
    return _module(kind.__module__)


@cache
def _module(processor: str) -> ModuleType | None:
    room, _, name = processor.rpartition(".")
    full = f"whence.engine.kernels.processors.{name}"
    return import_module(full) if room in _PROCESSORS and find_spec(full) else None


def kernel_for(place: Place) -> Kernel | None:
    """The kernel of a processor in its place; ``None`` if it runs as the interpreter does."""
    module = kernel_module(type(place.processor))
    if module is None:
        return place.processor.kernel(place)  # a palette's may bring its own
    found: Kernel | None = module.kernel(place)
    return found

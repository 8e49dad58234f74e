"""The public name of `whence.engine.language.processor`, for palettes of your own."""

from __future__ import annotations

from whence.engine.language.processor import Machine, MachineFactory, Processor, Scope, Site

__all__ = ["Machine", "MachineFactory", "Processor", "Scope", "Site"]

"""XES logs: traces of events with typed attributes, as an XML stream, plain or packed."""

from __future__ import annotations

from whence.engine.sources.xes.source import XesSource

__all__ = ["XesSource"]

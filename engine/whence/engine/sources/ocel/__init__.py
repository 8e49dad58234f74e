"""OCEL 2.0 logs: events that concern several objects, in SQLite, JSON or XML."""

from __future__ import annotations

from whence.engine.sources.ocel.source import OcelSource

__all__ = ["OcelSource"]

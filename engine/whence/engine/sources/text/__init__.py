"""Text logs: one event a line, by a named pattern or one of the user's own."""

from __future__ import annotations

from whence.engine.sources.text.patterns import PATTERNS
from whence.engine.sources.text.source import TextSource

__all__ = ["PATTERNS", "TextSource"]

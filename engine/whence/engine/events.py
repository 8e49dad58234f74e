"""The public name of `whence.engine.language.events`, for palettes of your own."""

from __future__ import annotations

from whence.engine.language.events import (
    Either,
    Event,
    Part,
    Position,
    Shelf,
    Stream,
    Term,
    all_exist,
    position_text,
)

__all__ = [
    "Either",
    "Event",
    "Part",
    "Position",
    "Shelf",
    "Stream",
    "Term",
    "all_exist",
    "position_text",
]

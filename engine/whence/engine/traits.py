"""The public name of `whence.engine.language.traits`, for palettes of your own."""

from __future__ import annotations

from whence.engine.language.traits import LOG, MOST_PIPES, ComparedColumns, DeclaredColumns, Traits

__all__ = ["LOG", "MOST_PIPES", "ComparedColumns", "DeclaredColumns", "Traits"]

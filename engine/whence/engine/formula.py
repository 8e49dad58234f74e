"""Text to expressions and chain parts (to come)."""

from __future__ import annotations

from whence.engine.expression import Expression

__all__ = ["parse_expression"]


def parse_expression(text: str) -> Expression:
    """Read expression text."""
    raise NotImplementedError(text)

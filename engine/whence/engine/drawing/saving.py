"""Drawings as text or in a file, in the requested format."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

from whence.engine.drawing.dot import dot
from whence.engine.drawing.mermaid import mermaid
from whence.engine.drawing.picture import Picture
from whence.engine.drawing.svg import svg
from whence.engine.errors import ParameterError

__all__ = ["FORMATS", "draw", "draw_to"]

FORMATS: dict[str, Callable[[Picture], str]] = {"svg": svg, "mermaid": mermaid, "dot": dot}
_ENDINGS = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot"}


def draw(picture: Picture, format: str) -> str:
    """Write a picture as ``svg``, ``mermaid`` or ``dot``."""
    if format not in FORMATS:
        msg = f"a drawing: expected {', '.join(FORMATS)}; got {format!r}; try svg"
        raise ParameterError(msg)
    return FORMATS[format](picture)


def draw_to(picture: Picture, path: Path) -> Path:
    """Write a picture into a file, whose ending says how: .svg, .mmd, .dot.

    What was there before stays until the new one is complete.
    """
    format = _ENDINGS.get(path.suffix.lower())
    if format is None:
        msg = f"a drawing: expected a file .svg, .mmd or .dot; got {path}; try {path.stem}.svg"
        raise ParameterError(msg)
    text = draw(picture, format)
    beside = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        try:
            beside.write_text(text, encoding="utf-8")
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        msg = f"a drawing: expected to write {path}; got {error.strerror}; try another folder"
        raise ParameterError(msg) from error
    return path

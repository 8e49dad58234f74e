"""What an XES log says of itself: classifiers, extensions, attributes of the log."""

from __future__ import annotations

from typing import Any

import numpy as np

from whence.engine.sources.xes.pieces import Piece
from whence.engine.sources.xes.tokens import TAG, TRACE
from whence.engine.sources.xes.values import element

__all__ = ["details_of"]

_MOST = 200
"""More classifiers and extensions than anyone has."""


def details_of(piece: Piece, details: dict[str, Any]) -> None:
    """Add what this piece has between the traces."""
    tags = piece.tags
    opening = tags.change[: piece.count] >= 0
    parts = (piece.before == 1) & opening & (tags.kind[: piece.count] != TRACE)
    for tag in np.flatnonzero(parts):
        found = TAG.match(tags.data, int(tags.at[tag]))
        name = found[2].rpartition(b":")[2] if found else b""
        if found is None or name not in (b"classifier", b"extension"):
            continue
        listed = details.setdefault(f"{name.decode()}s", [])
        if len(listed) < _MOST:
            listed.append(element(b"<" + name + found[3] + b"/>").own)

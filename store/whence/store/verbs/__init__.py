"""The two verbs on which every question is built: *up* to what explains, *down* to what follows."""

from __future__ import annotations

from whence.store.verbs.closure import down, ends, up, up_if_few
from whence.store.verbs.packed_chunks import PackedChunks

__all__ = ["WALKED_UP", "PackedChunks", "down", "ends", "up", "up_if_few"]

WALKED_UP = ("up_explains", "edges_up", "spans_up", "heads_up")
"""The queries of `up` beside those for packed chunks, for whoever wants to see them."""

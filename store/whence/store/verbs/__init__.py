"""The two verbs on which every question is built: *up* to what explains, *down* to what follows."""

from __future__ import annotations

from whence.store.verbs.closure import down, ends, up

__all__ = ["down", "ends", "up"]

"""Look for garbage less often while rows are made.

Rows are lists of lists, hundreds of thousands of them, and never lead around: to look through all
of them again and again takes longer than to make them.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collecting_less"]

_SELDOM = (200_000, 20, 100)
_lock = threading.Lock()
_before: list[tuple[int, int, int]] = []
"""How often it was looked for before; as many times as there is somebody at work."""


@contextmanager
def collecting_less() -> Iterator[None]:
    """Until all who asked for it are done; then as often as before.

    >>> usual = gc.get_threshold()
    >>> with collecting_less(), collecting_less():
    ...     gc.get_threshold() == usual
    False
    >>> gc.get_threshold() == usual
    True
    """
    with _lock:
        _before.append(_before[0] if _before else gc.get_threshold())
        gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        with _lock:
            usual = _before.pop()
            if not _before:
                gc.set_threshold(*usual)

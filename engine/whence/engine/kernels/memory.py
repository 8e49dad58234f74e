"""Keep the memory of one batch for the next.

The arrays of a batch are some hundred kilobytes each. Left to itself the C library of Linux gives
them back to the system after every batch and asks for them again, page by page, for the next one:
that can cost several times what is computed in them.
"""

from __future__ import annotations

import ctypes
import platform
from functools import lru_cache

__all__ = ["keep_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_MEBIBYTE = 2**20


@lru_cache(maxsize=1)
def keep_memory() -> bool:
    """Let this process hold on to at most 64 MiB of freed memory; whether that could be said."""
    if platform.libc_ver()[0] != "glibc":
        return False
    try:
        say = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    kept = say(_TRIM_THRESHOLD, 64 * _MEBIBYTE)
    return bool(say(_MMAP_THRESHOLD, 32 * _MEBIBYTE) and kept)

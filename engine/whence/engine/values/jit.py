"""Compile the loops that cannot be written as whole-array steps; plain Python without Numba.

Numba is imported once loops have enough rows to pay for it, not before: a small log is done in less
time than that import takes. What it compiled is cached next to the package, or in the user's own
cache folder if that cannot be written, or where ``NUMBA_CACHE_DIR`` says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any, TypeVar

import numpy as np

__all__ = ["is_compiled", "jit"]

Loop = TypeVar("Loop", bound=Callable[..., Any])

FEW = 20_000
"""Number of rows, over all loops, that run as plain Python before any loop is compiled."""


class _Counted:
    """How many rows ran as plain Python does."""

    rows = 0


@cache
def _compiler() -> Callable[[Any], Any] | None:
    try:
        from numba import njit
    except ImportError:
        return None

    def compiled(loop: Any) -> Any:
        try:
            return njit(cache=True, nogil=True)(loop)
        except RuntimeError:  # no folder that can be written: every process compiles for itself
            return njit(nogil=True)(loop)

    return compiled


def is_compiled(rows: int) -> bool:
    """Whether a loop over this many rows would run compiled."""
    return _Counted.rows + rows >= FEW and _compiler() is not None


def jit(loop: Loop) -> Loop:
    """Let a loop over arrays of integers, floats and booleans be compiled when that pays.

    A loop may call no other such loop, and holds nothing but numbers and arrays.
    """
    ready: list[Callable[..., Any]] = []

    @wraps(loop)
    def run(*arguments: Any) -> Any:
        if not ready:
            if _few(arguments):
                return _plain(loop, *arguments)
            compiler = _compiler()
            ready.append(partial(_plain, loop) if compiler is None else compiler(loop))
        return ready[0](*arguments)

    return run  # type: ignore[return-value]


def _few(arguments: tuple[Any, ...]) -> bool:
    if _Counted.rows < FEW:
        lengths = (len(a) for a in arguments if isinstance(a, np.ndarray) and a.ndim)
        _Counted.rows += max(lengths, default=1)
    return _Counted.rows < FEW


def _plain(loop: Callable[..., Any], *arguments: Any) -> Any:
    """Numbers that wrap do so silently, as they do when compiled."""
    with np.errstate(all="ignore"):
        return loop(*arguments)

"""Compile the loops that cannot be written as whole-array steps; plain Python without Numba.

Numba is imported when the first such loop is needed, not before, so that commands which run none
start as fast as ever. What it compiled is kept on disk beside the package, or in the user's own
cache folder if that cannot be written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar

__all__ = ["is_compiled", "jit"]

Loop = TypeVar("Loop", bound=Callable[..., Any])


@cache
def _compiler() -> Callable[[Any], Any] | None:
    try:
        from numba import njit
    except ImportError:
        return None
    compiler: Callable[[Any], Any] = njit(cache=True, nogil=True)
    return compiler


def is_compiled() -> bool:
    """Whether loops run compiled."""
    return _compiler() is not None


def jit(loop: Loop) -> Loop:
    """Let a loop over arrays of integers, floats and booleans be compiled when it is first run.

    A loop may call no other such loop, and holds nothing but numbers and arrays.
    """
    ready: list[Callable[..., Any]] = []

    @wraps(loop)
    def run(*arguments: Any) -> Any:
        if not ready:
            compiler = _compiler()
            ready.append(loop if compiler is None else compiler(loop))
        return ready[0](*arguments)

    return run  # type: ignore[return-value]

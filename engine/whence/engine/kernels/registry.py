"""Which kernel runs which processor."""

from __future__ import annotations

from whence.engine.kernels.kernel import Kernel, Place

__all__ = ["kernel_for"]


def kernel_for(place: Place) -> Kernel | None:
    """The kernel of a processor in its place; ``None`` if it runs as the interpreter does."""
    return None

"""Window on batches: a shorter way for a fold, else P itself on every window."""

from __future__ import annotations

from whence.engine.kernels.folds.window_folds import fold_of
from whence.engine.kernels.kernel import Kernel, Place
from whence.engine.kernels.windows import GeneralWindow

__all__ = ["kernel"]


def kernel(place: Place) -> Kernel | None:
    """The kernel of a Window."""
    return fold_of(place) or GeneralWindow(place)

"""Helper streams of the record whose elements lead to each other, so that no set has to grow.

An element leads to what it adds and to another element, or none: all that came so far in a slot is
its last element, and each costs the same however many came before.
"""

from __future__ import annotations

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.kernel import Kept, Place
from whence.engine.kernels.trails.entries import WHOLE
from whence.engine.kernels.trails.reasons import Reasons
from whence.engine.kernels.trails.trail import Spans, Trail

__all__ = ["LinkedStream"]


class LinkedStream:
    """Elements of a kernel in the record; the stream begins with the first of them.

    Args:
        place: where the kernel stands; not inside a Window.
        suffix: the name of the stream: ``total/so-far``.

    Attributes:
        kept: the stream, once it has begun.
    """

    def __init__(self, place: Place, suffix: str, kept: Kept | None = None) -> None:
        """Begin without elements, or with the stream of the outputs themselves."""
        self.place = place
        self.suffix = suffix
        self.kept = kept

    def begun(self) -> Kept:
        """The stream; from now on the record lists it."""
        if self.kept is None:
            self.kept = self.place.chain(self.suffix)
            assert self.kept is not None
        return self.kept

    def positions(self, moments: Ints) -> Ints:
        """Where the next elements will stand, if they come at these moments."""
        return self.begun().positions(self.place.top(moments))

    def link(self, positions: Ints) -> Trail:
        """Rows that lead to one element each; below 0 to none."""
        return Spans.points(self.begun().target, WHOLE, positions)

    def add(self, moments: Ints, reasons: Reasons) -> Trail:
        """Keep elements; return the trail that leads to each of them."""
        return self.begun().add(self.place.top(moments), None, reasons.why, reasons.sup)

    def save(self) -> str | None:
        """The name of the stream, if it has begun; its elements are in the record."""
        return None if self.kept is None else self.kept.name

    def load(self, name: str | None) -> None:
        """Go on with that stream; the run knows it already."""
        self.kept = None if name is None else self.place.run.kept[name]

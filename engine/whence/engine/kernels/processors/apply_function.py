"""ApplyFunction on batches: a function of each front."""

from __future__ import annotations

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.expressions.expression import RowFault, compile_columns
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.processors import ApplyFunction

__all__ = ["Apply", "kernel"]


class Apply(Kernel):
    """A function at work.

    Attributes:
        function: what it computes.
        regular: whether its fronts rest on nothing.
    """

    def __init__(self, place: Place, processor: ApplyFunction) -> None:
        super().__init__(place)
        self.function = compile_columns(processor.expression, place.inputs, place.run)
        # A regular front rests on nothing, unless P reads events from behind an irregular pipe.
        self.regular = place.regular and not place.slotted

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Output f of each front, explained by what f's rule picks."""
        try:
            found = self.function.trace(front)
        except RowFault as bad:
            self.fail(front, bad.row, bad.fault)
        exists = front.exists() if self.tracked and not self.regular else None
        reasons = found.reasons.existing(exists)
        return [Batch(found.values, front.moment, front.slot, *reasons)]


def kernel(place: Place) -> Kernel:
    """The kernel of an ApplyFunction."""
    assert isinstance(place.processor, ApplyFunction)
    return Apply(place, place.processor)

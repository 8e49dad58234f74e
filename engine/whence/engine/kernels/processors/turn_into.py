"""TurnInto on batches: a constant for every event."""

from __future__ import annotations

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import constant
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.kernels.trails.entries import WHOLE
from whence.engine.kernels.trails.trail import Nothing, Trail
from whence.engine.processors import TurnInto
from whence.engine.values import Value

__all__ = ["kernel"]


class _TurnInto(Kernel):
    def __init__(self, place: Place, value: Value) -> None:
        super().__init__(place)
        self.value = value

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Explained by the event that triggered it, supported by nothing but existence."""
        (batch,) = front.pipes
        count = len(batch)
        exists = batch.exists
        sup: Trail = Nothing(count) if exists is None else exists
        values = constant(self.value, count, self.run.texts)
        return [Batch(values, batch.moment, batch.slot, batch.why.ask(WHOLE), sup, exists)]


def kernel(place: Place) -> Kernel:
    """The kernel of a TurnInto."""
    assert isinstance(place.processor, TurnInto)
    return _TurnInto(place, place.processor.value)

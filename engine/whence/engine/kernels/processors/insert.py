"""Insert on batches: put a value before the stream of every instance."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.batch import Batch, Front, join_batches
from whence.engine.kernels.columns.column import constant
from whence.engine.kernels.columns.lazy_ints import made
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.kernels.trails.reasons import Reasons
from whence.engine.processors import Insert

__all__ = ["kernel"]


class _Insert(Kernel):
    def __init__(self, place: Place, processor: Insert) -> None:
        super().__init__(place)
        self.n = processor.n
        self.value = processor.value

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """The first n outputs of what begins now, which nothing explains; then the input."""
        (batch,) = front.pipes
        count = self.n * len(born.slots)
        if not count:
            return [batch]
        moment = np.repeat(born.moments, self.n)
        slot = np.repeat(born.slots, self.n) if self.place.slotted else None
        values = constant(self.value, count, self.run.texts)
        begun = Batch(values, moment, slot, *Reasons.nothing(count))
        whole = join_batches([begun, batch])
        if len(batch) and moment[-1] > batch.moment[0]:
            return [whole.take(np.argsort(made(whole.moment), kind="stable"))]
        return [whole]


def kernel(place: Place) -> Kernel:
    """The kernel of an Insert."""
    assert isinstance(place.processor, Insert)
    return _Insert(place, place.processor)

"""What Trim and CountDecimate share: events are let through by their number alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.counting import Counter
from whence.engine.kernels.kernel import Born, Kernel, Place, State

__all__ = ["Selecting"]


class Selecting(Kernel):
    """Lets some events of every instance through.

    Args:
        place: where it stands.
        chosen: which numbers are let through.
    """

    def __init__(self, place: Place, chosen: Callable[[Ints], Bools]) -> None:
        super().__init__(place)
        self.chosen = chosen
        self.counter = Counter()

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Output the chosen inputs, each explained by itself."""
        (batch,) = front.pipes
        numbers = self.counter.number(front.slot, len(front), born)
        rows = np.flatnonzero(self.chosen(numbers))
        return [batch if len(rows) == len(batch) else batch.take(rows)]

    def reset(self) -> None:
        super().reset()
        self.counter.forget()

    def save(self) -> State:
        return self.counter.save()

    def load(self, state: Mapping[str, Any]) -> None:
        self.counter.load(state)

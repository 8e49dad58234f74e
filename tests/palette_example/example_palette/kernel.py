"""Difference on batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whence.engine.functions import function_named
from whence.engine.kernels.batch import Batch, Front, join_batches
from whence.engine.kernels.expressions.expression import RowFault, compile_columns
from whence.engine.kernels.kernel import Born, Kernel, Place, State
from whence.engine.kernels.trails.composing import union
from whence.engine.language.expression import Call, Input

__all__ = ["DifferenceKernel"]

LESS = Call(function_named("sub"), (Input(1), Input(0)))


class DifferenceKernel(Kernel):
    """Keeps the last inputs of a batch for the next one."""

    def __init__(self, place: Place, lag: int) -> None:
        """Begin without any."""
        super().__init__(place)
        self.lag = lag
        self.function = compile_columns(LESS, place.inputs * 2, place.run)
        self.last: Batch | None = None

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Compare each input with the one that came ``lag`` inputs before."""
        (new,) = front.pipes
        events = new if self.last is None else join_batches([self.last, new])
        start = max(len(events) - self.lag, 0)
        self.last = events.slice(start, len(events)).settled()
        earlier, later = events.slice(0, start), events.slice(len(events) - start, len(events))
        try:
            pairs = Front((earlier, later), later.moment, None)
            values, why, sup = self.function.trace(pairs)
        except RowFault as bad:
            self.fail(front, bad.row + len(new) - start, bad.fault)
        if later.exists is not None:
            sup = union(sup, later.exists) or sup
        return [Batch(values, later.moment, None, why, sup, later.exists)]

    def save(self) -> State:
        """The last inputs."""
        return {"last": self.last}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from what `save` gave."""
        self.last = state["last"]

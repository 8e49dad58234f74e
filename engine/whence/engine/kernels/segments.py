"""Neighbouring processors that run as one: what they have in common, and which they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from whence.engine.interpreter.plan import Pipe, Plan
from whence.engine.kernels.batch import Batch

__all__ = ["Segment", "readers_of"]


class Segment(Protocol):
    """Some processors of a plan; only the output of the last is read by others.

    Attributes:
        steps: their numbers, in order.
        sources: the pipes that they read.
    """

    steps: tuple[int, ...]
    sources: tuple[Pipe, ...]

    def feed(self, arrived: Sequence[Batch]) -> Batch | None:
        """What the last gives for a batch of each source; ``None``: these need every processor."""


def readers_of(plan: Plan) -> dict[Pipe, set[int]]:
    """The steps that read each pipe; -1 for whoever reads what leaves the plan."""
    readers: dict[Pipe, set[int]] = {pipe: {-1} for pipe in plan.exits}
    for number, step in enumerate(plan.steps):
        for source in step.sources:
            readers.setdefault(source, set()).add(number)
    return readers

"""Filter on batches: let events through while a condition holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Bools
from whence.engine.kernels.expressions.conditions import as_conditions
from whence.engine.kernels.expressions.expression import ColumnExpression, RowFault, compile_columns
from whence.engine.kernels.kernel import Born, Kernel, Place, State
from whence.engine.kernels.trails.composing import union
from whence.engine.kernels.trails.entries import Entries
from whence.engine.kernels.trails.reasons import Reasons
from whence.engine.kernels.trails.refused import Refused
from whence.engine.kernels.trails.so_far import SoFar
from whence.engine.kernels.trails.trail import Nothing, Trail
from whence.engine.processors import Filter

__all__ = ["kernel"]

_Judged = tuple[Bools, Reasons]
"""Which conditions hold, and the reasons of each."""


class _Filter(Kernel):
    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._forget()

    def _forget(self) -> None:
        self.conditions = SoFar(self.place, "conditions")
        self.refused = Refused(self.place)
        self.leans = False

    def judge(self, front: Front) -> _Judged:
        """The conditions are the second pipe."""
        condition = front.pipes[1]
        return as_conditions(condition.values), condition.reasons.ask()

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Let the events through whose condition at the same front is true.

        Explained by both; supported also by every earlier condition: they decide which is the k-th.
        """
        try:
            holds, judged = self.judge(front)
        except RowFault as bad:
            self.fail(front, bad.row, bad.fault)
        event = front.pipes[0]
        rows = np.flatnonzero(holds)
        every = len(rows) == len(front)
        values = event.values if every else event.values.take(rows)
        moment = front.moment if every else front.moment[rows]
        slot = front.slot if every or front.slot is None else front.slot[rows]
        if not self.tracked:
            return [Batch(values, moment, slot, *Reasons.nothing(len(rows)))]
        so_far = self._so_far(front, judged.leaning(event.exists).sup)
        if not every:
            self.refused.add(judged.sup, np.flatnonzero(~holds), front.moments())
        # The fields asked of an output are the let-through event's, never the condition's.
        explained = union(event.why, judged.why) or judged.why
        reasons = Reasons(explained, union(event.sup, so_far) or event.sup, so_far)
        return [Batch(values, moment, slot, *(reasons if every else reasons.take(rows)))]

    def _so_far(self, front: Front, added: Trail) -> Trail | None:
        """What all conditions up to each front lean on; ``None`` if on nothing."""
        self.leans = self.leans or not isinstance(added, Nothing)
        if not self.leans:
            return None
        return self.conditions.add(front.slot, front.moments(), Reasons.of(added)).sup

    def open(self) -> Entries:
        """The conditions that were not true: one of them turning true would add an output."""
        return self.refused.entries()

    def reset(self) -> None:
        super().reset()
        self._forget()

    def save(self) -> State:
        return {
            "conditions": self.conditions.save(),
            "refused": self.refused.save(),
            "leans": self.leans,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.conditions.load(state["conditions"])
        self.refused.load(state["refused"])
        self.leans = state["leans"]


class _Where(_Filter):
    def __init__(self, place: Place, condition: ColumnExpression) -> None:
        super().__init__(place)
        self.condition = condition

    def judge(self, front: Front) -> _Judged:
        """The condition is computed from the event itself, as an ApplyFunction before it would."""
        try:
            found = self.condition.trace(front)
        except RowFault as bad:
            # An earlier value may be no condition.
            as_conditions(self.condition.evaluate(front.head(bad.row)))
            raise
        return as_conditions(found.values), found.reasons.leaning(front.exists())


def kernel(place: Place) -> Kernel:
    """The kernel of a Filter, with two pipes or with a condition of its own."""
    assert isinstance(place.processor, Filter)
    if place.processor.where is None:
        return _Filter(place)
    return _Where(place, compile_columns(place.processor.condition, place.inputs, place.run))

"""Cumulate on batches: a running total for every slot, with what explains it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import numpy as np

from whence.engine.functions import FUNCTIONS
from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.expressions.conditions import conditions
from whence.engine.kernels.expressions.expression import RowFault
from whence.engine.kernels.folds.loops import ALL, BEFORE, NOTHING
from whence.engine.kernels.folds.totals import Folded, Totals
from whence.engine.kernels.kernel import Born, Kernel, Place, State
from whence.engine.kernels.trails.composing import Chosen, joined
from whence.engine.kernels.trails.reasons import Reasons, joined_reasons
from whence.engine.kernels.trails.runs import runs_of
from whence.engine.kernels.trails.slot_rows import SlotRows
from whence.engine.kernels.trails.so_far import SoFar
from whence.engine.kernels.trails.trail import Nothing, Sets, Trail
from whence.engine.processors import Cumulate

__all__ = ["CumulateKernel", "is_ours", "kernel"]


def kernel(place: Place) -> Kernel | None:
    """The kernel of a Cumulate; a user's own function runs as the interpreter does."""
    declared = cast(Cumulate, place.processor)
    return CumulateKernel(place) if is_ours(declared) else None


def is_ours(declared: Cumulate) -> bool:
    """Whether the function is one of the engine's own."""
    folded = declared.folded
    return not folded.path and FUNCTIONS.get(folded.name) is folded


class CumulateKernel(Kernel):
    """The totals of all slots."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.totals = Totals(cast(Cumulate, place.processor))
        self.held = SlotRows()
        self.so_far = SoFar(place)

    def reset(self) -> None:
        super().reset()
        self.totals.forget()

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Output the new total of every row's slot."""
        (batch,) = front.pipes
        self.totals.grow(born.count)
        if self.totals.is_logical:
            (holds,) = conditions(self, front)
            folded = self.totals.conditions(front.slot, holds, batch.values)
        else:
            try:
                folded = self.totals.values(front.slot, batch.values)
            except RowFault as bad:
                self.fail(front, bad.row, bad.fault)
        reasons = Reasons.nothing(len(front))
        if self.tracked:
            reasons = self._explained(front, batch, folded)._replace(exists=batch.exists)
        return [Batch(folded.values, front.moment, front.slot, *reasons)]

    def _explained(self, front: Front, batch: Batch, folded: Folded) -> Reasons:
        totals, pick = self.totals, folded.pick
        own = batch.reasons.ask()
        if totals.is_logical:
            before = self._undecided(front, pick, own)
        else:
            before = self.so_far.add(front.slot, front.moments(), own)
        picked = partial(self._picked, front.slot, pick)
        held = self.held.trails()
        found = before
        if not totals.explains_all:
            found = Reasons.of(picked(own.why, before.why, held.why))
        if totals.is_extreme or (totals.is_product and self.place.inputs[0].may_vanish):
            found = Reasons(found.why, before.sup)
        elif not (totals.explains_all or (own.agree and before.agree and batch.exists is None)):
            sup = picked(own.sup, before.sup, held.sup)
            found = Reasons(found.why, sup).leaning(batch.exists)
        if not self.place.window:
            slots = totals.take_changed()
            if len(slots.slot):
                self.held.put(slots.slot, own.take(slots.row))
        return found

    def _undecided(self, front: Front, pick: Ints, own: Reasons) -> Reasons:
        """All inputs so far, for the rows where nothing is decided yet: later they do not count."""
        count = len(pick)
        rows = np.flatnonzero(pick == ALL)
        slot = None if front.slot is None else front.slot[rows]
        if len(rows) == count:
            return self.so_far.add(front.slot, front.moments(), own)
        found = self.so_far.add(slot, front.moment[rows], own.take(rows))
        if front.slot is None:
            # Nothing is undecided once something was decided.
            return joined_reasons([found, Reasons.nothing(count - len(rows))])
        places = np.full(count, -1)
        places[rows] = np.arange(len(rows))
        return found.take(places)

    def _picked(
        self, slot: Ints | None, pick: Ints, here: Trail, before: Trail, held: Trail
    ) -> Trail:
        """What the picked rows lead to."""
        if (pick == ALL).all():
            return before
        count = len(pick)
        if slot is None:
            # The held row first, then those of this batch.
            places = np.where(pick >= 0, pick + 1, -1)
            places[pick == BEFORE] = 0
            places[pick == NOTHING] = -2
            row = self.held.row[:1]
            return runs_of(before, joined([_one(held, row), here]), places)
        parts: list[tuple[Any, Trail]] = []
        if (pick == ALL).any():
            parts.append((pick == ALL, before))
        if (pick >= 0).any():
            parts.append((pick >= 0, here.take(np.maximum(pick, -1))))
        if (pick == BEFORE).any():
            rows = np.where(pick == BEFORE, slot, -1)
            known = np.where(rows >= 0, self.held.row[np.maximum(rows, 0)], -1)
            parts.append((pick == BEFORE, held.take(known)))
        return Chosen(count, parts) if parts else Nothing(count)

    def save(self) -> State:
        return {**self.totals.save(), **self.held.save(), "so_far": self.so_far.save()}

    def load(self, state: Mapping[str, Any]) -> None:
        self.totals.load(state)
        self.held.load(state)
        self.so_far.load(state["so_far"])


def _one(held: Trail, row: Ints) -> Trail:
    """The held row as a trail of its own, of one row even if it leads nowhere."""
    found = held.take(row)
    return found.settle() if not isinstance(found, Sets) else found

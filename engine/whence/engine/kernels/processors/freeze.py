"""Freeze on batches: the first event of every instance, again and again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whence.engine.kernels.batch import Batch, Front, join_batches
from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.fronts import ranks
from whence.engine.kernels.kernel import Born, Kernel, Place, State

__all__ = ["kernel"]


class _Rows(SlotTable):
    row: Ints


class _Freeze(Kernel):
    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.firsts: Batch | None = None
        self.rows = _Rows(1, row=-1)

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Explained by input 0; that output k exists rests on input k."""
        (batch,) = front.pipes
        count = len(batch)
        if not count:
            return [batch]
        firsts = self._with(batch, born)
        rows = np.zeros(count, np.int64) if batch.slot is None else self.rows.row[batch.slot]
        frozen = firsts.take(rows)
        reasons = frozen.reasons.existing(batch.exists)
        return [Batch(frozen.values, batch.moment, batch.slot, *reasons)]

    def _with(self, batch: Batch, born: Born) -> Batch:
        """The first events, those of this batch among them."""
        self.rows.grow(born.count)
        row = self.rows.row
        slot = np.zeros(len(batch), np.int64) if batch.slot is None else batch.slot
        fresh = np.flatnonzero(row[slot] < 0)
        fresh = fresh[ranks(slot[fresh]) == 0]
        known = 0 if self.firsts is None else len(self.firsts)
        if len(fresh):
            row[slot[fresh]] = known + np.arange(len(fresh))
            added = batch.take(fresh).settled()
            held = [added] if self.firsts is None else [self.firsts, added]
            self.firsts = join_batches(held).settled()
        assert self.firsts is not None
        return self.firsts

    def reset(self) -> None:
        super().reset()
        self.firsts = None
        self.rows.forget()

    def save(self) -> State:
        """The first events, and which slot has which."""
        return {"firsts": self.firsts, **self.rows.save()}

    def load(self, state: Mapping[str, Any]) -> None:
        self.firsts = state["firsts"]
        self.rows.load(state)


def kernel(place: Place) -> Kernel:
    """The kernel of a Freeze."""
    return _Freeze(place)

"""What the kernels of the temporal operators share: what waits, and how it is closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Bools, Column, Ints
from whence.engine.kernels.columns.lazy_ints import Repeated, rows_from
from whence.engine.kernels.fronts import ranks
from whence.engine.kernels.kernel import Born, Kernel, Place, State
from whence.engine.kernels.trails.entries import Entries
from whence.engine.kernels.trails.reasons import Reasons, all_of, together
from whence.engine.kernels.trails.runs import Runs
from whence.engine.kernels.trails.so_far import previous
from whence.engine.kernels.trails.suffix_trails import SuffixTrails
from whence.engine.kernels.waiting import Waiting

__all__ = ["OperatorKernel", "WaitsForOne"]


class OperatorKernel(Kernel):
    """Keeps the fronts whose verdict is not known yet.

    Attributes:
        verdict: what the remaining verdicts are when the log is closed.
    """

    verdict = False

    def __init__(self, place: Place, *, each: bool = False) -> None:
        """Nothing waits yet.

        Args:
            place: where it stands.
            each: keep every row that waits, even if the log is not closed.
        """
        super().__init__(place)
        self.closes = self.run.closed and not place.window
        self.waiting = Waiting(tracked=self.tracked, each=each or self.closes)
        self.onward = SuffixTrails(place)

    def reset(self) -> None:
        super().reset()
        self.waiting.drop()

    def close(self, slots: Ints, moments: Ints) -> list[Batch] | None:
        """The verdicts of finite traces, each explained by all inputs from k to the end."""
        waiting = self.waiting
        waiting.grow(int(slots.max(initial=0)) + 1)
        counts = waiting.count[slots]
        slot = np.repeat(slots, counts)
        moment = np.repeat(moments, counts)
        count = len(slot)
        reasons = Reasons.nothing(count)
        rows = waiting.all_rows()
        if self.tracked and count:
            assert rows is not None
            # Slot by slot in the order given, each in the order of arrival.
            rank = np.empty(len(waiting.count), np.int64)
            rank[slots] = np.arange(len(slots))
            order = np.argsort(rank[rows.slot], kind="stable")
            ends = np.repeat(np.cumsum(counts) - 1, counts)
            every = all_of(*rows.pipes, each=lambda trail: trail.take(order))
            why, sup, _ = self.onward.of(ends, moment, every)
            if not self.place.regular:
                sup = self.run.everything().take(np.zeros(count, np.int64))
            reasons = Reasons(why, sup, sup)
        waiting.drop()
        values = Column("boolean", np.full(count, self.verdict), None, self.run.texts)
        owner = slot if self.place.slotted else None
        return [Batch(values, moment, owner, *reasons)]

    def open(self) -> Entries:
        """The fronts that still wait: any of them could bring a verdict."""
        return self.waiting.entries()

    def pending(self) -> int:
        """How many wait."""
        return int(self.waiting.count.sum())

    def waiting_in(self, count: int) -> Ints:
        """How many wait in each slot."""
        found = np.zeros(count, np.int64)
        known = self.waiting.count[:count]
        found[: len(known)] = known
        return found

    def save(self) -> State:
        return {**self.waiting.save(), "onward": self.onward.stream.save()}

    def load(self, state: Mapping[str, Any]) -> None:
        self.waiting.load(state)
        self.onward.stream.load(state["onward"])


class WaitsForOne(OperatorKernel):
    """G, F: one decisive input decides and explains every verdict that waits."""

    decisive = True

    def burst(self, front: Front, born: Born, decides: Bools) -> list[Batch]:
        """Say all verdicts that are decided now; let the other rows wait."""
        self.waiting.grow(born.count)
        (batch,) = front.pipes
        deciders = np.flatnonzero(decides)
        if front.slot is None:
            waits, sizes = self._sizes(len(front), deciders)
        else:
            waits, sizes = self._sizes_by_slot(front.slot, deciders)
        ends = np.cumsum(sizes)
        count = int(ends[-1]) if len(ends) else 0
        reasons = Reasons.nothing(count)
        if self.tracked:
            own = batch.reasons.ask()
            self.waiting.add(front.slot, waits, [own])
            usual, lo, hi = reasons.why, ends - sizes, ends - 1
            why, sup, _ = together(lambda trail: Runs(usual, trail, lo, hi, deciders), own)
            reasons = Reasons(why, sup, sup)
        values = Column("boolean", np.full(count, self.decisive), None, self.run.texts)
        moment = Repeated(front.moment[deciders], sizes, count)
        slot = None if front.slot is None else np.repeat(front.slot[deciders], sizes)
        return [Batch(values, moment, slot, *reasons)]

    def _sizes(self, count: int, deciders: Ints) -> tuple[Ints, Ints]:
        """The rows that wait afterwards, and how many verdicts each decider decides."""
        waiting = self.waiting
        if not len(deciders):
            waiting.count[0] += count
            return rows_from(0, count), deciders
        sizes = np.empty_like(deciders)
        sizes[0] = deciders[0] + 1 + waiting.count[0]
        np.subtract(deciders[1:], deciders[:-1], out=sizes[1:])
        last = int(deciders[-1])
        waiting.count[0] = count - 1 - last
        waiting.turn[0] += 1
        return rows_from(last + 1, count), sizes

    def _sizes_by_slot(self, slot: Ints, deciders: Ints) -> tuple[Ints, Ints]:
        """The same, with the counts of every slot."""
        waiting = self.waiting
        rank = ranks(slot)
        arrived = np.bincount(slot, minlength=len(waiting.count))
        if not len(deciders):
            waiting.count += arrived
            return np.arange(len(slot)), deciders
        owner, place = slot[deciders], rank[deciders]
        before = previous(owner, len(owner))
        sizes = np.where(
            before >= 0, place - place[np.maximum(before, 0)], place + 1 + waiting.count[owner]
        )
        last = np.full(len(waiting.count), -1)
        last[owner] = place  # of several deciders of a slot the last one stays
        decided = np.flatnonzero(last >= 0)
        waiting.count += arrived
        waiting.count[decided] = arrived[decided] - 1 - last[decided]
        waiting.burst(decided)
        return np.flatnonzero(rank > last[slot]), sizes

"""U: one thing holds until another does."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Bools, Column, Ints
from whence.engine.kernels.expressions.conditions import conditions
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.kernels.operator import OperatorKernel
from whence.engine.kernels.trails.composing import Chosen
from whence.engine.kernels.trails.reasons import Reasons, together
from whence.engine.kernels.trails.trail import Trail
from whence.engine.kernels.waiting import Rows, joined_rows

__all__ = ["kernel"]


class _Until(OperatorKernel):
    """Decided at i by q true, or by p false while q is false."""

    def __init__(self, place: Place) -> None:
        super().__init__(place, each=True)

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Say the verdicts that are decided now."""
        self.waiting.grow(born.count)
        holds, reached = conditions(self, front)
        decides = ~holds | reached
        slot = np.zeros(len(front), np.int64) if front.slot is None else front.slot
        waiting = self.waiting
        held = None
        touched = np.zeros(len(waiting.count), np.bool_)
        touched[slot[decides]] = True
        if decides.any() and self.tracked:
            held = self._held(touched)
        before = waiting.count[slot[:0]] if held is None else held.slot
        if held is None and not self.tracked:
            owners = np.flatnonzero(touched)
            before = np.repeat(owners, waiting.count[owners])
        joined_slot = np.concatenate([before, slot])
        first = len(before)
        at, decider = _next_decider(joined_slot, np.concatenate([np.zeros(first, bool), decides]))
        order = np.argsort(decider, kind="stable") if front.slot is not None else slice(None)
        at, decider = at[order], decider[order]
        waits = np.ones(len(front), np.bool_)
        waits[at[at >= first] - first] = False
        rows = np.flatnonzero(waits)
        waiting.count[touched] = 0
        waiting.burst(np.flatnonzero(touched))
        waiting.count += np.bincount(slot[rows], minlength=len(waiting.count))
        values = Column("boolean", reached[decider - first], None, self.run.texts)
        moment = front.moment[decider - first]
        owner = None if front.slot is None else front.slot[decider - first]
        reasons = Reasons.nothing(len(at))
        if self.tracked:
            new = Rows(slot, slot, tuple(batch.reasons.ask() for batch in front.pipes))
            if len(at):
                every = new if held is None else joined_rows([held, new])
                reasons = self._explained(front, every, at, decider, first, values.data, moment)
                reasons = reasons._replace(exists=reasons.sup)
            waiting.add(front.slot, rows, new.pipes)
        return [Batch(values, moment, owner, *reasons)]

    def _held(self, touched: Bools) -> Rows | None:
        """The rows that wait in slots that are decided now."""
        held = self.waiting.all_rows()
        if held is None or touched.all():
            return held
        rows = np.flatnonzero(touched[held.slot])
        return held.take(rows) if len(rows) else None

    def _explained(
        self,
        front: Front,
        rows: Rows,
        at: Ints,
        decider: Ints,
        first: int,
        reached: Bools,
        moment: Ints,
    ) -> Reasons:
        """True: q at i and p on k..i-1. False: p at i and q on k..i."""
        last = at == decider
        by_p, by_q = reached != last, ~reached | last

        def chosen(p: Trail, q: Trail) -> Trail:
            return Chosen(len(at), [(by_p, p.take(at)), (by_q, q.take(at))])

        reasons = together(chosen, *rows.pipes)
        there = front.exists()
        if there is not None:
            # What is decided at i leans on both pipes being there.
            sup = chosen(*(pipe.sup for pipe in rows.pipes))
            there = there.take(np.where(last, decider - first, -1))
            reasons = Reasons(reasons.why, sup).leaning(there)
        # Verdicts of one decider are neighbours, and the decider's own is the last.
        ends = np.flatnonzero(last)
        sizes = np.diff(ends, prepend=-1)
        return self.onward.of(np.repeat(ends, sizes), moment, reasons)


def _next_decider(slot: Ints, decides: Bools) -> tuple[Ints, Ints]:
    """The rows that have a decider at or after them in their slot, and which it is."""
    count = len(slot)
    order = np.argsort(slot, kind="stable")
    place = np.where(decides[order], np.arange(count), count)
    nearest = np.minimum.accumulate(place[::-1])[::-1]
    found = np.flatnonzero(nearest < count)
    found = found[slot[order[found]] == slot[order[nearest[found]]]]
    return order[found], order[nearest[found]]


def kernel(place: Place) -> Kernel:
    """The kernel of U."""
    return _Until(place)

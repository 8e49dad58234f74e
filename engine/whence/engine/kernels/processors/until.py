"""U: one thing holds until another does."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Bools, Column, Ints
from whence.engine.kernels.expressions.conditions import conditions
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.kernels.operator import OperatorKernel, asked
from whence.engine.kernels.trails.composing import Chosen, union
from whence.engine.kernels.trails.trail import Nothing, Trail
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
        why: Trail = Nothing(len(at))
        sup, exists = why, None
        if self.tracked:
            new = self._rows(front, slot)
            if len(at):
                every = new if held is None else joined_rows([held, new])
                why, sup = self._explained(front, every, at, decider, first, values.data, moment)
                exists = sup
            waiting.add(front.slot, rows, new.whys, new.sups)
        return [Batch(values, moment, owner, why, sup, exists)]

    def _held(self, touched: Bools) -> Rows | None:
        """The rows that wait in slots that are decided now."""
        held = self.waiting.all_rows()
        if held is None or touched.all():
            return held
        rows = np.flatnonzero(touched[held.slot])
        return held.take(rows) if len(rows) else None

    def _rows(self, front: Front, slot: Ints) -> Rows:
        p, q = (asked(batch) for batch in front.pipes)
        return Rows(slot, slot, (p[0], q[0]), (p[1], q[1]))

    def _explained(
        self,
        front: Front,
        rows: Rows,
        at: Ints,
        decider: Ints,
        first: int,
        reached: Bools,
        moment: Ints,
    ) -> tuple[Trail, Trail]:
        """True: q at i and p on k..i-1. False: p at i and q on k..i."""
        last = at == decider
        by_p, by_q = reached != last, ~reached | last
        p, q = (trail.take(at) for trail in rows.whys)
        why: Trail = Chosen(len(at), [(by_p, p), (by_q, q)])
        sup = why
        there = front.exists()
        same = all(w is s for w, s in zip(rows.whys, rows.sups, strict=True))
        if not same or there is not None:
            p, q = (trail.take(at) for trail in rows.sups)
            sup = Chosen(len(at), [(by_p, p), (by_q, q)])
            if there is not None:
                # What is decided at i leans on both pipes being there.
                both = union(sup, there.take(np.where(last, decider - first, -1)))
                assert both is not None
                sup = both
        # Verdicts of one decider are neighbours, and the decider's own is the last.
        ends = np.flatnonzero(last)
        sizes = np.diff(ends, prepend=-1)
        return self.onward.of(np.repeat(ends, sizes), moment, why, sup)


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

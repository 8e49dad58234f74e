"""Windows on batches: every complete window is an instance of P of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from whence.engine.kernels.batch import Batch, Front, join_batches
from whence.engine.kernels.columns.column import Column, Ints, concat
from whence.engine.kernels.columns.lazy_ints import Numbers, made, rows_from
from whence.engine.kernels.fronts import ranks
from whence.engine.kernels.kernel import Born, Kernel, Place, State
from whence.engine.kernels.trails.composing import Chosen, reaching, union
from whence.engine.kernels.trails.entries import WHOLE
from whence.engine.kernels.trails.reasons import Reasons, all_of, joined_reasons
from whence.engine.kernels.trails.trail import Line, Trail
from whence.engine.language.events import Position
from whence.engine.processors import Window

__all__ = [
    "GeneralWindow",
    "WindowKernel",
    "Windows",
    "every_window",
    "with_trails",
]

_MOST_ROWS = 2**20
"""So many rows go through P at once."""


class Windows(NamedTuple):
    """The windows that are complete now.

    Attributes:
        pipes: the events of each pipe, slot by slot, each slot in order.
        ends: the last row of every window, in order of output.
        moment: when each was complete.
        slot: the instance that each belongs to; ``None`` if there is only one.
        steady: windows begin at row 0, 1, 2, …
    """

    pipes: tuple[Batch, ...]
    ends: Ints
    moment: Numbers
    slot: Ints | None
    steady: bool

    def some(self, first: int, stop: int) -> Windows:
        """Some of them."""
        slot = None if self.slot is None else self.slot[first:stop]
        moment = self.moment[first:stop]
        return Windows(self.pipes, self.ends[first:stop], moment, slot, False)


def every_window(trail: Trail, windows: Windows, n: int) -> Trail:
    """Where all events of every window lead."""
    ends = windows.ends
    if windows.steady and isinstance(trail, Line) and trail.sa == trail.sb == 1:
        return Line(trail.target, trail.fields, len(ends), trail.a, trail.b + n - 1)
    return reaching(trail, ends - n + 1, ends)


class WindowKernel(Kernel):
    """Keeps the last events of every slot, which later windows begin with.

    Attributes:
        n: how wide windows are.
        said: how many windows were complete before this batch.
    """

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.n = cast(Window, place.processor).n
        self.said = 0
        self.tail: list[Batch] = []

    def reset(self) -> None:
        super().reset()
        self.said = 0
        self.tail = []

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Output what P says last of every window that is complete now."""
        if not len(front):
            return [self.run.empty(slotted=self.place.slotted)]
        slot = front.slot
        windows = self._in_line(front) if slot is None else self._by_slot(front, slot)
        found = self.of(windows)
        self.said += len(windows.ends)
        return [found]

    def of(self, windows: Windows) -> Batch:
        """The outputs of some windows."""
        raise NotImplementedError

    def empty(self) -> Batch:
        """No output."""
        return self.run.empty(slotted=self.place.slotted)

    def _in_line(self, front: Front) -> Windows:
        pipes = tuple(front.pipes)
        if self.tail:
            pairs = zip(self.tail, front.pipes, strict=True)
            pipes = tuple(
                with_trails(old, new, concat([old.values, new.values])) for old, new in pairs
            )
        count = len(pipes[0])
        rest = np.arange(max(count - self.n + 1, 0), count)
        self.tail = [batch.take(rest).settled() for batch in pipes] if len(rest) else []
        ends = rows_from(min(self.n - 1, count), count)
        return Windows(pipes, ends, front.moment[len(front) - len(ends) :], None, True)

    def _by_slot(self, front: Front, slot: Ints) -> Windows:
        tail = self.tail
        pipes = list(front.pipes)
        first = 0
        if tail:
            # Slots without an event in this batch stay as they are.
            owner = tail[0].slot
            assert owner is not None
            touched = np.zeros(max(int(owner.max()), int(slot.max())) + 1, np.bool_)
            touched[slot] = True
            here = touched[owner]
            begun = np.flatnonzero(here)
            first = len(begun)
            pairs = zip(tail, pipes, strict=True)
            pipes = [join_batches([old.take(begun), new]) for old, new in pairs]
            tail = [batch.take(np.flatnonzero(~here)) for batch in tail]
            slot = np.concatenate([owner[begun], slot])
        order = np.argsort(slot, kind="stable")
        pipes = [batch.take(order) for batch in pipes]
        slot = slot[order]
        place = ranks(slot)
        sizes = np.bincount(slot)
        last = np.flatnonzero(sizes[slot] - place < self.n)
        kept = [batch.take(last).settled() for batch in pipes]
        if tail and len(tail[0]):
            pairs = zip(tail, kept, strict=True)
            kept = [join_batches([old, new]).settled() for old, new in pairs]
        self.tail = kept if len(kept[0]) else []
        ends = np.flatnonzero((place >= self.n - 1) & (order >= first))
        ends = ends[np.argsort(order[ends])]
        return Windows(tuple(pipes), ends, front.moment[order[ends] - first], slot[ends], False)

    def save(self) -> State:
        return {"said": self.said, "tail": [batch.settled() for batch in self.tail]}

    def load(self, state: Mapping[str, Any]) -> None:
        self.said = state["said"]
        self.tail = list(state["tail"])


def with_trails(tail: Batch, batch: Batch, values: Column | None = None) -> Batch:
    """The last events before this batch and those of the batch; their moments do not count.

    Args:
        tail: the last events before this batch.
        batch: the batch.
        values: of both, if anybody asks for them.
    """
    rows = rows_from(0, len(tail) + len(batch))
    reasons = joined_reasons([tail.reasons, batch.reasons])
    return Batch(batch.values if values is None else values, rows, None, *reasons)


class GeneralWindow(WindowKernel):
    """P runs on every window, all windows of a batch at once."""

    def __init__(self, place: Place) -> None:
        from whence.engine.kernels.scope import KernelChain

        super().__init__(place)
        assert place.inner is not None
        self.regular = place.inner.outputs[0].regular
        self.windows: Windows | None = None
        self.first = 0
        self.chain = KernelChain(
            place.inner, self.run, slotted=True, window=True, outer=self._outer, top=self._top
        )

    def _outer(self, moment: int) -> Position:
        """The position of the window that an inner event belongs to."""
        number = self.first + moment // self.n
        if not self.place.slotted:
            return self.said + number
        assert self.windows is not None
        return self.place.inside(made(self.windows.moment), number)

    def _top(self, moments: Ints) -> Ints:
        assert self.windows is not None
        return self.place.top(self.windows.moment[self.first + moments // self.n])

    def of(self, windows: Windows) -> Batch:
        """Run P, some windows at a time."""
        self.windows = windows
        parts = list(self._runs(windows))
        self.windows = None
        return join_batches(parts) if parts else self.empty()

    def _runs(self, windows: Windows) -> Iterator[Batch]:
        most = max(1, _MOST_ROWS // self.n)
        for first in range(0, len(windows.ends), most):
            self.first = first
            yield self._run(windows.some(first, first + most))

    def _run(self, windows: Windows) -> Batch:
        n, ends = self.n, windows.ends
        count = len(ends)
        rows = (ends[:, None] + np.arange(1 - n, 1)).ravel()
        slot = np.repeat(np.arange(count), n)
        moment = np.arange(count * n)
        inside = []
        for batch in windows.pipes:
            taken = batch.take(rows)
            inside.append(replace(taken, moment=moment, slot=slot))
        born = Born(np.arange(count), np.arange(0, count * n, n), count)
        (out,) = self.chain.feed(inside, born)
        last = np.full(count, -1)
        if len(out):
            assert out.slot is not None
            last[out.slot] = np.arange(len(out))  # of several outputs the last one stays
        values = out.values.take(last)
        if not self.tracked:
            return Batch(values, windows.moment, windows.slot, *Reasons.nothing(count))
        exists = union(*(None if b.exists is None else b.exists.take(ends) for b in windows.pipes))
        reasons = self._explained(windows, out, last).existing(exists)
        return Batch(values, windows.moment, windows.slot, *reasons)

    def _explained(self, windows: Windows, out: Batch, last: Ints) -> Reasons:
        silent = last < 0
        count = len(last)
        some = bool(silent.any())
        found = Reasons(out.why, out.sup).take(last)
        if not some and self.regular:
            return found
        # As wholes, whatever fields are asked of the output: P read others to choose its last one.
        whole = all_of(
            *(batch.reasons for batch in windows.pipes),
            each=lambda trail: every_window(trail.ask(WHOLE), windows, self.n),
        )
        why, sup = found.why, whole.sup
        if some:
            why = Chosen(count, [(~silent, why), (silent, whole.why)])
            if self.regular:
                sup = Chosen(count, [(~silent, found.sup), (silent, whole.sup)])
        return Reasons(why, sup)

"""A chain of kernels: every batch goes through all of them once, for all instances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from whence.engine.events import Position
from whence.engine.interpreter.plan import Pipe, Plan, Step
from whence.engine.kernels.adapter import Interpreted
from whence.engine.kernels.batch import Batch, join_batches
from whence.engine.kernels.columns import Ints
from whence.engine.kernels.entries import NONE, Entries, join_entries
from whence.engine.kernels.fronts import Fronts
from whence.engine.kernels.kernel import Born, Kept, Kernel, Place, Run, State
from whence.engine.kernels.registry import kernel_for

__all__ = ["KernelChain"]


class _At:
    """A kernel in its place: what it reads, and where its outputs are kept."""

    def __init__(self, step: Step, kernel: Kernel, kept: list[Kept | None]) -> None:
        self.step = step
        self.kernel = kernel
        self.kept = kept
        self.fronts = Fronts(len(step.sources))
        self.last_reads: list[Pipe] = []


class KernelChain:
    """The kernels of a plan.

    Args:
        plan: what to run; machines are started from it where there is no kernel.
        run: what all kernels share.
        slotted: whether there may be several instances.
        window: whether it is inside a Window.
        outer: from a moment to the position outside.
        top: from moments to the positions in the whole stream.
        outputs: the names of what leaves it, if it is the whole chain.
    """

    def __init__(
        self,
        plan: Plan,
        run: Run,
        *,
        slotted: bool = False,
        window: bool = False,
        outer: Callable[[int], Position] = int,
        top: Callable[[Ints], Ints] = lambda moments: moments,
        outputs: Sequence[str] = (),
    ) -> None:
        """Choose a kernel for every processor; the interpreter's machine where there is none."""
        self.plan = plan
        self.run = run
        self.slotted = slotted
        self.window = window
        self.top = top
        self.steps: list[_At] = []
        inner: Iterator[Plan] = iter(plan.inner)
        names = dict(zip(plan.exits, outputs, strict=True)) if outputs else {}
        for number, step in enumerate(plan.steps):
            kept = [self._kept(number, pipe, step, names) for pipe in range(len(step.streams))]
            place = Place(
                step.name,
                step.processor,
                tuple(plan.traits_of(source) for source in step.sources),
                step.traits,
                run,
                slotted,
                window,
                outer,
                top,
                next(inner) if step.processor.tag in ("window", "slice") else None,
                step.factory,
                tuple(kept),
                plan.scope is not None and plan.scope.window,
            )
            kernel = kernel_for(place) or Interpreted(place)
            self.steps.append(_At(step, kernel, kept))
        read: set[Pipe] = set(plan.exits)
        for at in reversed(self.steps):
            at.last_reads = [
                source for source in dict.fromkeys(at.step.sources) if source not in read
            ]
            read.update(at.last_reads)

    def _kept(self, number: int, pipe: int, step: Step, names: dict[Pipe, str]) -> Kept | None:
        run = self.run
        several = len(step.streams) > 1
        name = f"{step.name}.{pipe}" if several else step.name
        if (number, pipe) in names:
            return run.keep(names[number, pipe], step.name, pipe, "output", 1)
        if not run.tracked or self.window:
            return None
        if self.slotted and (run.steps or (number, pipe) in self.plan.exits):
            return run.keep(name, step.name, pipe, "inner", 2**16)
        if not self.slotted and run.steps:
            return run.keep(name, step.name, pipe, "step", 1)
        return None

    def feed(self, inputs: Sequence[Batch], born: Born) -> list[Batch]:
        """Carry a batch of every input through the chain; return what leaves it."""
        if self.window:
            self.reset()
        return self._through(inputs, lambda at, arrived: self._fed(at, arrived, born))

    def reset(self) -> None:
        """Forget all instances."""
        for at in self.steps:
            at.fronts = Fronts(len(at.step.sources))
            at.kernel.reset()

    def close(self, slots: Ints, moments: Ints) -> list[Batch]:
        """Close all instances, each processor emptied before the next; return what leaves."""
        inputs = [self.run.empty(slotted=self.slotted) for _ in range(self.plan.input_count)]
        none = np.empty(0, np.int64)
        born = Born(none, none, len(slots))

        def closed(at: _At, arrived: list[Batch]) -> list[Batch]:
            through = self._fed(at, arrived, born)
            last = at.kernel.close(slots, moments)
            if last is None:
                return through
            return [_in_order([t, c]) for t, c in zip(through, last, strict=True)]

        return self._through(inputs, closed)

    def _through(
        self, inputs: Sequence[Batch], work: Callable[[_At, list[Batch]], list[Batch]]
    ) -> list[Batch]:
        known: dict[Pipe, Batch] = {(-1 - n, 0): batch for n, batch in enumerate(inputs)}
        for number, at in enumerate(self.steps):
            outputs = work(at, [known[source] for source in at.step.sources])
            for pipe, batch in enumerate(outputs):
                known[number, pipe] = self._recorded(at.kept[pipe], batch)
            for done in at.last_reads:
                del known[done]  # its memory serves the next processor, and is in the cache still
        return [known[pipe] for pipe in self.plan.exits]

    def _fed(self, at: _At, arrived: list[Batch], born: Born) -> list[Batch]:
        front = at.fronts.feed(arrived)
        if not len(front) and not len(born.slots):
            return [self.run.empty(slotted=self.slotted) for _ in at.step.streams]
        outputs = at.kernel.feed(front, born)
        at.kernel.fed += len(front)
        return outputs

    def _recorded(self, kept: Kept | None, batch: Batch) -> Batch:
        if kept is None or not len(batch):
            return batch
        trail = kept.add(self.top(batch.moment), batch.values, batch.why, batch.sup)
        if not self.run.tracked:
            return batch
        return Batch(batch.values, batch.moment, batch.slot, trail, trail, batch.exists)

    def save(self) -> State:
        """The states of all kernels, and what waits between them."""
        steps = [
            {
                "fed": at.kernel.fed,
                "waiting": [list(parts) for parts in at.fronts.parts],
                "kernel": at.kernel.save(),
            }
            for at in self.steps
        ]
        return {"steps": steps}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""
        for at, told in zip(self.steps, state["steps"], strict=True):
            at.kernel.load(told["kernel"])
            at.kernel.fed = told["fed"]
            at.fronts.parts = [list(parts) for parts in told["waiting"]]

    def end(self, output: int) -> Entries:
        """What the end of an output pipe leans on: of several inputs, one that ran out."""
        ends: list[Entries] = []
        for at in self.steps:
            ran_out = [
                NONE if source[0] < 0 else ends[source[0]]
                for source, waiting in zip(at.step.sources, at.fronts.waiting, strict=True)
                if waiting is None
            ]
            # An end that leans on nothing is the best to lean on.
            below = min(ran_out, key=lambda end: len(end.row) > 0, default=NONE)
            ends.append(join_entries([at.kernel.open(), below]))
        number = self.plan.exits[output][0]
        return ends[number] if number >= 0 else NONE

    def pending(self) -> dict[str, int]:
        """How many verdicts are not known yet, by processor."""
        counts = {at.step.name: at.kernel.pending() for at in self.steps}
        return {name: count for name, count in counts.items() if count}


def _in_order(batches: Sequence[Batch]) -> Batch:
    """Several batches as one, by moment; at the same moment the first batch comes first."""
    batch = join_batches(batches)
    if len(batch) and (np.diff(batch.moment) < 0).any():
        return batch.take(np.argsort(batch.moment, kind="stable"))
    return batch

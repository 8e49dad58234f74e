"""A chain of kernels: every batch goes through all of them once, for all instances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from whence.engine.interpreter.pending import Pending, summed
from whence.engine.interpreter.plan import Pipe, Plan, Step
from whence.engine.kernels.adapter import Interpreted
from whence.engine.kernels.batch import Batch, join_batches
from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.columns.lazy_ints import Numbers, made
from whence.engine.kernels.fronts import Fronts
from whence.engine.kernels.fusing import Fused
from whence.engine.kernels.groups import Group, groups_of
from whence.engine.kernels.kernel import Born, Kept, Kernel, Place, Run, State
from whence.engine.kernels.pointwise import Pointwise, lines_of
from whence.engine.kernels.processors.apply_function import Apply
from whence.engine.kernels.registry import kernel_for
from whence.engine.kernels.segments import Segment
from whence.engine.kernels.trails.entries import NONE, Entries, join_entries
from whence.engine.language.events import Position
from whence.engine.language.stream_roles import StreamRole
from whence.engine.lineage.association import INNER_WIDTH

__all__ = ["KernelChain"]


class _At:
    """A kernel in its place: what it reads, and where its outputs are kept."""

    def __init__(self, step: Step, kernel: Kernel, kept: list[Kept | None]) -> None:
        self.step = step
        self.kernel = kernel
        self.kept = kept
        self.fronts = Fronts(len(step.sources))
        self.last_reads: list[Pipe] = []


_Work = Callable[[_At, list[Batch]], list[Batch]]


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
        self.outer = outer
        inner: Iterator[Plan] = iter(plan.inner)
        names = dict(zip(plan.exits, outputs, strict=True)) if outputs else {}
        for number, step in enumerate(plan.steps):
            kept = [self._kept(number, pipe, step, names) for pipe in range(len(step.streams))]
            below = next(inner) if step.processor.holds else None
            self.steps.append(self._placed(step, kept, below))
        self.segments: dict[int, Segment] = {}
        for segment in self._chosen():
            if not any(number in self.segments for number in segment.steps):
                self.segments.update(dict.fromkeys(segment.steps, segment))
        self._count_reads()

    def _chosen(self) -> Iterator[Segment]:
        """What can run as one, the best first."""
        if not (self.slotted or self.window or self.run.steps):
            for group in groups_of(self.plan):
                yield Fused(group, self.run, partial(_Alone, self, group))
        kept = [any(pipe is not None for pipe in at.kept) for at in self.steps]
        for line in lines_of(self.plan, kept):
            kernels = [self.steps[number].kernel for number in line]
            source = self.plan.steps[line[0]].sources[0]
            yield Pointwise(line, source, [k for k in kernels if isinstance(k, Apply)])

    def _count_reads(self) -> None:
        """Find out after which step nobody reads a pipe any more; a segment reads with its last."""
        read: set[Pipe] = set(self.plan.exits)
        for number, at in reversed(list(enumerate(self.steps))):
            segment = self.segments.get(number)
            sources = at.step.sources
            if segment is not None:
                sources = segment.sources if number == segment.steps[-1] else ()
            at.last_reads = [source for source in dict.fromkeys(sources) if source not in read]
            read.update(at.last_reads)

    def placed_anew(self, number: int) -> _At:
        """A processor that holds no others, in its place, before its first event."""
        return self._placed(self.plan.steps[number], self.steps[number].kept, None)

    def _placed(self, step: Step, kept: list[Kept | None], below: Plan | None) -> _At:
        plan = self.plan
        place = Place(
            step.name,
            step.processor,
            tuple(plan.traits_of(source) for source in step.sources),
            step.traits,
            self.run,
            self.slotted,
            self.window,
            self.outer,
            self.top,
            below,
            step.factory,
            tuple(kept),
            plan.scope is not None and plan.scope.window,
        )
        return _At(step, kernel_for(place) or Interpreted(place), kept)

    def _kept(self, number: int, pipe: int, step: Step, names: dict[Pipe, str]) -> Kept | None:
        run = self.run
        several = len(step.streams) > 1
        name = f"{step.name}.{pipe}" if several else step.name
        if (number, pipe) in names:
            return run.keep(names[number, pipe], step.name, pipe, StreamRole.OUTPUT, 1)
        if not run.tracked or self.window:
            return None
        if self.slotted and (run.steps or (number, pipe) in self.plan.exits):
            return run.keep(name, step.name, pipe, StreamRole.INNER, INNER_WIDTH)
        if not self.slotted and run.steps:
            return run.keep(name, step.name, pipe, StreamRole.STEP, 1)
        return None

    def feed(self, inputs: Sequence[Batch], born: Born) -> list[Batch]:
        """Carry a batch of every input through the chain; return what leaves it."""
        if self.window:
            self.reset()
        return self._through(inputs, lambda at, arrived: self.fed(at, arrived, born))

    def reset(self) -> None:
        for at in self.steps:
            at.fronts = Fronts(len(at.step.sources))
            at.kernel.reset()

    def close(self, slots: Ints, moments: Ints) -> list[Batch]:
        """Close all instances, each processor emptied before the next; return what leaves."""
        for fused in self._groups():
            self._take_apart(fused)
        inputs = [self.run.empty(slotted=self.slotted) for _ in range(self.plan.input_count)]
        none = np.empty(0, np.int64)
        born = Born(none, none, len(slots))

        def closed(at: _At, arrived: list[Batch]) -> list[Batch]:
            through = self.fed(at, arrived, born)
            last = at.kernel.close(slots, moments)
            if last is None:
                return through
            return [_in_order([t, c]) for t, c in zip(through, last, strict=True)]

        return self._through(inputs, closed)

    def _through(self, inputs: Sequence[Batch], work: _Work) -> list[Batch]:
        known: dict[Pipe, Batch] = {(-1 - n, 0): batch for n, batch in enumerate(inputs)}
        for number in range(len(self.steps)):
            segment = self.segments.get(number)
            if segment is None:
                self._step(number, known, work)
            elif number == segment.steps[-1] and not self._at_once(segment, known):
                for member in segment.steps:
                    self._step(member, known, work)
        return [known[pipe] for pipe in self.plan.exits]

    def _step(self, number: int, known: dict[Pipe, Batch], work: _Work) -> None:
        at = self.steps[number]
        outputs = work(at, [known[source] for source in at.step.sources])
        self._take_in(number, outputs, known)

    def _take_in(self, number: int, outputs: Sequence[Batch], known: dict[Pipe, Batch]) -> None:
        at = self.steps[number]
        for pipe, batch in enumerate(outputs):
            known[number, pipe] = self._recorded(at.kept[pipe], batch)
        for done in at.last_reads:
            # Its memory serves the next processor, and is in the cache still.
            known.pop(done, None)

    def _at_once(self, segment: Segment, known: dict[Pipe, Batch]) -> bool:
        """Let a segment say what its last processor says; not if its events need every one."""
        batch = segment.feed([known[source] for source in segment.sources])
        if batch is not None:
            self._take_in(segment.steps[-1], [batch], known)
        elif isinstance(segment, Fused):
            self._take_apart(segment)
        return batch is not None

    def _take_apart(self, fused: Fused[_Alone]) -> None:
        """From now on every processor of a group runs on its own."""
        self.steps = self._apart([fused])
        self._drop(fused)

    def _drop(self, segment: Segment) -> None:
        for number in segment.steps:
            del self.segments[number]
        self._count_reads()

    def _apart(self, groups: Iterable[Fused[_Alone]]) -> list[_At]:
        """All steps, those of some groups as they would stand on their own."""
        steps = list(self.steps)
        for fused in groups:
            alone, unseen = fused.plain()
            for number, at in alone.steps.items():
                at.kernel.fed += unseen
                steps[number] = at
        return steps

    def fed(self, at: _At, arrived: list[Batch], born: Born) -> list[Batch]:
        """Let a kernel take what arrived."""
        front = at.fronts.feed(arrived)
        if not len(front) and not len(born.slots):
            return [self.run.empty(slotted=self.slotted) for _ in at.step.streams]
        outputs = at.kernel.feed(front, born)
        at.kernel.fed += len(front)
        return outputs

    def _recorded(self, kept: Kept | None, batch: Batch) -> Batch:
        if kept is None or not len(batch):
            return batch
        trail = kept.add(self._topped(batch), batch.values, batch.why, batch.sup)
        if not self.run.tracked:
            return batch
        return Batch(batch.values, batch.moment, batch.slot, trail, trail, batch.exists)

    def _topped(self, batch: Batch) -> Numbers:
        """Numbers the events appeared in the whole stream; at the top as it was told."""
        return self.top(made(batch.moment)) if self.slotted or self.window else batch.moment

    def _groups(self) -> list[Fused[_Alone]]:
        return [s for s in dict.fromkeys(self.segments.values()) if isinstance(s, Fused)]

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
        return {"steps": steps, "fused": [fused.save() for fused in self._groups()]}

    def load(self, state: Mapping[str, Any]) -> None:
        for at, told in zip(self.steps, state["steps"], strict=True):
            at.kernel.load(told["kernel"])
            at.kernel.fed = told["fed"]
            at.fronts.parts = [list(parts) for parts in told["waiting"]]
        told_of = {told["root"]: told for told in state["fused"]}
        for fused in self._groups():
            told = told_of.get(fused.steps[-1])
            if told is None:
                self._drop(fused)
            else:
                fused.load(told)

    def end(self, output: int) -> Entries:
        """What the end of an output pipe leans on: of several inputs, one that ran out."""
        ends: list[Entries] = []
        for at in self._apart(self._groups()):
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

    def pending(self) -> Pending:
        """How many verdicts are not known yet, by processor."""
        return summed([{at.step.name: at.kernel.pending() for at in self._apart(self._groups())}])

    def waiting_in(self, count: int) -> Ints:
        """How many verdicts wait in each of the first ``count`` slots."""
        found = np.zeros(count, np.int64)
        for at in self._apart(self._groups()):
            waiting = at.kernel.waiting_in(count)
            if waiting is not None:
                found += waiting
        return found


class _Alone:
    """The kernels of a group, each on its own.

    Args:
        chain: where they stand.
        group: which.
    """

    def __init__(self, chain: KernelChain, group: Group) -> None:
        self.chain = chain
        self.group = group
        self.steps = {number: chain.placed_anew(number) for number in group.steps}

    def feed(self, inputs: Sequence[Batch]) -> Batch:
        """Carry a batch of every input through; return what leaves the last of them."""
        none = np.empty(0, np.int64)
        born = Born(none, none, 1)
        known = dict(zip(self.group.inputs, inputs, strict=True))
        for number, at in self.steps.items():
            arrived = [known[source] for source in at.step.sources]
            (known[number, 0],) = self.chain.fed(at, arrived, born)
        return known[self.group.steps[-1], 0]


def _in_order(batches: Sequence[Batch]) -> Batch:
    """Several batches as one, by moment; at the same moment the first batch comes first."""
    batch = join_batches(batches)
    if len(batch) and (np.diff(made(batch.moment)) < 0).any():
        return batch.take(np.argsort(made(batch.moment), kind="stable"))
    return batch

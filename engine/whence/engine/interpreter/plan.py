"""Plan a chain: open its Groups, order its processors, prepare their machines once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from whence.engine.interpreter.instance import GraphInstance, LineInstance
from whence.engine.language.chain import Chain, Source, traits_of
from whence.engine.language.events import Shelf, Stream, Term
from whence.engine.language.processor import MachineFactory, Processor, Scope, Site
from whence.engine.language.traits import Traits

__all__ = ["Options", "Plan", "Step"]


@dataclass(frozen=True)
class Options:
    """How a run is done.

    Attributes:
        tracked: keep what explains each output.
        all_witnesses: keep alternatives.
        closed: the logs will be closed at the end.
        everything: all inputs of the run so far, as a term.
    """

    tracked: bool = False
    all_witnesses: bool = False
    closed: bool = False
    everything: Callable[[], Term] = lambda: None


Pipe = tuple[int, int]
"""A step (or -1 - input) and its output pipe."""


@dataclass(frozen=True, slots=True)
class Step:
    """A processor in its place.

    Attributes:
        name: its full id.
        processor: its declaration.
        sources: what it reads.
        streams: its output pipes.
        shelves: where their events are kept, if they are.
        traits: what is known of them.
        factory: starts its machine.
    """

    name: str
    processor: Processor
    sources: tuple[Pipe, ...]
    streams: tuple[Stream, ...]
    shelves: tuple[Shelf | None, ...]
    traits: tuple[Traits, ...]
    factory: MachineFactory


def _planned(chain: Chain, inner: tuple[Traits, ...], scope: Scope, closed: bool) -> Plan:
    msg = "a machine asks for a plan after it was made"
    raise AssertionError(msg)


class Plan:
    """A chain ready to start, any number of times.

    Attributes:
        steps: the processors in order, Groups opened.
        inner: the plans inside its Windows and Slices.
        exits: the pipes that leave the chain.
        outputs: what is known of them.
    """

    def __init__(
        self,
        chain: Chain,
        inputs: tuple[Traits, ...],
        options: Options,
        scope: Scope | None = None,
        prefix: str = "",
        keep: bool = True,
    ) -> None:
        """Compile.

        Args:
            chain: what to run.
            inputs: what is known of its input pipes.
            options: how to run it.
            scope: where it runs, inside a Window or Slice.
            prefix: goes before the ids of its processors.
            keep: whether tracked events can be looked up by name afterwards.
        """
        self.options = options
        self.scope = scope
        self.keep = keep
        self.input_count = len(inputs)
        self.steps: list[Step] = []
        self.inner: list[Plan] = []
        self._traits: dict[Pipe, Traits] = {(-1 - i, 0): t for i, t in enumerate(inputs)}
        ends = self._open(chain, [(-1 - i, 0) for i in range(len(inputs))], prefix)
        self.exits: tuple[Pipe, ...] = tuple(ends)
        self.outputs: tuple[Traits, ...] = tuple(self._traits[pipe] for pipe in ends)
        self._line = self._is_line()

    def _open(self, chain: Chain, inputs: list[Pipe], prefix: str) -> list[Pipe]:
        known: dict[Source, Pipe] = {
            Source(name, 0): pipe for name, pipe in zip(chain.inputs, inputs, strict=True)
        }
        for connection in chain.ordered:
            processor = connection.processor
            reads = [known[chain.source(name, processor.id)] for name in connection.sources]
            name = prefix + processor.id
            if processor.inlined:
                ends = self._open(processor.holds[0], reads, f"{name}/")
            else:
                ends = self._place(processor, name, reads)
            for pipe, end in enumerate(ends):
                known[Source(processor.id, pipe)] = end
        return [known[chain.source(name, "output")] for name in chain.outputs]

    def _place(self, processor: Processor, name: str, reads: list[Pipe]) -> list[Pipe]:
        options, scope = self.options, self.scope
        inputs = tuple(self._traits[pipe] for pipe in reads)
        outputs = traits_of(processor, inputs, options.closed)
        several = len(outputs) > 1
        kept = options.tracked and self.keep
        streams = tuple(
            Stream(name, pipe, copies=processor.copies, several=several)
            for pipe in range(len(outputs))
        )
        shelves = tuple(Shelf(stream) if kept else None for stream in streams)

        def plan(chain: Chain, inner: tuple[Traits, ...], inner_scope: Scope, closed: bool) -> Plan:
            inside = Options(options.tracked, options.all_witnesses, closed, options.everything)
            # What happens inside a Window is computed again when someone asks, never kept.
            keep = self.keep and not processor.recomputed
            made = Plan(chain, inner, inside, inner_scope, f"{name}/", keep)
            self.inner.append(made)
            return made

        site = Site(
            name,
            inputs,
            outputs,
            streams,
            shelves,
            options.tracked,
            options.all_witnesses,
            options.closed,
            scope,
            plan,
            options.everything,
        )
        number = len(self.steps)
        factory = processor.machine(site)
        # Planning is over: without the way back, a run that nobody holds is gone at once.
        site.plan = _planned
        self.steps.append(Step(name, processor, tuple(reads), streams, shelves, outputs, factory))
        ends = [(number, pipe) for pipe in range(len(outputs))]
        for end, t in zip(ends, outputs, strict=True):
            self._traits[end] = t
        return ends

    def _is_line(self) -> bool:
        if self.input_count != 1 or not self.steps:
            return False
        before: Pipe = (-1, 0)
        for number, step in enumerate(self.steps):
            if step.sources != (before,) or len(step.streams) != 1:
                return False
            before = (number, 0)
        return self.exits == (before,)

    def traits_of(self, pipe: Pipe) -> Traits:
        """What is known of a pipe."""
        return self._traits[pipe]

    def all_shelves(self) -> Iterator[Shelf]:
        """Where events are kept, those inside Slices included, at any depth."""
        for step in self.steps:
            yield from (shelf for shelf in step.shelves if shelf is not None)
        for plan in self.inner:
            yield from plan.all_shelves()

    def start(self) -> LineInstance | GraphInstance:
        """Start afresh."""
        if self._line:
            return LineInstance([step.factory() for step in self.steps])
        return GraphInstance(self.steps, self.input_count, self.exits)

"""What a processor is: a frozen declaration, and the machine that runs it one event at a time.

A processor's file holds both: the declaration (a frozen dataclass with a readable ``id``) and,
beside it, the machine with the output rule and the explain rule. `Site` is what a machine knows of
its place in a chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.errors import ParameterError
from whence.engine.language.events import Event, Position, Shelf, Stream, Term
from whence.engine.language.instance import Planned
from whence.engine.language.traits import Traits
from whence.engine.values import Value

if TYPE_CHECKING:
    from whence.engine.analysis.items import Pipe
    from whence.engine.kernels.kernel import Kernel, Place
    from whence.engine.language.chain import Chain
    from whence.engine.language.expression import Expression
    from whence.engine.lineage.words import Told

__all__ = ["Machine", "MachineFactory", "Processor", "Scope", "Site"]


class Scope:
    """Where P runs inside a Window or Slice.

    Attributes:
        at: the outer position at which inner events appear.
        window: whether P is run afresh on every window.
    """

    __slots__ = ("at", "window")

    def __init__(self, *, window: bool = False) -> None:
        self.at: Position = -1
        self.window = window


@dataclass(slots=True)
class Site:
    """What a machine knows of its place in a chain.

    Attributes:
        name: the processor's full id, ``group/inner`` inside a Group.
        inputs: what is known of the input pipes.
        outputs: what is known of the output pipes.
        streams: the output pipes.
        shelves: where their events are stored, if they are.
        tracked: whether events carry terms.
        all_witnesses: whether alternatives are stored.
        closed: whether the logs will be closed at the end.
        scope: set inside a Window or Slice.
        plan: compiles a chain that a processor holds (Window, Slice) for a place inside it:
            chain, pipes it reads, scope, whether it will be closed.
        everything: all inputs of the run so far, as a term.
    """

    name: str
    inputs: tuple[Traits, ...]
    outputs: tuple[Traits, ...]
    streams: tuple[Stream, ...]
    shelves: tuple[Shelf | None, ...]
    tracked: bool
    all_witnesses: bool
    closed: bool
    scope: Scope | None
    plan: Callable[[Chain, tuple[Traits, ...], Scope, bool], Planned] = field(repr=False)
    everything: Callable[[], Term] = field(repr=False)


class Machine:
    """A processor at work. ``feed`` takes a front and returns the events that it gave."""

    __slots__ = ("count", "fed", "scope", "shelf", "site", "stream", "tracked")

    def __init__(self, site: Site) -> None:
        self.site = site
        self.tracked = site.tracked
        self.scope = site.scope
        self.stream = site.streams[0]
        self.shelf = site.shelves[0]
        self.fed = 0
        self.count = 0

    def begin(self) -> list[Event]:
        """Return what is output before any input."""
        return []

    def feed(self, *front: Event) -> list[Event]:
        """Take one front; return the outputs, in order."""
        msg = f"{type(self).__name__} has no output rule"
        raise NotImplementedError(msg)

    def feed_last(self, events: Iterable[Event]) -> Event | None:
        """Take these events and return the last output, if there was any; for one input pipe."""
        last: Event | None = None
        for event in events:
            self.fed += 1
            outputs = self.feed(event)
            if outputs:
                last = outputs[-1]
        return last

    def skip(self, outputs: int) -> None:
        """Count outputs that are dropped, so that the next one has its own position."""
        self.count += outputs
        if self.scope is not None and outputs:
            self.stream.at = self.scope.at
            self.stream.run = outputs - 1

    def close(self) -> list[Event]:
        """The log is finished: return the remaining outputs."""
        return []

    def open(self) -> Term:
        """What this processor's own end leans on: inputs that could make it say more."""
        return None

    def waits(self) -> int:
        """How many verdicts it keeps waiting: a machine that does has them in ``waiting``."""
        return len(getattr(self, "waiting", ()))

    def next_position(self) -> Position:
        """The position that the next output will have."""
        if self.scope is None:
            return self.count
        stream, at = self.stream, self.scope.at
        return (at, stream.run + 1) if stream.at == at else (at, 0)

    def emit(
        self, value: Value, why: Term = None, support: Term = None, exists: Term = None
    ) -> Event:
        """Make the next output event of pipe 0."""
        count = self.count
        self.count = count + 1
        if not self.tracked:
            return Event(value)
        stream = self.stream
        if self.scope is None:
            event = Event(value, why, support, exists, stream, count)
            if self.shelf is not None:
                self.shelf.events.append(event)
            return event
        at = self.scope.at
        if stream.at != at:
            stream.at = at
            stream.run = 0
        else:
            stream.run += 1
        position = (at, stream.run)
        event = Event(value, why, support, exists, stream, position)
        if self.shelf is not None:
            self.shelf.inner[position] = event
            self.shelf.events.append(event)
        return event


MachineFactory = Callable[[], Machine]


@dataclass(frozen=True)
class Processor:
    """A declaration: what it is, with an id that a person can read.

    Subclasses are frozen dataclasses. They set ``tag`` (the key in chain files) and implement
    `machine`, and where they differ from the defaults `traits`, `parameters` and `from_parameters`.
    """

    id: str

    tag: ClassVar[str]
    copies: ClassVar[bool] = False
    """Whether outputs are copies of inputs, so that their fields are those of the originals."""
    closes: ClassVar[bool] = False
    """Whether closing the log may give outputs."""
    inlined: ClassVar[bool] = False
    """Whether the chain it holds runs as a part of the chain around it."""
    recomputed: ClassVar[bool] = False
    """Whether what happens inside it is computed again on request, and not stored."""
    selects: ClassVar[bool] = False
    """Whether values decide which inputs matter."""
    local: ClassVar[bool] = False
    """Whether output k depends on fronts k to k + `delay` alone: Spark may then cut the log."""

    def __post_init__(self) -> None:
        """Check the id; subclasses check their parameters and call this."""
        if not isinstance(self.id, str) or not self.id.strip() or set(self.id) & set("/@."):
            msg = (
                f"{type(self).__name__}: expected an id without '/', '@' or '.'; got {self.id!r}; "
                "try a short name such as 'total'"
            )
            raise ParameterError(msg)

    def __or__(self, other: Processor | Chain) -> Chain:
        """Let another processor read this one."""
        from whence.engine.language.chain import Chain

        return Chain.of(self) | other

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """In a notebook: the drawing, as of a chain of one."""
        from whence.engine.language.chain import Chain

        return {**Chain.of(self)._repr_mimebundle_(), "text/plain": repr(self)}

    def require(self, holds: bool, expected: str, got: object, hint: str) -> None:
        """Refuse a parameter in the usual three parts."""
        if not holds:
            msg = f"{type(self).__name__} {self.id!r}: expected {expected}; got {got!r}; try {hint}"
            raise ParameterError(msg)

    def require_count(self, n: object, least: int, hint: str) -> None:
        """Refuse what is no number of events; larger ones than 64 bits fit into no column."""
        if type(n) is int and n >= 1 << 63:
            got = f"one of {n.bit_length()} bits"
            msg = f"{type(self).__name__} {self.id!r}: expected n below 2^63; got {got}; try {hint}"
            raise ParameterError(msg)
        self.require(type(n) is int and n >= least, f"n >= {least}", n, hint)

    @property
    def input_count(self) -> int | None:
        """How many pipes it reads; ``None`` if it reads however many are connected."""
        return 1

    @property
    def fewest_inputs(self) -> int:
        """How many pipes it reads at least."""
        return 1 if self.input_count is None else self.input_count

    @property
    def output_count(self) -> int:
        """How many pipes it has."""
        return 1

    @property
    def holds(self) -> tuple[Chain, ...]:
        """The chains inside it."""
        return ()

    @property
    def expressions(self) -> tuple[Expression, ...] | None:
        """Through what it reads its inputs; ``None`` if it reads whole events."""
        return None

    @property
    def delay(self) -> float:
        """How many fronts behind its own an output waits for, at most."""
        return 0

    def horizon(self, offset: int, period: int) -> tuple[int, int]:
        """From which position on, and how often, the pattern of the outputs repeats.

        Args:
            offset: where it begins to repeat without this processor.
            period: how many inputs it takes without this processor.
        """
        return offset, period

    def dependencies(self, pipes: Sequence[Pipe]) -> list[Pipe] | None:
        """Which inputs each output of each pipe can depend on, at most; ``None``: any of them.

        Args:
            pipes: what each event of each input pipe depends on.
        """
        return None

    def kernel(self, place: Place) -> Kernel | None:
        """What runs it on batches in a place; ``None``: its machine, event by event."""
        return None

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """What is known of its output; by default what is known of the first input.

        Raises:
            ValueFault: the input's kind can never fit.
        """
        return inputs[0].but(regular=all(t.regular for t in inputs))

    def pipe_traits(self, inputs: tuple[Traits, ...], closed: bool) -> tuple[Traits, ...]:
        """What is known of every output pipe; by default the same of each."""
        return (self.traits(inputs, closed),) * self.output_count

    def because(self, told: Told) -> str:
        """In words, why an output has its value: the text after "because".

        Args:
            told: the output and what explains it.
        """
        return f"it follows from {told}"

    def machine(self, site: Site) -> MachineFactory:
        """Prepare for a place in a chain; the result starts fresh machines."""
        msg = f"{type(self).__name__} has no machine"
        raise NotImplementedError(msg)

    def parameters(self) -> Any:
        """The value behind the tag in a chain file."""
        return {}

    @classmethod
    def accepts(cls, value: Any) -> bool:
        """Whether the value behind the tag means this class, where several share a tag."""
        return True

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Mapping[str, Callable[..., Any]]) -> Any:
        """Make one from the value behind the tag.

        Args:
            id: its id.
            value: what `parameters` gave.
            read: readers for nested things: ``expression``, ``chain``, ``value``.
        """
        return cls(id)

"""What an export is made from: a run, its events and its relations, whatever they come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from whence.engine.language.stream_roles import StreamRole
from whence.engine.lineage.association import LOG_PREFIX
from whence.exporters.prov.statements import Attributes

__all__ = [
    "Adjusted",
    "Agent",
    "Answer",
    "Edge",
    "Erased",
    "Event",
    "Finding",
    "Log",
    "Processor",
    "Run",
    "Stream",
    "Witness",
]


@dataclass(frozen=True)
class Adjusted:
    """That a log was corrected by hand: who did it, why, when, and how many values."""

    who: str
    reason: str
    time: datetime
    count: int


@dataclass(frozen=True)
class Log:
    """An input log of a run.

    Attributes:
        name: what the chain calls it.
        id: its identity.
        count: how many events it has.
        digest: of its content.
        source: where it was read from.
        stream: the run, the processor and the pipe whose output it is, if it is one.
        revises: the identity of the log that it corrects, if it does.
        adjusted: who corrected it by hand, if that is known.
    """

    name: str
    id: str
    count: int | None = None
    digest: str | None = None
    source: str | None = None
    stream: tuple[str, str, str] | None = None
    revises: str | None = None
    adjusted: Adjusted | None = None

    @property
    def place(self) -> str:
        """The name under which relations refer to it."""
        return LOG_PREFIX + self.name


@dataclass(frozen=True)
class Stream:
    """A stream of a run: an output pipe of a processor.

    Attributes:
        place: the name under which relations refer to it.
        processor: the processor's full id.
        pipe: the number of the pipe.
        role: as in the record.
        count: how many events it has.
        tracked: how many of them have relations.
        width: how many positions there are for each one of the stream outside, inside a Slice.
    """

    place: str
    processor: str
    pipe: int
    role: StreamRole
    count: int | None = None
    tracked: int | None = None
    width: int = 1

    def __post_init__(self) -> None:
        """Take a role by its name as well: packs hold it so."""
        object.__setattr__(self, "role", StreamRole(self.role))

    @property
    def helper(self) -> str | None:
        """What a stream is called that kernels keep beside the processor's own events."""
        name = self.place.removeprefix(f"{self.processor}/")
        return name if self.role.is_inner and name != self.place else None

    @property
    def beside(self) -> str | None:
        """What distinguishes a stream from that of the pipe's own events."""
        return self.helper if self.role.has_pipe else self.role.value


@dataclass(frozen=True)
class Processor:
    """A processor of the chain: its id, its kind and its definition as JSON, if they are known."""

    id: str
    kind: str | None = None
    definition: str | None = None


@dataclass(frozen=True)
class Agent:
    """A person or an organization that answers for a run."""

    name: str
    kind: Literal["Person", "Organization"]


@dataclass(frozen=True)
class Erased:
    """Events of a run that were erased together.

    Attributes:
        id: the erasure's id.
        who: who erased them.
        reason: why.
        begun: when that began.
        done: when it was done; ``None`` while it is under way.
        ranges: their positions, by place.
    """

    id: str
    who: str
    reason: str
    begun: datetime
    done: datetime | None
    ranges: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Run:
    """What is known of a run as a whole.

    Attributes:
        id: the run's id.
        logs: what it read.
        streams: what it wrote.
        chain_digest: of the chain's definition; ``None`` for a run that is no chain.
        chain: the definition as JSON.
        processors: the chain's processors.
        engine: the version of Whence that ran it.
        started: when it began.
        ended: when it ended.
        facts: further statements about it.
        agents: who answers for it; each acts for the next.
        single_steps: whether a stream's associations are steps of its processor alone.
        erased: what was erased since.
    """

    id: str
    logs: tuple[Log, ...]
    streams: tuple[Stream, ...]
    chain_digest: str | None = None
    chain: str | None = None
    processors: tuple[Processor, ...] = ()
    engine: str | None = None
    started: datetime | None = None
    ended: datetime | None = None
    facts: Attributes = ()
    agents: tuple[Agent, ...] = ()
    single_steps: bool = False
    erased: tuple[Erased, ...] = ()


class Event(NamedTuple):
    """An event: where it is, and further statements about it."""

    place: str
    position: int
    attributes: Attributes = ()


class Edge(NamedTuple):
    """An output and an input that it rests on, each as a place and a position.

    Attributes:
        relation: how the output rests on it.
        fields: the fields that matter; ``None``: the whole event; empty: only that it is there.
        copy: the fields of the output are those of the input.
        witness: the alternatives that it is part of; ``None``: of all.
    """

    output: tuple[str, int]
    input: tuple[str, int]
    relation: Literal["explains", "trigger", "supports"] = "explains"
    fields: tuple[str, ...] | None = None
    copy: bool = False
    witness: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Finding:
    """A set of events that an answer names, as ranges of positions, by place."""

    name: str
    ranges: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Witness:
    """One of several sets of input events, each of which explains an output by itself.

    Attributes:
        number: 0 for the first one, which an explanation shows.
        output: the place and the position of the output.
        ranges: the input events, as ranges of positions, by place.
    """

    number: int
    output: tuple[str, int]
    ranges: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Answer:
    """The answer to a question about a run.

    Attributes:
        run: the run in question.
        question: in words; the same words, the same answer's name.
        events: every event that an edge touches, once; gone through more than once.
        edges: the relations that the answer shows, event by event; gone through likewise.
        findings: the sets that it names.
        witnesses: all alternatives, if there is more than one.
        facts: further statements about it.
    """

    run: Run
    question: str
    events: Iterable[Event] = ()
    edges: Iterable[Edge] = ()
    findings: tuple[Finding, ...] = field(default=())
    witnesses: tuple[Witness, ...] = field(default=())
    facts: Attributes = ()

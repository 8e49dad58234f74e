"""A chain: a directed acyclic graph of processors over one or more named logs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from whence.engine.errors import ChainError
from whence.engine.language.log import Log, base_kind
from whence.engine.language.processor import Processor
from whence.engine.language.registry import own_type
from whence.engine.language.traits import LOG, DeclaredColumns, Traits
from whence.engine.values import ValueFault
from whence.engine.values.shown import shown

__all__ = ["Chain", "Connection", "Log", "Source"]


class Source(NamedTuple):
    """An output pipe of a processor, or an input log (pipe 0)."""

    name: str
    pipe: int


@dataclass(frozen=True)
class Connection:
    """A processor and the pipes it reads, by name: ``log``, ``total``, ``fork.1``."""

    processor: Processor
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Chain:
    """Processors and how they are connected.

    Lines are composed with ``|``; other graphs by naming, for each processor, what it reads.

    >>> from whence.engine.processors import Cumulate, Trim
    >>> line = Trim("skip", n=1) | Cumulate("sum", "add")
    >>> line.outputs
    ('sum',)
    >>> both = Chain.graph(["p", "q"], [(Cumulate("sum", "add"), ["p"])])
    >>> both.inputs
    ('p', 'q')
    """

    inputs: tuple[str, ...]
    connections: tuple[Connection, ...]
    outputs: tuple[str, ...]
    logs: Mapping[str, Log] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, part: Processor | Chain) -> Chain:
        """A chain of one processor; a chain stays as it is."""
        if isinstance(part, Chain):
            return part
        if not isinstance(part, Processor):
            msg = f"a chain: expected a processor or a chain; got {part!r}; try Trim('skip', n=1)"
            raise ChainError(msg)
        count = part.fewest_inputs
        inputs = ("log",) if count == 1 else tuple(f"log{i}" for i in range(count))
        return cls.graph(inputs, [(part, inputs)])

    @classmethod
    def graph(
        cls,
        inputs: Sequence[str],
        connections: Iterable[tuple[Processor, Sequence[str]]],
        outputs: Sequence[str] | None = None,
        logs: Mapping[str, Log] | None = None,
    ) -> Chain:
        """Connect processors by name.

        Args:
            inputs: the names of the logs.
            connections: each processor with the names of what it reads.
            outputs: which pipes leave the chain; all that nothing reads, unless given.
            logs: what is declared of the logs.
        """
        made = tuple(Connection(p, tuple(s)) for p, s in connections)
        if outputs is None:
            read = {source for c in made for source in c.sources}
            pipes = [name for c in made for name in _pipe_names(c.processor)]
            outputs = [name for name in pipes if name not in read] if made else list(inputs)
        return cls(tuple(inputs), made, tuple(outputs), dict(logs or {}))

    def __post_init__(self) -> None:
        """Refuse what does not fit together."""
        self._pass_on_inputs()
        ids = Counter([*self.inputs, *(c.processor.id for c in self.connections)])
        for name, times in ids.items():
            if times > 1:
                msg = f"a chain: expected ids that differ; got {name!r} twice; try another id"
                raise ChainError(msg)
        for connection in self.connections:
            self._check(connection)
        self.ordered  # noqa: B018  refuses cycles
        for name in self.outputs:
            self.source(name, "the chain's output")
        if not self.outputs:
            raise ChainError("a chain: expected an output; got none; try `output: NAME`")
        for name in self.logs:
            if name not in self.inputs:
                raise ChainError(_unknown("a log", name, self.inputs))

    def _pass_on_inputs(self) -> None:
        """Put a Passthrough where an input is an output: what leaves a chain comes from somewhere.

        A chain may be nothing but its input.
        """
        ids = {*self.inputs, *(c.processor.id for c in self.connections)}
        names: dict[str, str] = {}
        for name in self.outputs:
            if name in self.inputs and name not in names:
                names[name] = same = _free_name(f"{name}-same", ids)
                ids.add(same)
        if names:
            copy = own_type("passthrough")
            added = tuple(Connection(copy(same), (name,)) for name, same in names.items())
            object.__setattr__(self, "connections", self.connections + added)
            object.__setattr__(self, "outputs", tuple(names.get(n, n) for n in self.outputs))

    def _check(self, connection: Connection) -> None:
        processor = connection.processor
        owner = f"{type(processor).__name__} {processor.id!r}"
        for name in connection.sources:
            self.source(name, owner)
        expected, got = processor.input_count, len(connection.sources)
        fewest = processor.fewest_inputs
        if got < fewest or (expected is not None and expected != got):
            wanted = f"{'at least ' if expected is None else ''}{fewest} input"
            pipes = "s" if fewest != 1 else ""
            free = sorted(set(self._names()) - {processor.id})
            msg = (
                f"{owner}: expected {wanted}{pipes}; got {got}"
                f"{' (a pipe is free)' if 0 < got < fewest else ''}; "
                f"try connecting to {', '.join(free)}"
            )
            raise ChainError(msg)

    @cached_property
    def by_id(self) -> dict[str, Connection]:
        """Connections by their processor's id."""
        return {c.processor.id: c for c in self.connections}

    def _names(self) -> list[str]:
        return [*self.inputs, *(n for c in self.connections for n in _pipe_names(c.processor))]

    def source(self, name: str, owner: str) -> Source:
        """Find the pipe that a name means: a log, ``id``, or ``id.pipe``."""
        if name in self.inputs:
            return Source(name, 0)
        head, dot, tail = name.rpartition(".")
        found, pipe = (head, int(tail)) if dot and tail.isdigit() else (name, 0)
        connection = self.by_id.get(found)
        if connection is None:
            raise ChainError(_unknown(owner, name, self._names()))
        count = connection.processor.output_count
        if pipe >= count:
            msg = (
                f"{owner}: expected one of {', '.join(_pipe_names(connection.processor))}; "
                f"got {name!r}; try a pipe below {count}"
            )
            raise ChainError(msg)
        if count > 1 and not dot:
            msg = (
                f"{owner}: expected a pipe of {found!r}, which has {count}; got {name!r}; "
                f"try {' or '.join(_pipe_names(connection.processor))}"
            )
            raise ChainError(msg)
        return Source(found, pipe)

    @cached_property
    def ordered(self) -> tuple[Connection, ...]:
        """The connections so that each comes after those it reads."""
        waiting = {
            c.processor.id: {
                s.name
                for s in (self.source(n, c.processor.id) for n in c.sources)
                if s.name not in self.inputs
            }
            for c in self.connections
        }
        sorter = TopologicalSorter(waiting)
        try:
            sorter.prepare()
        except CycleError as fault:
            msg = (
                f"a chain: expected no cycle; got {' -> '.join(fault.args[1])}; "
                "try Insert to use a previous value, or Cumulate"
            )
            raise ChainError(msg) from fault
        written = {name: number for number, name in enumerate(waiting)}
        order: list[Connection] = []
        while sorter.is_active():
            ready = sorted(sorter.get_ready(), key=written.__getitem__)
            order += [self.by_id[name] for name in ready]
            sorter.done(*ready)
        return tuple(order)

    def __or__(self, other: Processor | Chain) -> Chain:
        """Let a processor or chain read this chain's only output."""
        after = Chain.of(other)
        if len(self.outputs) != 1 or len(after.inputs) != 1:
            names = self.outputs if len(self.outputs) != 1 else after.inputs
            msg = f"`|`: expected one pipe to connect; got {', '.join(names)}; try Chain.graph"
            raise ChainError(msg)
        (out,), (into,) = self.outputs, after.inputs
        added = tuple(
            Connection(c.processor, tuple(out if s == into else s for s in c.sources))
            for c in after.connections
        )
        return replace(
            self, connections=self.connections + added, outputs=after.outputs, logs=self.logs
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """In a notebook: the drawing."""
        return shown(self)

    @property
    def closes(self) -> bool:
        """Whether closing the logs may give outputs."""
        return any(c.processor.closes for c in self.connections)

    def delays(self) -> dict[str, float]:
        """How many inputs behind its own each output waits for, at most."""
        found: dict[str, float] = dict.fromkeys(self.inputs, 0)
        for connection in self.ordered:
            own = connection.processor
            before = (found[self.source(name, own.id).name] for name in connection.sources)
            found[own.id] = max(before) + own.delay
        return {name: found[self.source(name, "output").name] for name in self.outputs}

    def input_traits(self) -> tuple[Traits, ...]:
        """What is known of the logs."""
        return tuple(
            LOG.but(time=log.time)
            if (columns := log.columns) is None
            else LOG.but(
                kind="record", columns={c: base_kind(k) for c, k in columns.items()}, time=log.time
            )
            for log in [self.logs.get(name, Log()) for name in self.inputs]
        )

    def declared_traits(self) -> tuple[Traits, ...]:
        """What is known of the logs as long as none is read: they may have further columns."""
        return tuple(
            LOG.but(
                kind="record",
                columns=DeclaredColumns({c: base_kind(k) for c, k in (log.columns or {}).items()}),
                time=log.time,
            )
            for log in [self.logs.get(name, Log()) for name in self.inputs]
        )

    def output_traits(self, inputs: tuple[Traits, ...], closed: bool) -> tuple[Traits, ...]:
        """What is known of the outputs, given what is known of the inputs.

        Raises:
            ChainError: kinds that can never fit, with the processor's id.
        """
        known = self.pipe_traits(inputs, closed)
        return tuple(known[self.source(name, "output")] for name in self.outputs)

    def pipe_traits(self, inputs: tuple[Traits, ...], closed: bool) -> dict[Source, Traits]:
        """What is known of every pipe."""
        known = {Source(name, 0): t for name, t in zip(self.inputs, inputs, strict=True)}
        for connection in self.ordered:
            processor = connection.processor
            reads = tuple(known[self.source(n, processor.id)] for n in connection.sources)
            for pipe, t in enumerate(traits_of(processor, reads, closed)):
                known[Source(processor.id, pipe)] = t
        return known

    def check(self) -> Chain:
        """Check kinds and fields as far as the logs' columns are declared; return the chain."""
        self.output_traits(self.input_traits(), False)
        return self

    def is_line(self) -> bool:
        """Whether each processor reads just the one before."""
        before = self.inputs[0]
        for connection in self.connections:
            if connection.sources != (before,) or connection.processor.output_count != 1:
                return False
            before = connection.processor.id
        return self.inputs == ("log",) and self.outputs == (before,)

    def tree(self) -> dict[str, Any]:
        """The chain as in a chain file: a processor, a ``line`` or a ``graph``."""
        if self.is_line():
            parts = [
                {"id": c.processor.id, c.processor.tag: c.processor.parameters()}
                for c in self.connections
            ]
            tree: dict[str, Any] = parts[0] if len(parts) == 1 else {"line": parts}
        else:
            nodes = {
                c.processor.id: {
                    "from": list(c.sources),
                    "is": {c.processor.tag: c.processor.parameters()},
                }
                for c in self.connections
            }
            tree = {"graph": {"inputs": list(self.inputs), "nodes": nodes}}
            if len(self.outputs) == 1:
                tree["graph"]["output"] = self.outputs[0]
            else:
                tree["graph"]["outputs"] = list(self.outputs)
        if self.logs:
            tree["logs"] = {name: log.tree() for name, log in self.logs.items()}
        return tree

    @property
    def digest(self) -> str:
        """SHA-256 of the definition in canonical form."""
        text = json.dumps(self.tree(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def processors(self, prefix: str = "") -> Iterable[tuple[str, Processor]]:
        """Every processor with its full id, those inside others included."""
        for connection in self.connections:
            processor = connection.processor
            yield prefix + processor.id, processor
            for inner in processor.holds:
                yield from inner.processors(f"{prefix}{processor.id}/")


def traits_of(processor: Processor, inputs: tuple[Traits, ...], closed: bool) -> tuple[Traits, ...]:
    """What is known of a processor's output pipes; a misfit is an error with its id."""
    try:
        return processor.pipe_traits(inputs, closed)
    except (ValueFault, ChainError) as fault:
        # From inside a Window, Slice or Group the path is shown, id by id.
        msg = f"{type(processor).__name__} {processor.id!r}: {fault}"
        raise ChainError(msg) from fault


def _free_name(name: str, taken: set[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


def _pipe_names(processor: Processor) -> list[str]:
    if processor.output_count == 1:
        return [processor.id]
    return [f"{processor.id}.{pipe}" for pipe in range(processor.output_count)]


def _unknown(owner: str, name: str, candidates: Iterable[str]) -> str:
    known = list(candidates)
    near = get_close_matches(name, known, n=1)
    hint = f"{near[0]!r} (did you mean that?)" if near else f"one of {', '.join(known)}"
    return f"{owner}: expected a known name to read; got {name!r}; try {hint}"

"""The Tracker protocol, and the tracker in memory that answers what explains an output.

A tracker is switched on in one place, ``interpret(chain, logs, tracker=…)``, and never changes an
output. Any object with an ``associate`` method will do. `MemoryTracker` keeps everything in memory
as a graph with sharing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from whence.engine.errors import ParameterError
from whence.engine.language.events import Event, Position, Shelf, Stream, Term, position_text
from whence.engine.lineage.terms import (
    Alternatives,
    Edge,
    Inputs,
    alternatives,
    edges_below,
    flatten,
    stands,
)
from whence.engine.values.shown import shown

if TYPE_CHECKING:
    from whence.engine.interpreter.plan import Plan

__all__ = ["Explanation", "MemoryTracker", "Tracker", "Witnesses", "input_names"]

Witnesses = Literal["first", "all"]


@runtime_checkable
class Tracker(Protocol):
    """Anything that wants to know which inputs of a processor explain which of its outputs."""

    def associate(
        self, processor: str, out_pipe: int, out_pos: int, in_pipe: int, in_pos: int
    ) -> None:
        """Output ``out_pos`` of a processor is explained by its input ``in_pos`` (among others)."""
        ...


def input_names(inputs: Inputs) -> list[str]:
    """Write flattened inputs: ``log@1.p`` where fields are known, else ``log@3``.

    >>> input_names({("log", 3): frozenset({"action"}), ("log", 1): None})
    ['log@1', 'log@3.action']
    """
    names = []
    for (log, position), fields in sorted(inputs.items(), key=_place):
        name = f"{log}@{position_text(position)}"
        names += [f"{name}.{f}" for f in sorted(fields)] if fields else [name]
    return names


def _place(item: tuple[tuple[str, Position], object]) -> tuple[str, int]:
    (log, position), _ = item
    return log, position if isinstance(position, int) else -1


@dataclass(frozen=True)
class Explanation:
    """Why one event has its value.

    Attributes:
        event: the event that is explained.
        witnesses: whether alternatives were kept.
    """

    event: Event
    witnesses: Witnesses = "first"

    @property
    def inputs(self) -> Inputs:
        """The input events of the first witness, each with the fields that matter."""
        return flatten(self.event)

    @property
    def support(self) -> Inputs:
        """Input events that are enough: while they keep their values, so does this event."""
        return flatten(self.event, support=True)

    @property
    def names(self) -> list[str]:
        """The first witness as text, such as ``log@1.p``."""
        return input_names(self.inputs)

    @property
    def alternatives(self) -> Alternatives:
        """All witnesses that were kept, the first one first."""
        return alternatives(self.event)

    def stands(self, corrupt: Collection[tuple[str, Position]]) -> bool:
        """Whether this event stays as it is, guaranteed, if some input events are corrupt.

        With all alternatives kept, one untouched support of any of them is enough.

        Args:
            corrupt: the input events by (log, position).
        """
        return stands(self.event, corrupt)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """In a notebook: the sentence and the drawing."""
        return shown(self)

    def graph(self, *, support: bool = False) -> dict[Event, list[Edge]]:
        """The events that lead here, each once, with the events each of them derives from.

        Args:
            support: follow what supports instead of what explains.
        """
        below: dict[Event, list[Edge]] = {}
        stack = [self.event]
        first = self.witnesses == "first"
        while stack:
            event = stack.pop()
            if event in below:
                continue
            if event.stream is not None and event.stream.is_log:
                below[event] = []
                continue
            term: Term = event.why
            if support:
                term = (event.why if event.support is None else event.support, event.exists)
            below[event] = edges_below(term, first=first)
            stack.extend(edge.target for edge in below[event])
        return below


class MemoryTracker:
    """Keeps a run's explanations in memory and answers at any moment of it.

    Args:
        witnesses: ``first`` keeps the witness that is shown, ``all`` every alternative.
    """

    def __init__(self, witnesses: Witnesses = "first") -> None:
        """Begin empty; a run attaches itself."""
        if witnesses not in ("first", "all"):
            msg = f"a tracker: expected witnesses first or all; got {witnesses!r}; try 'first'"
            raise ParameterError(msg)
        self.witnesses: Witnesses = witnesses
        self._shelves: dict[tuple[str, int], Shelf] = {}
        self._sources: dict[str, tuple[Stream, ...]] = {}

    def attach(self, logs: Mapping[str, Shelf], plan: Plan) -> None:
        """Learn where a run keeps its events, before it begins."""
        streams: dict[tuple[int, int], Stream] = {
            (-1 - n, 0): log.stream for n, log in enumerate(logs.values())
        }
        for number, step in enumerate(plan.steps):
            self._sources[step.name] = tuple(streams[source] for source in step.sources)
            for stream in step.streams:
                streams[number, stream.pipe] = stream
        for shelf in (*logs.values(), *plan.all_shelves()):
            self._shelves[shelf.stream.name, shelf.stream.pipe] = shelf

    def associate(
        self, processor: str, out_pipe: int, out_pos: int, in_pipe: int, in_pos: int
    ) -> None:
        """Add an association to an event that exists; the chain's own need no call."""
        event = self.event(processor, out_pipe, out_pos)
        source = self._sources.get(processor, ())
        if not 0 <= in_pipe < len(source):
            msg = (
                f"{processor}: expected an input pipe below {len(source)}; got {in_pipe}; "
                "try 0 for the first"
            )
            raise ParameterError(msg)
        origin = self.event(source[in_pipe].name, source[in_pipe].pipe, in_pos)
        event.why = (event.why, origin)
        event.support = None if event.support is None else (event.support, origin)

    def event(self, processor: str, pipe: int, position: Position) -> Event:
        """Find an event by its name; the error lists the candidates."""
        shelf = self._shelves.get((processor, pipe))
        if shelf is None:
            known = sorted({name for name, _ in self._shelves})
            near = get_close_matches(processor, known, n=1)
            hint = f"{near[0]!r} (did you mean that?)" if near else f"one of {', '.join(known)}"
            msg = f"an event: expected a processor or log; got {processor}.{pipe}; try {hint}"
            raise ParameterError(msg)
        found = shelf.inner.get((position, 0) if isinstance(position, int) else position)
        if found is not None:
            return found
        events = [] if shelf.inner else shelf.events
        if not isinstance(position, int) or not 0 <= position < len(events):
            last = f"0 to {len(events) - 1}" if events else "none yet"
            msg = (
                f"an event of {processor}: expected a position, {last}; "
                f"got {position_text(position)}; try one in this range"
            )
            raise ParameterError(msg)
        return events[position]

    def explain(self, processor: str, pipe: int, position: Position) -> Explanation:
        """Why has this event its value?"""
        return Explanation(self.event(processor, pipe, position), self.witnesses)

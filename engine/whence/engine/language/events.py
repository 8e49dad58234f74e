"""Events in flight, and the terms that say what explains and what supports them.

A tracked event carries three *terms*:

``why``
    what explains its value;
``support``
    what is enough for its value; ``None`` means "as ``why``";
``exists``
    what its being there rests on; ``None`` on a regular pipe.

A term is ``None`` or ``()`` (nothing), an `Event`, a `Part` of one, a tuple (all of these) or an
`Either` (any one of these, the first preferred). Terms are immutable and shared, so that an
explanation is a graph and never a tree that explodes. `whence.engine.lineage.terms` walks them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from whence.engine.values import Value

__all__ = [
    "Either",
    "Event",
    "Part",
    "Position",
    "Shelf",
    "Stream",
    "Term",
    "all_exist",
    "position_text",
]

Position: TypeAlias = int | tuple["Position", int]
"""A position; inside a Window or Slice the pair (position outside, running index)."""


@dataclass(eq=False, slots=True)
class Stream:
    """One output pipe of a processor, or an input log.

    Attributes:
        name: the processor's id (``group/inner`` inside a Group), or the log's name.
        pipe: the output pipe.
        is_log: whether its events are inputs of the run.
        copies: whether its events are copies, so that a field asked of one is that of its original.
        several: whether the processor has several output pipes, and names must say which.
        hidden: whether its events are intermediate and never shown.
        at: the outer position at which the newest inner event appeared.
        run: the running index of that event.
    """

    name: str
    pipe: int = 0
    is_log: bool = False
    copies: bool = False
    several: bool = False
    hidden: bool = False
    at: Position = -1
    run: int = 0

    def label(self, position: Position) -> str:
        """Write an event's name: ``log@41``, ``total@41``, ``fork.1@3``."""
        pipe = f".{self.pipe}" if self.several else ""
        return f"{self.name}{pipe}@{position_text(position)}"


@dataclass(eq=False, slots=True)
class Shelf:
    """The stored events of a stream, to be looked up by position.

    Apart from `Stream`, so that events do not refer back to each other and a run without references
    any more is freed at once.

    Attributes:
        stream: whose events they are.
        events: in order of appearance.
        inner: inside a Slice, by position.
    """

    stream: Stream
    events: list[Event] = field(default_factory=list, repr=False)
    inner: dict[Position, Event] = field(default_factory=dict, repr=False)


class Event:
    """A value at a position of a stream and, when tracked, the terms that explain it."""

    __slots__ = ("exists", "position", "stream", "support", "value", "why")

    def __init__(
        self,
        value: Value,
        why: Term = None,
        support: Term = None,
        exists: Term = None,
        stream: Stream | None = None,
        position: Position = -1,
    ) -> None:
        """Keep what is given; untracked events carry a value only."""
        self.value = value
        self.why = why
        self.support = support
        self.exists = exists
        self.stream = stream
        self.position = position

    def __repr__(self) -> str:
        return f"<{self.label} = {self.value!r}>"

    @property
    def label(self) -> str:
        """The event's name, such as ``total@41``."""
        return self.stream.label(self.position) if self.stream else "event"


class Part:
    """Some fields of an event: ``None`` the whole event, ``()`` only that it is there."""

    __slots__ = ("event", "fields")

    def __init__(self, event: Event, fields: frozenset[str] | None) -> None:
        self.event = event
        self.fields = fields


class Either(tuple["Term", ...]):
    """Alternatives: any one of these explains; the first is the one that is shown."""

    __slots__ = ()


Term: TypeAlias = Event | Part | Either | tuple["Term", ...] | None


def all_exist(front: tuple[Event, ...]) -> Term:
    """What the existence of a whole front rests on."""
    terms = [event.exists for event in front if event.exists is not None]
    if not terms:
        return None
    return terms[0] if len(terms) == 1 else tuple(terms)


def position_text(position: Position) -> str:
    """Write a position; an inner one as ``52`` or, if it is not the first there, ``52:1``.

    >>> position_text(4), position_text((52, 0)), position_text(((52, 0), 2))
    ('4', '52', '52:2')
    """
    if isinstance(position, int):
        return str(position)
    outer, index = position
    return position_text(outer) + (f":{index}" if index else "")

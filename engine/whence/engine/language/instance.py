"""What a Window or Slice needs of the chain inside it: a plan, and the instances it starts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from whence.engine.language.events import Event
from whence.engine.language.traits import Traits

if TYPE_CHECKING:
    from whence.engine.language.processor import Machine

__all__ = ["Instance", "Planned"]


class Instance(Protocol):
    """A started plan with one output pipe, as Window and Slice use it."""

    machines: list[Machine]

    def begin(self) -> list[Event]:
        """Return what is output before any input."""
        ...

    def feed(self, front: tuple[Event, ...]) -> list[Event]:
        """Take one event of every input; return the outputs."""
        ...

    def last_of(self, fronts: Iterable[tuple[Event, ...]]) -> Event | None:
        """Begin, take all these fronts, and return the last output, if there was any."""
        ...

    def close(self) -> list[Event]:
        """Close the inputs; return the remaining outputs."""
        ...


class Planned(Protocol):
    """A chain that is ready to start, any number of times."""

    outputs: tuple[Traits, ...]

    def start(self) -> Instance:
        """Start afresh."""
        ...

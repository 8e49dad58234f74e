"""Fork: several copies of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.language.events import Event
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site
from whence.engine.language.traits import MOST_PIPES

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["Fork"]


@dataclass(frozen=True)
class Fork(Processor):
    """Copy the input to m output pipes, named ``id.0``, ``id.1``, ...

    Several processors may also read one pipe directly; Fork gives the copies names of their own.

    >>> from whence.engine.testing import run
    >>> run(Fork("both", m=2), ["a"])
    [[('a', {0})], [('a', {0})]]
    """

    m: int

    tag: ClassVar[str] = "fork"
    local: ClassVar[bool] = True
    copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = type(self.m) is int and 1 <= self.m <= MOST_PIPES
        self.require(fits, f"1 <= m <= {MOST_PIPES}", self.m, "m=2 for two branches")

    @property
    def output_count(self) -> int:
        return self.m

    def because(self, told: Told) -> str:
        return f"it is a copy of {told}"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _Fork(site)

    def parameters(self) -> Any:
        return self.m

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> Fork:
        return cls(id, value)


class _Fork(Machine):
    __slots__ = ()

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Output k of every pipe is input k and is explained by it."""
        copies = []
        for stream, shelf in zip(self.site.streams, self.site.shelves, strict=True):
            self.stream, self.shelf = stream, shelf
            copies.append(self.emit(event.value, event, None, event.exists))
            copies[-1].stream = stream
            self.count -= 1
        self.count += 1
        return copies

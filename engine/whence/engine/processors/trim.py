"""Trim: drop the beginning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.language.events import Event
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["Trim"]


@dataclass(frozen=True)
class Trim(Processor):
    """The input without its first n events.

    >>> from whence.engine.testing import run
    >>> run(Trim("skip", n=2), ["a", "b", "c"])
    [('c', {2})]
    """

    n: int

    tag: ClassVar[str] = "trim"
    copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_count(self.n, 0, "n=0 to drop nothing")

    def horizon(self, offset: int, period: int) -> tuple[int, int]:
        """The pattern begins n later."""
        return offset + self.n, period

    def because(self, told: Told) -> str:
        return f"it is {told}, after the first {self.n} were dropped"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _Trim(site, self.n)

    def parameters(self) -> Any:
        return self.n

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> Trim:
        return cls(id, value)


class _Trim(Machine):
    __slots__ = ("left",)

    def __init__(self, site: Site, n: int) -> None:
        super().__init__(site)
        self.left = n

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Output k is input k+n and is explained by it."""
        if self.left:
            self.left -= 1
            return []
        return [self.emit(event.value, event, None, event.exists)]

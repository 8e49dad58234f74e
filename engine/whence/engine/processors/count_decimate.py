"""CountDecimate: keep every n-th event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.language.events import Event
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["CountDecimate"]


@dataclass(frozen=True)
class CountDecimate(Processor):
    """Let inputs 0, n, 2n, ... through.

    >>> from whence.engine.testing import run
    >>> run(CountDecimate("every-other", n=2), ["a", "b", "c"])
    [('a', {0}), ('c', {2})]
    """

    n: int

    tag: ClassVar[str] = "decimate"
    copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_count(self.n, 1, "n=1 to pass every event")

    def horizon(self, offset: int, period: int) -> tuple[int, int]:
        """The pattern takes n times as long."""
        return offset, period * self.n

    def because(self, told: Told) -> str:
        return f"one of every {self.n} events passes: {told}"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _CountDecimate(site, self.n)

    def parameters(self) -> Any:
        return self.n

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> CountDecimate:
        return cls(id, value)


class _CountDecimate(Machine):
    __slots__ = ("n", "seen")

    def __init__(self, site: Site, n: int) -> None:
        super().__init__(site)
        self.n = n
        self.seen = 0

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Output k is input k*n and is explained by it."""
        seen = self.seen
        self.seen = seen + 1
        if seen % self.n:
            return []
        return [self.emit(event.value, event, None, event.exists)]

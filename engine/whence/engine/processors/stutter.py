"""Stutter: say every event several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.language.events import Event
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["Stutter"]


@dataclass(frozen=True)
class Stutter(Processor):
    """Repeat each event n times.

    >>> from whence.engine.testing import run
    >>> run(Stutter("echo", n=2), ["a", "b"])
    [('a', {0}), ('a', {0}), ('b', {1}), ('b', {1})]
    """

    n: int

    tag: ClassVar[str] = "stutter"
    copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_count(self.n, 1, "n=1 to pass each event once, or Filter to drop events")

    def horizon(self, offset: int, period: int) -> tuple[int, int]:
        """The pattern takes n times as long."""
        return offset, period * self.n

    def because(self, told: Told) -> str:
        return f"it repeats {told}"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _Stutter(site, self.n)

    def parameters(self) -> Any:
        return self.n

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> Stutter:
        return cls(id, value)


class _Stutter(Machine):
    __slots__ = ("n",)

    def __init__(self, site: Site, n: int) -> None:
        super().__init__(site)
        self.n = n

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Output k comes from input k // n."""
        return [self.emit(event.value, event, None, event.exists) for _ in range(self.n)]

"""Difference: by how much each number differs from the one some steps before."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.events import Event
from whence.engine.functions import function_named
from whence.engine.processor import Machine, MachineFactory, Processor, Site
from whence.engine.traits import Traits

if TYPE_CHECKING:
    from whence.engine.analysis.items import Pipe
    from whence.engine.kernels.kernel import Kernel, Place

__all__ = ["Difference"]


@dataclass(frozen=True)
class Difference(Processor):
    """Output k is input k+lag less input k, and is explained by these two."""

    lag: int = 1

    tag: ClassVar[str] = "difference"
    local: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the lag."""
        super().__post_init__()
        self.require(type(self.lag) is int and self.lag >= 1, "lag >= 1", self.lag, "lag=1")

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """A number for all inputs but the first ones."""
        return inputs[0].but(raw=False, kind="any", columns=None)

    def machine(self, site: Site) -> MachineFactory:
        """Keep the last inputs."""
        return lambda: _Difference(site, self.lag)

    @property
    def delay(self) -> float:
        """Output k waits for input k+lag."""
        return self.lag

    def horizon(self, offset: int, period: int) -> tuple[int, int]:
        """The first inputs have no earlier one."""
        return offset + self.lag, period

    def dependencies(self, pipes: Sequence[Pipe]) -> list[Pipe]:
        """Two events decide each output; it exists when the later one does."""
        from whence.engine.analysis.items import Item, add, read, told_by

        (events,) = pipes
        return [
            [
                Item(
                    value=add(read(earlier, None), read(later, None)),
                    exists=dict(later.exists),
                    why=add(told_by(earlier, None), told_by(later, None)),
                )
                for earlier, later in zip(events, events[self.lag :], strict=False)
            ]
        ]

    def kernel(self, place: Place) -> Kernel | None:
        """On batches, unless several instances run at once inside a Slice or Window."""
        from .kernel import DifferenceKernel

        if place.slotted or place.in_window:
            return None
        return DifferenceKernel(place, self.lag)

    def parameters(self) -> Any:
        """Just the lag."""
        return self.lag

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> Difference:
        """From the lag."""
        return cls(id, value)


class _Difference(Machine):
    __slots__ = ("before", "lag")

    def __init__(self, site: Site, lag: int) -> None:
        super().__init__(site)
        self.lag = lag
        self.before: deque[Event] = deque()

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Compare with the event that came ``lag`` events ago."""
        self.before.append(event)
        if len(self.before) <= self.lag:
            return []
        earlier = self.before.popleft()
        value = function_named("sub").compute(event.value, earlier.value)
        return [self.emit(value, (earlier, event), None, event.exists)]

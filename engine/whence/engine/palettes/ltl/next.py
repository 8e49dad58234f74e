"""X: at the next event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from whence.engine.language.events import Event
from whence.engine.language.processor import MachineFactory, Site
from whence.engine.palettes.ltl.operator import Operator, OperatorMachine
from whence.engine.values import as_condition

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["X"]


@dataclass(frozen=True)
class X(Operator):
    """The verdict at k is input k+1.

    >>> from whence.engine.testing import run
    >>> run(X("next"), [True, False, True])
    [(False, {1}), (True, {2})]
    """

    symbol: ClassVar[str] = "X"
    local: ClassVar[bool] = True
    decides_early: ClassVar[bool] = False

    @property
    def delay(self) -> float:
        """Until the next event."""
        return 1

    def because(self, told: Told) -> str:
        return f"the next event decides: {told}" if told.causes else "no event follows"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _X(site)


class _X(OperatorMachine):
    __slots__ = ()

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Output k is input k+1, explained by it."""
        value = as_condition(event.value)
        waited = self.waiting
        self.waiting = [(event,)]
        if not waited:
            return []
        return [self.emit(value, event, None, event.exists)]

    def close(self) -> list[Event]:
        """Beyond the end nothing holds: false."""
        return self.close_all(False)

    def open(self) -> None:
        """When the next verdict comes does not depend on values."""
        return

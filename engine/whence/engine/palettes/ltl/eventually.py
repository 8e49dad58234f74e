"""F: from here on, at some time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from whence.engine.language.events import Event
from whence.engine.language.processor import MachineFactory, Site
from whence.engine.palettes.ltl.operator import Operator, OperatorMachine
from whence.engine.values import as_condition

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["F"]


@dataclass(frozen=True)
class F(Operator):
    """True at k as soon as some input i >= k is true; false only when the log is closed.

    >>> from whence.engine.testing import run
    >>> run(F("sometime"), [False, True, False])
    [(True, {1}), (True, {1})]
    """

    symbol: ClassVar[str] = "F"

    def because(self, told: Told) -> str:
        if told.value is True:
            return f"it should hold at some time, and {told} is true"
        return f"nothing was true until the log was closed: {told}"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _F(site)


class _F(OperatorMachine):
    __slots__ = ()

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """The first true at i >= k decides and explains every verdict that waits."""
        self.waiting.append((event,))
        if not as_condition(event.value):
            return []
        outputs = [self.emit(True, event, None, event) for _ in self.waiting]
        self.waiting = []
        return outputs

    def close(self) -> list[Event]:
        """Nothing true came: false."""
        return self.close_all(False)

"""G: from here on, always."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from whence.engine.language.events import Event
from whence.engine.language.processor import MachineFactory, Site
from whence.engine.palettes.ltl.operator import Operator, OperatorMachine
from whence.engine.values import as_condition

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["G"]


@dataclass(frozen=True)
class G(Operator):
    """False at k as soon as some input i >= k is false; true only when the log is closed.

    >>> from whence.engine.testing import run
    >>> run(G("always"), [True, False, True])
    [(False, {1}), (False, {1})]
    >>> run(G("always"), [True, False, True], closed=True)
    [(False, {1}), (False, {1}), (True, {2})]
    """

    symbol: ClassVar[str] = "G"

    def because(self, told: Told) -> str:
        if told.value is False:
            return f"it should always hold, and {told} is false"
        return f"nothing was false until the log was closed: {told}"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _G(site)


class _G(OperatorMachine):
    __slots__ = ()

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """The first false at i >= k decides and explains every verdict that waits."""
        self.waiting.append((event,))
        if as_condition(event.value):
            return []
        outputs = [self.emit(False, event, None, event) for _ in self.waiting]
        self.waiting = []
        return outputs

    def close(self) -> list[Event]:
        """Nothing false came: true."""
        return self.close_all(True)

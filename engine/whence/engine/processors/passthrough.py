"""Passthrough: the input as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from whence.engine.language.events import Event
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["Passthrough"]


@dataclass(frozen=True)
class Passthrough(Processor):
    """Output the input.

    >>> from whence.engine.testing import run
    >>> run(Passthrough("same"), ["a", "b"])
    [('a', {0}), ('b', {1})]
    """

    tag: ClassVar[str] = "passthrough"
    local: ClassVar[bool] = True
    copies: ClassVar[bool] = True

    def because(self, told: Told) -> str:
        return f"it is {told}, unchanged"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _Passthrough(site)


class _Passthrough(Machine):
    __slots__ = ()

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Output k is input k and is explained by it."""
        return [self.emit(event.value, event, None, event.exists)]

"""Freeze: the first event, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from whence.engine.language.events import Event
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["Freeze"]


@dataclass(frozen=True)
class Freeze(Processor):
    """Output input 0, once per input.

    >>> from whence.engine.testing import run
    >>> run(Freeze("first"), ["a", "b"])
    [('a', {0}), ('a', {0})]
    """

    tag: ClassVar[str] = "freeze"
    copies: ClassVar[bool] = True

    def because(self, told: Told) -> str:
        return f"the first event is repeated: {told}"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _Freeze(site)


class _Freeze(Machine):
    __slots__ = ("first",)

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.first: Event | None = None

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Explained by input 0; that output k exists rests on input k."""
        first = self.first
        if first is None:
            first = self.first = event
        return [self.emit(first.value, first, None, event.exists)]

"""Multiplex: several streams in one."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, ClassVar

from whence.engine.language.events import Event, all_exist
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site
from whence.engine.language.traits import Traits

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["Multiplex"]


@dataclass(frozen=True)
class Multiplex(Processor):
    """The events of each front, in pipe order.

    >>> from whence.engine.testing import run
    >>> run(Multiplex("both"), {"p": ["a", "b"], "q": ["c", "d"]})
    [('a', {'p@0'}), ('c', {'q@0'}), ('b', {'p@1'}), ('d', {'q@1'})]
    """

    tag: ClassVar[str] = "multiplex"
    copies: ClassVar[bool] = True

    @property
    def input_count(self) -> int | None:
        return None

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """What holds for all inputs."""
        kinds = {t.kind for t in inputs}
        columns = inputs[0].columns if all(t.columns == inputs[0].columns for t in inputs) else None
        return Traits(
            regular=all(t.regular for t in inputs),
            raw=all(t.raw for t in inputs),
            may_be_missing=any(t.may_be_missing for t in inputs),
            may_vanish=any(t.may_vanish for t in inputs),
            kind=kinds.pop() if len(kinds) == 1 else "any",
            columns=columns,
        )

    def horizon(self, offset: int, period: int) -> tuple[int, int]:
        """Two inputs, one after the other."""
        return offset, lcm(period, 2) * 2

    def because(self, told: Told) -> str:
        return f"it is {told}, unchanged"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _Multiplex(site)


class _Multiplex(Machine):
    __slots__ = ()

    def feed(self, *front: Event) -> list[Event]:
        """Each output is explained by the one event it copies; the whole front has to be there."""
        exists = all_exist(front) if self.tracked else None
        return [self.emit(event.value, event, None, exists) for event in front]

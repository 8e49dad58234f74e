"""TurnInto: a constant for every event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.language.events import Event
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site
from whence.engine.language.traits import Traits
from whence.engine.values import Value, is_odd, kind_of
from whence.engine.values.value_json import value_json

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["TurnInto"]


@dataclass(frozen=True)
class TurnInto(Processor):
    """Output the same value for every input.

    >>> from whence.engine.testing import run
    >>> run(TurnInto("one", value=1), ["a", "b"])
    [(1, {0}), (1, {1})]
    """

    value: Value

    tag: ClassVar[str] = "turn_into"
    local: ClassVar[bool] = True

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """As regular as the input; the value is known."""
        return Traits(
            regular=inputs[0].regular,
            may_be_missing=is_odd(self.value),
            kind=kind_of(self.value),
        )

    def because(self, told: Told) -> str:
        return f"every event gives this value, here {told}"

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _TurnInto(site, self.value)

    def parameters(self) -> Any:
        return value_json(self.value)

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> TurnInto:
        return cls(id, read["value"](value))


class _TurnInto(Machine):
    __slots__ = ("value",)

    def __init__(self, site: Site, value: Value) -> None:
        super().__init__(site)
        self.value = value

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Explained by the event that triggered it, supported by nothing but existence."""
        return [self.emit(self.value, event, (), event.exists)]

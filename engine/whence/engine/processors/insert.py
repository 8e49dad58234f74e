"""Insert: put a value before the stream."""

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

__all__ = ["Insert"]


@dataclass(frozen=True)
class Insert(Processor):
    """A value n times, before any input; then the input.

    >>> from whence.engine.testing import run
    >>> run(Insert("before", n=1, value="-"), ["a", "b"])
    [('-', set()), ('a', {0}), ('b', {1})]
    """

    n: int
    value: Value

    tag: ClassVar[str] = "insert"
    copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_count(self.n, 0, "n=1 to see the previous event")

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """The input's, widened by the value."""
        same_kind = kind_of(self.value) in (inputs[0].kind, "missing")
        return inputs[0].but(
            may_be_missing=inputs[0].may_be_missing or is_odd(self.value),
            kind=inputs[0].kind if same_kind else "any",
            columns=inputs[0].columns,
        )

    def horizon(self, offset: int, period: int) -> tuple[int, int]:
        """The pattern begins n later."""
        return offset + self.n, period

    def because(self, told: Told) -> str:
        return f"it is {told}" if told.causes else "it comes before any input"

    def machine(self, site: Site) -> MachineFactory:
        """The values come at the start, before any input."""
        return lambda: _Insert(site, self.n, self.value)

    def parameters(self) -> Any:
        return {"n": self.n, "value": value_json(self.value)}

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> Insert:
        read["keys"](value, {"n", "value"}, {"n", "value"})
        return cls(id, value["n"], read["value"](value["value"]))


class _Insert(Machine):
    __slots__ = ("n", "value")

    def __init__(self, site: Site, n: int, value: Value) -> None:
        super().__init__(site)
        self.n = n
        self.value = value

    def begin(self) -> list[Event]:
        """The first n outputs; nothing explains them."""
        return [self.emit(self.value, ()) for _ in range(self.n)]

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Output k is input k-n and is explained by it."""
        return [self.emit(event.value, event, None, event.exists)]

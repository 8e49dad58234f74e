"""Window: a fresh P on every n consecutive events."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.language.events import Event, Part, Term, all_exist
from whence.engine.language.instance import Planned
from whence.engine.language.processor import Machine, MachineFactory, Processor, Scope, Site
from whence.engine.language.traits import Traits

if TYPE_CHECKING:
    from whence.engine.language.chain import Chain
    from whence.engine.lineage.words import Told

__all__ = ["Window"]


@dataclass(frozen=True)
class Window(Processor):
    """The last output of a fresh P on inputs k..k+n-1; missing if P is silent.

    >>> from whence.engine.processors.cumulate import Cumulate
    >>> from whence.engine.testing import run
    >>> run(Window("three", n=3, of=Cumulate("product", "product")), [2, 3, 4, 0])
    [(24, {0, 1, 2}), (0, {3})]
    """

    n: int
    of: Chain | Processor

    tag: ClassVar[str] = "window"
    recomputed: ClassVar[bool] = True
    local: ClassVar[bool] = True
    copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check n; accept a single processor as P."""
        super().__post_init__()
        from whence.engine.language.chain import Chain

        self.require_count(self.n, 1, "n=3")
        object.__setattr__(self, "of", Chain.of(self.of))
        outputs = len(self.inner.outputs)
        self.require(outputs == 1, "P with one output pipe", self.inner.outputs, "output: NAME")

    @property
    def inner(self) -> Chain:
        return self.of  # type: ignore[return-value]

    @property
    def input_count(self) -> int | None:
        return len(self.inner.inputs)

    @property
    def holds(self) -> tuple[Chain, ...]:
        return (self.inner,)

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """Regular over regular input, whatever P is; missing where an irregular P is silent."""
        inner = self.inner.output_traits(tuple(t.without_existence() for t in inputs), False)[0]
        return inner.but(
            regular=all(t.regular for t in inputs),
            raw=inner.raw and inner.regular,
            may_be_missing=True,
            may_vanish=inner.may_vanish or not inner.regular,
        )

    @property
    def delay(self) -> float:
        """Until the window is full."""
        return self.n - 1

    def horizon(self, offset: int, period: int) -> tuple[int, int]:
        """The pattern begins n later."""
        return offset + self.n, period

    def because(self, told: Told) -> str:
        """In words: what P says of the window."""
        return f"the window of {self.n} events gives this by {told}"

    def machine(self, site: Site) -> MachineFactory:
        """Compile P once; a window runs it afresh."""
        scope = Scope(window=True)
        inner = site.plan(
            self.inner, tuple(t.without_existence() for t in site.inputs), scope, False
        )
        return lambda: _Window(site, self.n, inner, scope)

    def parameters(self) -> Any:
        return {"n": self.n, "of": self.inner.tree()}

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> Window:
        read["keys"](value, {"n", "of"}, {"n", "of"})
        return cls(id, value["n"], read["chain"](value["of"]))


class _Window(Machine):
    __slots__ = ("fronts", "inner", "inner_scope", "n", "regular")

    def __init__(self, site: Site, n: int, inner: Planned, scope: Scope) -> None:
        super().__init__(site)
        self.n = n
        self.inner = inner
        self.inner_scope = scope
        self.regular = inner.outputs[0].regular
        self.fronts: deque[tuple[Event, ...]] = deque(maxlen=n)

    def feed(self, *front: Event) -> list[Event]:
        """When the window is full, run a fresh P on it; explained as its last output is."""
        fronts = self.fronts
        fronts.append(front)
        if len(fronts) < self.n:
            return []
        self.inner_scope.at = self.next_position()
        last = self.inner.start().last_of(fronts)
        if not self.tracked:
            return [self.emit(None if last is None else last.value)]
        exists = all_exist(front)
        if last is None:
            return [self.emit(None, self._whole(), None, exists)]
        return [self.emit(last.value, last, None if self.regular else self._whole(), exists)]

    def _whole(self) -> Term:
        """All events of the window: what explains silence, and supports an irregular P.

        As wholes, whatever fields are asked of the output: P read others to choose its last one.
        """
        return tuple([Part(event, None) for front in self.fronts for event in front])

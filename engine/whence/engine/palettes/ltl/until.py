"""U: one thing holds until another does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from whence.engine.language.events import Event, Term, all_exist
from whence.engine.language.processor import MachineFactory, Site
from whence.engine.palettes.ltl.operator import Operator, OperatorMachine
from whence.engine.values import as_condition

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["U"]


@dataclass(frozen=True)
class U(Operator):
    """p U q: true at k if q comes true at some i >= k and p is true on k..i-1.

    >>> from whence.engine.testing import run
    >>> verdicts = run(U("until"), {"p": [True, True, False], "q": [False, False, True]})
    >>> [(verdict, sorted(why)) for verdict, why in verdicts]
    [(True, ['p@0', 'p@1', 'q@2']), (True, ['p@1', 'q@2']), (True, ['q@2'])]
    """

    symbol: ClassVar[str] = "U"

    @property
    def input_count(self) -> int | None:
        return 2

    def because(self, told: Told) -> str:
        """In words: what held, and what came."""
        if told.value is True:
            return f"the first input held until the second came: {told}"
        return f"the first input did not hold until the second came: {told}"

    def machine(self, site: Site) -> MachineFactory:
        """Wait for q, or for p to fail."""
        return lambda: _U(site)


class _U(OperatorMachine):
    __slots__ = ()

    def feed(self, p: Event, q: Event) -> list[Event]:  # type: ignore[override]
        """Decided at i by q true, or by p false while q is false."""
        holds, reached = as_condition(p.value), as_condition(q.value)
        self.waiting.append((p, q))
        if holds and not reached:
            return []
        if not self.tracked:
            outputs = [self.emit(reached) for _ in self.waiting]
            self.waiting = []
            return outputs
        # True: q at i and p on k..i-1. False: p at i and q on k..i.
        rest: Term = q if reached else (p, q)
        decided: Term = (rest, all_exist((p, q)))
        whys: list[Term] = []
        for number, front in enumerate(reversed(self.waiting)):
            if number:
                rest = (front[0] if reached else front[1], rest)
            whys.append(rest)
        outputs = [self.emit(reached, why, None, (why, decided)) for why in reversed(whys)]
        self.waiting = []
        return outputs

    def close(self) -> list[Event]:
        """Q did not come: false."""
        return self.close_all(False)

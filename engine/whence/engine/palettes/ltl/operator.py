"""What the temporal operators share."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from whence.engine.language.events import Event, Term
from whence.engine.language.processor import Machine, Processor, Site
from whence.engine.language.traits import Traits
from whence.engine.values import ValueFault

__all__ = ["Operator", "OperatorMachine"]


@dataclass(frozen=True)
class Operator(Processor):
    """A temporal operator: outputs the verdict for the suffix that starts at k, once known.

    In chain files all operators share the tag ``ltl`` and differ by their symbol.
    """

    tag: ClassVar[str] = "ltl"
    symbol: ClassVar[str]
    closes: ClassVar[bool] = True
    decides_early: ClassVar[bool] = True
    """Whether values decide when a verdict comes, which makes the pipe irregular."""

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """Verdicts are booleans, never missing."""
        for t in inputs:
            if t.kind not in ("any", "boolean", "missing"):
                raise ValueFault("a boolean stream", t.kind, "a comparison such as `x > 0` before")
        regular = all(t.regular for t in inputs) and not self.decides_early
        return Traits(regular=regular, may_be_missing=False, kind="boolean")

    @property
    def delay(self) -> float:
        """Until the log ends, unless values decide earlier."""
        return inf

    def horizon(self, offset: int, period: int) -> tuple[int, int]:
        """The pattern begins one later."""
        return offset + 1, period

    def parameters(self) -> Any:
        return self.symbol

    @classmethod
    def accepts(cls, value: Any) -> bool:
        return bool(value == cls.symbol)


class OperatorMachine(Machine):
    """Keeps the fronts whose verdict is not known yet."""

    __slots__ = ("waiting",)

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.waiting: list[tuple[Event, ...]] = []

    def close_all(self, verdict: bool) -> list[Event]:
        """The verdicts of finite traces, each explained by all inputs from k to the end."""
        if not self.tracked:
            outputs = [self.emit(verdict) for _ in self.waiting]
            self.waiting = []
            return outputs
        regular = all(t.regular for t in self.site.inputs)
        everything = None if regular else self.site.everything()
        whys: list[Term] = []
        rest: Term = None
        for front in reversed(self.waiting):
            rest = (rest, *front)
            whys.append(rest)
        outputs = [
            self.emit(verdict, why, everything, self._closed(why, everything))
            for why in reversed(whys)
        ]
        self.waiting = []
        return outputs

    def _closed(self, why: Term, everything: Term) -> Term:
        return why if everything is None else everything

    def open(self) -> Term:
        """The fronts that still wait: any of them could bring a verdict."""
        return tuple([event for front in self.waiting for event in front])

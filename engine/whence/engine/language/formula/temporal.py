"""What the formulas of rules have and expressions of one event have not, as heads of nodes."""

from __future__ import annotations

from dataclasses import dataclass

from whence.engine.language.formula.bounds import Bound

__all__ = ["AGGREGATES", "AHEAD", "BACK", "Aggregate", "Head", "Operator", "Reference"]

AHEAD = ("F", "G", "U", "X", "N", "end")
BACK = ("O", "H", "S", "Y", "Z")
AGGREGATES = ("count", "sum", "min", "max", "mean", "distinct")


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of time: ``F[..90d]``, ``S``, ``end``."""

    symbol: str
    bound: Bound | None = None

    def __str__(self) -> str:
        """As in formula text."""
        return f"{self.symbol}{self.bound or ''}"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A value over the events so far: ``sum[..24h](x where c)``.

    Attributes:
        name: which one.
        bound: how far back it looks; ``None`` to the case's first event.
        where: whether a second argument says which events count.
    """

    name: str
    bound: Bound | None
    where: bool

    def __str__(self) -> str:
        """As errors name it."""
        return f"{self.name}{self.bound or ''}"


@dataclass(frozen=True, slots=True)
class Reference:
    """Another event of the case: ``trigger``, ``trigger.amount``, ``first.time``.

    Attributes:
        event: ``trigger`` or ``first``.
        field: which field; ``None`` for ``trigger`` alone, true at that event.
    """

    event: str
    field: str | None = None

    def __str__(self) -> str:
        """As errors name it."""
        return self.event if self.field is None else f"{self.event}.{self.field}"


Head = Operator | Aggregate | Reference

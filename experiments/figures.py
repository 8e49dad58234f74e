"""Numbers out of the rows: medians, slowdowns, growth exponents with their error.

What has no rows yet has no number: ``None``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median
from typing import Any, NamedTuple

__all__ = [
    "Cost", "Fit", "Row", "cost", "divided", "fit", "lengths", "longest", "middle", "rate",
    "select", "slope",
]  # fmt: skip

Row = dict[str, Any]


def select(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """The rows in which every named column is as wanted."""
    return [row for row in rows if all(row.get(k) == v for k, v in wanted.items())]


def middle(rows: Iterable[Row], column: str) -> float | None:
    """The median of a column."""
    found = [float(row[column]) for row in rows if column in row]
    return median(found) if found else None


def rate(rows: Iterable[Row]) -> float | None:
    """Events a second, in the median over the repetitions."""
    found = [float(row["length"] / row["seconds"]) for row in rows]
    return median(found) if found else None


def divided(left: float | None, right: float | None) -> float | None:
    """One by the other, if both are there.

    >>> divided(3.0, 2.0), divided(None, 2.0), divided(3.0, 0.0)
    (1.5, None, None)
    """
    return left / right if left is not None and right else None


def lengths(rows: Iterable[Row]) -> list[int]:
    """The lengths that were measured, the shortest first."""
    return sorted({row["length"] for row in rows})


def longest(rows: Iterable[Row]) -> int:
    """The longest length that was measured; 0 if none was."""
    return max((row["length"] for row in rows), default=0)


class Cost(NamedTuple):
    """What tracking costs: events a second without and with it, and how many times as long."""

    without: float | None
    tracked: float | None
    times: float | None


def cost(rows: Iterable[Row], to: str = "ends") -> Cost:
    """What tracking costs at the longest length of some rows.

    >>> made = [{"length": 6, "tracking": t, "seconds": s} for t, s in (("off", 1), ("ends", 2))]
    >>> cost(made)
    Cost(without=6.0, tracked=3.0, times=2.0)
    """
    found = list(rows)
    at = longest(found)
    off, on = (rate(select(found, tracking=word, length=at)) for word in ("off", to))
    return Cost(off, on, divided(off, on))


class Fit(NamedTuple):
    """``column ~ length ** exponent``, with the half-width of its 95 % interval."""

    exponent: float
    error: float
    points: int


# Student's t for 95 %, two-sided, by degrees of freedom; more are as many as infinitely many.
_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13)


def fit(
    rows: Iterable[Row],
    column: str = "seconds",
    shortest: int = 0,
    *,
    within: str | None = None,
) -> Fit | None:
    """Fit a power of the length to a column, by least squares on logarithms.

    Args:
        rows: repetitions of several lengths.
        column: what grows.
        shortest: lengths below are left out: there the start of a run is what one sees.
        within: rows that are alike in this were measured side by side, so that only what differs
            among them counts: a slow moment slowed all of them.

    >>> made = [{"length": 10**n, "seconds": 2.0 * 10**n} for n in (5, 6, 7)]
    >>> told = fit(made)
    >>> round(told.exponent, 6), told.points
    (1.0, 3)
    """
    groups: dict[Any, list[tuple[float, float]]] = {}
    for row in rows:
        if row["length"] >= shortest and row.get(column, 0) > 0:
            point = (math.log(row["length"]), math.log(row[column]))
            groups.setdefault(row[within] if within else None, []).append(point)
    points = [point for some in groups.values() for point in _centred(some)]
    free = len(points) - len(groups) - 1
    if free < 1 or len({x for some in groups.values() for x, _ in some}) < 2:
        return None
    incline, left, spread = _line(points)
    t = _T[free - 1] if free <= len(_T) else 1.96
    return Fit(incline, t * math.sqrt(left / free / spread), len(points))


def _centred(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points around their own middle."""
    x, y = (math.fsum(axis) / len(points) for axis in zip(*points, strict=True))
    return [(each_x - x, each_y - y) for each_x, each_y in points]


def slope(rows: Iterable[Row], column: str) -> float | None:
    """By how much a column grows an event: a straight line through all points.

    >>> made = [{"length": n, "peak_bytes": 7 * n + 100} for n in (10, 20, 40)]
    >>> round(slope(made, "peak_bytes"), 6)
    7.0
    """
    points = [(float(row["length"]), float(row[column])) for row in rows if column in row]
    return _line(points)[0] if len({x for x, _ in points}) > 1 else None


def _line(points: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Least squares: the incline, what is left of the squares, and the spread of x.

    Sums are exact, so that the order of the points does not show in the last digit.
    """
    mean_x = math.fsum(x for x, _ in points) / len(points)
    mean_y = math.fsum(y for _, y in points) / len(points)
    spread = math.fsum((x - mean_x) ** 2 for x, _ in points)
    incline = math.fsum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    left = math.fsum((y - mean_y - incline * (x - mean_x)) ** 2 for x, y in points)
    return incline, left, spread

"""What a Slice's slices give together: and, or, add, product, min, max, count, or the map.

Each keeps its value and its explanation up to date while one slice after another changes, with a
cost per event that grows with the logarithm of the number of slices.
"""

from __future__ import annotations

from whence.engine.aggregates.base import Aggregate
from whence.engine.aggregates.extreme import Max, Min
from whence.engine.aggregates.fold import Add, Product
from whence.engine.aggregates.logical import And, Or
from whence.engine.aggregates.whole import Count, WholeMap

__all__ = ["AGGREGATES", "Aggregate"]

AGGREGATES: dict[str, type[Aggregate]] = {
    "and": And,
    "or": Or,
    "add": Add,
    "product": Product,
    "min": Min,
    "max": Max,
    "count": Count,
    "map": WholeMap,
}

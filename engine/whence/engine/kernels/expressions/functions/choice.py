"""Choice on columns: `coalesce`. What ``if`` computes depends on the rows: it is a node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whence.engine.kernels.columns.column import Bools, Column
from whence.engine.kernels.expressions.functions.base import (
    ColumnFunction,
    Picks,
    made,
    spread,
    stateless,
)

__all__ = ["FUNCTIONS"]


def _coalesce(columns: Sequence[Column]) -> Column | None:
    """The first present value of each row; of columns of several kinds row by row."""
    first = columns[0]
    if first.kind in ("any", "record") or any(c.kind != first.kind for c in columns):
        return None
    data, valid = first.data, first.valid
    for column in columns[1:]:
        if valid is None:
            break
        count = max(len(data), len(column))
        here = spread(valid, count)
        data = np.where(here, data, column.data)
        valid = None if column.valid is None else here | column.valid
    return made(first.kind, data, valid, first.texts)


def _explain(columns: Sequence[Column], result: Column) -> Picks:
    """All arguments up to the first that is present."""
    picks: Picks = []
    left: Bools = np.ones(1, np.bool_)
    for number, column in enumerate(columns[:-1]):
        present = column.present
        picks.append((tuple(range(number + 1)), left & present))
        left = left & ~present
    picks.append((tuple(range(len(columns))), left))
    return picks


FUNCTIONS = {"coalesce": ColumnFunction(stateless(_coalesce), _explain)}

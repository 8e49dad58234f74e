"""Logic on columns: and, or, not, implies, xor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from whence.engine.kernels.columns.column import Bools, Column
from whence.engine.kernels.expressions.functions.base import (
    ColumnFunction,
    Picks,
    conditions,
    stateless,
)

__all__ = ["FUNCTIONS"]


def _boolean(data: Bools, like: Column) -> Column:
    return Column("boolean", data, None, like.texts)


def _fold(step: Callable[[Bools, Bools], Bools]) -> ColumnFunction:
    def compute(columns: Sequence[Column]) -> Column:
        return _boolean(reduce(step, [conditions(c) for c in columns]), columns[0])

    return ColumnFunction(stateless(compute))


def _decisive(step: Callable[[Bools, Bools], Bools], decisive: bool) -> ColumnFunction:
    """The first argument with the decisive value explains alone; without any, all do."""

    def explain(columns: Sequence[Column], result: Column) -> Picks:
        picks: Picks = []
        left: Bools = np.ones(1, np.bool_)
        for number, column in enumerate(columns):
            holds = conditions(column)
            decides = holds if decisive else ~holds
            picks.append(((number,), left & decides))
            left = left & ~decides
        picks.append((tuple(range(len(columns))), left))
        return picks

    return ColumnFunction(_fold(step).start, explain)


def _not(columns: Sequence[Column]) -> Column:
    return _boolean(~conditions(columns[0]), columns[0])


def _implies(columns: Sequence[Column]) -> Column:
    return _boolean(~conditions(columns[0]) | conditions(columns[1]), columns[0])


def _explain_implies(columns: Sequence[Column], result: Column) -> Picks:
    premise, conclusion = conditions(columns[0]), conditions(columns[1])
    return [
        ((0,), ~premise),
        ((1,), premise & conclusion),
        ((0, 1), premise & ~conclusion),
    ]


FUNCTIONS = {
    "and": _decisive(np.logical_and, False),
    "or": _decisive(np.logical_or, True),
    "not": ColumnFunction(stateless(_not)),
    "implies": ColumnFunction(stateless(_implies), _explain_implies),
    "xor": _fold(np.logical_xor),
}

"""What the functions on columns share.

Columns of length 1 stand for any number of rows: constants. Every function either computes whole
columns, or returns ``None`` for kinds that it leaves to the interpreter's own function, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.engine.functions.base import Function, Pick
from whence.engine.kernels.columns.column import Bools, Column, Ints, guessed, missing
from whence.engine.kernels.columns.texts import Texts
from whence.engine.values import ValueFault, as_condition

__all__ = [
    "NUMBERS",
    "BadRow",
    "Bounds",
    "ColumnFunction",
    "Compute",
    "Picks",
    "by_rows",
    "conditions",
    "explain_by_rows",
    "first_bad",
    "made",
    "spread",
    "stateless",
    "typed",
    "valid_of",
]

NUMBERS = ("integer", "float")


class BadRow(Exception):
    """The interpreter would fail on this row, or on an earlier one.

    Attributes:
        row: the first row that this function cannot take.
    """

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


Bounds = tuple[float, float]
"""The smallest and the largest of some numbers, or what lies beyond them."""
Compute = Callable[[Sequence[Column]], Column | None]
Picks = list[tuple[Pick, Bools | None]]
"""The arguments that explain a result, each with the rows where they do; ``None``: in all rows."""


@dataclass(frozen=True, slots=True)
class ColumnFunction:
    """A function of columns.

    Attributes:
        start: makes the computation of one place in an expression, which may keep tables.
        explain: the function's rule on columns; ``None`` from it, or in its place, asks the
            interpreter's rule row by row.
    """

    start: Callable[[Function], Compute]
    explain: Callable[[Sequence[Column], Column], Picks | None] | None = None


def stateless(compute: Compute) -> Callable[[Function], Compute]:
    """A computation that keeps nothing."""
    return lambda _: compute


def valid_of(*columns: Column) -> Bools | None:
    """Where all of some columns are present; ``None`` if everywhere."""
    found: Bools | None = None
    for column in columns:
        if column.valid is not None:
            found = column.valid if found is None else found & column.valid
    return found


def made(
    kind: str,
    data: npt.NDArray[Any],
    valid: Bools | None,
    texts: Texts,
    bounds: Bounds | None = None,
    *,
    spare: bool = False,
) -> Column:
    """A column; constants among its parts are spread over all rows."""
    if valid is not None and len(valid) != len(data):
        count = max(len(valid), len(data))
        spare = spare and len(data) == count
        data, valid = spread(data, count), spread(valid, count)
    return Column(kind, data, valid, texts, None, -1, bounds, spare)


def spread(data: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """The same for so many rows."""
    return data if len(data) == count else np.broadcast_to(data, (count,))


def first_bad(bad: Bools, valid: Bools | None = None) -> None:
    """Refuse the first bad row among the present ones, if there is any."""
    if valid is not None:
        bad = bad & valid
    if bad.any():
        raise BadRow(int(bad.argmax()))


def typed(columns: Sequence[Column]) -> Sequence[Column]:
    """Give a constant that is missing the kind of the other arguments."""
    for column in columns:
        if column.kind == "any":
            break
    else:
        return columns
    kinds = [c.kind for c in columns if c.kind not in ("any", "record")]
    if not kinds:
        return columns
    return [
        missing(1, kinds[0], c.texts)
        if c.kind == "any" and len(c) == 1 and c.data[0] is None
        else c
        for c in columns
    ]


def conditions(column: Column) -> Bools:
    """Read values as conditions: missing counts as false, anything but a boolean is refused."""
    if column.kind == "boolean":
        data: Bools = column.data
        return data if column.valid is None else data & column.valid
    if column.kind == "any":
        found = np.empty(len(column), np.bool_)
        for row, value in enumerate(column.data):
            try:
                found[row] = as_condition(value)
            except ValueFault as fault:
                raise BadRow(row) from fault
        return found
    first_bad(column.present)
    return np.zeros(len(column), np.bool_)


def _rows(columns: Sequence[Column], count: int) -> list[list[object]]:
    lists = [c.to_list() for c in columns]
    return [values * count if len(values) < count else values for values in lists]


def by_rows(
    compute: Callable[..., object], columns: Sequence[Column], count: int, texts: Texts
) -> Column:
    """Call a function of the interpreter for every row."""
    lists = _rows(columns, count)
    results: list[object] = []
    rows: Iterable[tuple[object, ...]] = zip(*lists, strict=True) if lists else ((),) * count
    try:
        for values in rows:
            results.append(compute(*values))
    except ValueFault as fault:
        raise BadRow(len(results)) from fault
    return guessed(results, texts)


def explain_by_rows(
    explain: Callable[[Sequence[object], object], Sequence[Pick]],
    columns: Sequence[Column],
    result: Column,
) -> Picks:
    """Ask the interpreter's rule for every row, and put the rows together that agree."""
    count = max(len(column) for column in (*columns, result))
    lists = _rows([*columns, result], count)
    rows: dict[Pick, list[int]] = {}
    for row, values in enumerate(zip(*lists, strict=True)):
        rows.setdefault(tuple(explain(values[:-1], values[-1])[0]), []).append(row)
    picks: Picks = []
    for pick, where in rows.items():
        chosen = np.zeros(count, np.bool_)
        chosen[np.array(where, np.int64)] = True
        picks.append((pick, chosen))
    return picks


def unique_rows(codes: Sequence[Ints], size: int) -> tuple[list[Ints], Ints] | None:
    """The distinct combinations of some codes below a size, and which one each row has."""
    if size ** len(codes) >= 2**62:
        return None
    key = codes[0]
    for column in codes[1:]:
        key = key * size + column
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    return [spread(column, len(key))[first] for column in codes], back

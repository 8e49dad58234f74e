"""Read a column as conditions: true, false, or missing, which counts as false."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.batch import Front
from whence.engine.kernels.columns import Bools, Column
from whence.engine.kernels.expressions import RowFault
from whence.engine.kernels.kernel import Kernel
from whence.engine.values import ValueFault, as_condition

__all__ = ["as_conditions", "conditions"]


def _refused(column: Column) -> int:
    """The first row that is no condition; the number of rows if there is none."""
    if column.kind == "boolean":
        return len(column)
    if column.kind == "any":
        values = column.data.tolist()
        bad = (row for row, v in enumerate(values) if not (v is None or type(v) is bool))
        return next(bad, len(column))
    present = np.flatnonzero(column.present)
    return int(present[0]) if len(present) else len(column)


def conditions(kernel: Kernel, front: Front) -> list[Bools]:
    """All pipes of a front as conditions; the first row that holds none is refused."""
    columns = [batch.values for batch in front.pipes]
    bad = [_refused(column) for column in columns]
    row = min(bad)
    if row < len(front):
        try:
            as_condition(columns[bad.index(row)].item(row))
        except ValueFault as fault:
            kernel.fail(front, row, fault)
    return [_read(column) for column in columns]


def _read(column: Column) -> Bools:
    if column.kind == "boolean":
        found: Bools = column.data if column.valid is None else column.data & column.valid
        return found
    if column.kind == "any":
        return np.fromiter((v is True for v in column.data), np.bool_, len(column))
    return np.zeros(len(column), np.bool_)


def as_conditions(column: Column) -> Bools:
    """A column as conditions.

    Raises:
        RowFault: the first row that holds none.
    """
    row = _refused(column)
    if row < len(column):
        try:
            as_condition(column.item(row))
        except ValueFault as fault:
            raise RowFault(row, fault) from fault
    return _read(column)

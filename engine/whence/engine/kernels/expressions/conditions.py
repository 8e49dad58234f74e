"""Read what a kernel is given as conditions: true, false, or missing, which counts as false."""

from __future__ import annotations

from whence.engine.kernels.batch import Front
from whence.engine.kernels.columns.column import Bools, Column
from whence.engine.kernels.expressions.expression import RowFault
from whence.engine.kernels.expressions.functions import base
from whence.engine.kernels.kernel import Kernel
from whence.engine.values import ValueFault, as_condition

__all__ = ["as_conditions", "conditions"]


def as_conditions(column: Column) -> Bools:
    """A column as conditions.

    Raises:
        RowFault: the first row that holds none.
    """
    try:
        return base.conditions(column)
    except base.BadRow as bad:
        try:
            as_condition(column.item(bad.row))
        except ValueFault as fault:
            raise RowFault(bad.row, fault) from fault
        raise


def conditions(kernel: Kernel, front: Front) -> list[Bools]:
    """All pipes of a front as conditions; the first row that holds none is refused."""
    found: list[Bools] = []
    worst: RowFault | None = None
    for batch in front.pipes:
        try:
            found.append(as_conditions(batch.values))
        except RowFault as fault:
            if worst is None or fault.row < worst.row:
                worst = fault
    if worst is not None:
        kernel.fail(front, worst.row, worst.fault)
    return found

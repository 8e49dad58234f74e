"""The loops of folds: a running total for every slot, and which input explains it.

What explains a total is a row of this batch, or one of these:

``ALL``      all inputs so far;
``BEFORE``   the row of an earlier batch that its slot holds;
``NOTHING``  a start value, which needs no explanation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whence.engine.values.jit import jit

__all__ = [
    "ADD",
    "ALL",
    "BEFORE",
    "FLOAT",
    "INTEGER",
    "MAX",
    "MIN",
    "MISSING",
    "NOTHING",
    "PRODUCT",
    "UNSET_YET",
    "fold_conditions",
    "fold_numbers",
]

ALL, BEFORE, NOTHING = -1, -2, -3
ADD, PRODUCT, MIN, MAX = 0, 1, 2, 3
UNSET_YET, INTEGER, FLOAT, MISSING = 0, 1, 2, 3
"""What a slot's total is: nothing yet, or a value of this kind."""


@jit
def fold_conditions(
    slot: Any,
    holds: Any,
    decisive: bool,
    total: Any,
    mark: Any,
    at: Any,
    out: Any,
    pick: Any,
) -> None:
    """Fold ``and`` or ``or``: the first decisive input of a slot explains all that follows.

    Args:
        slot: of every row; empty if there is only one.
        holds: the conditions.
        decisive: the value that decides.
        total: of every slot.
        mark: of every slot: 0 nothing decided yet, 1 an input did, 2 the start value did.
        at: the row that decided it in this batch, -1 if none did.
        out: the totals, row by row.
        pick: what explains each.
    """
    slots = len(slot)
    for k in range(len(holds)):
        s = slot[k] if slots else 0
        if holds[k] == decisive:
            total[s] = decisive
            if mark[s] == 0:
                mark[s] = 1
                at[s] = k
        out[k] = total[s]
        if mark[s] == 0:
            pick[k] = -1
        elif mark[s] == 2:
            pick[k] = -3
        elif at[s] >= 0:
            pick[k] = at[s]
        else:
            pick[k] = -2


@jit
def fold_numbers(
    operation: int,
    slot: Any,
    is_float: bool,
    whole: Any,
    real: Any,
    valid: Any,
    kind: Any,
    whole_total: Any,
    real_total: Any,
    odd: Any,
    mark: Any,
    at: Any,
    out_kind: Any,
    out_whole: Any,
    out_real: Any,
    pick: Any,
) -> int:
    """Fold numbers; return the row whose result is refused, -1 if there is none.

    Args:
        operation: which function.
        slot: of every row; empty if there is only one.
        is_float: whether the inputs are in ``real``, not in ``whole``.
        whole: the inputs if they are integers.
        real: the inputs if they are floats.
        valid: which are present; empty if all are.
        kind: of every slot's total.
        whole_total: of every slot, if it is an integer.
        real_total: of every slot, if it is a float.
        odd: whether a slot met a missing or infinite input, so that no zero decides its product.
        mark: of every slot: 0 no input explains alone, 1 one does, 2 the start value does.
        at: the row of this batch that does, -1 if none.
        out_kind: the kind of the total, row by row.
        out_whole: the total, if it is an integer.
        out_real: the total, if it is a float.
        pick: what explains each.
    """
    slots = len(slot)
    some = len(valid) > 0
    most = 9223372036854775807
    least = -most - 1
    count = len(real) if is_float else len(whole)
    for k in range(count):
        s = slot[k] if slots else 0
        present = not some or valid[k]
        before = kind[s]
        if before == 0:
            # min, max: the first input is the first total.
            if not present:
                kind[s] = 3
            elif is_float:
                kind[s] = 2
                real_total[s] = real[k]
                mark[s] = 1
                at[s] = k
            else:
                kind[s] = 1
                whole_total[s] = whole[k]
                mark[s] = 1
                at[s] = k
        elif not present or before == 3:
            kind[s] = 3
        elif operation >= 2:
            # Totals and inputs are of one kind here.
            if is_float:
                x, y = real_total[s], real[k]
                if x != x or y != y:
                    real_total[s] = np.nan
                elif (y < x) if operation == 2 else (y > x):
                    real_total[s] = y
                    mark[s] = 1
                    at[s] = k
            else:
                a, b = whole_total[s], whole[k]
                if (b < a) if operation == 2 else (b > a):
                    whole_total[s] = b
                    mark[s] = 1
                    at[s] = k
        elif before == 1 and not is_float:
            a, b = whole_total[s], whole[k]
            # Looked at before the step: a compiler may take for granted that nothing overflows.
            if operation == 0:
                if (a > most - b) if b > 0 else (a < least - b):
                    return k
                c = a + b
            else:
                small = -2147483648 <= a <= 2147483647 and -2147483648 <= b <= 2147483647
                if not small and a != 0 and b != 0 and a != 1 and b != 1:
                    if a == least or b == least:
                        return k
                    p, q = abs(a), abs(b)
                    edge = (a < 0) != (b < 0) and most % q == q - 1 and p == most // q + 1
                    if p > most // q and not edge:
                        return k
                c = a * b
            whole_total[s] = c
        else:
            x = float(whole_total[s]) if before == 1 else real_total[s]
            y = real[k] if is_float else float(whole[k])
            z = x + y if operation == 0 else x * y
            if not np.isfinite(z) and np.isfinite(x) and np.isfinite(y):
                return k
            if operation == 1 and z == 0:
                z = 0.0
            kind[s] = 2
            real_total[s] = z
        if operation == 1:
            if not present:
                odd[s] = True
            elif is_float:
                if not np.isfinite(real[k]):
                    odd[s] = True
                elif real[k] == 0 and mark[s] == 0:
                    mark[s] = 1
                    at[s] = k
            elif whole[k] == 0 and mark[s] == 0:
                mark[s] = 1
                at[s] = k
        after = kind[s]
        out_kind[k] = after
        out_whole[k] = whole_total[s] if after == 1 else 0
        out_real[k] = real_total[s] if after == 2 else 0.0
        lost = after == 3 or (after == 2 and real_total[s] != real_total[s])
        if (
            operation == 0
            or mark[s] == 0
            or (operation == 1 and odd[s])
            or (operation > 1 and lost)
        ):
            pick[k] = -1
        elif mark[s] == 2:
            pick[k] = -3
        elif at[s] >= 0:
            pick[k] = at[s]
        else:
            pick[k] = -2
    return -1

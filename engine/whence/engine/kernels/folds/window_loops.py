"""The loops of windows of folds: one total a window, and which input explains it, in runs.

Outputs that one input explains and that are neighbours are one run: its first and last output, and
the row of the input. Outputs in no run are explained by the whole window.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whence.engine.values.jit import jit

__all__ = [
    "fold_windows",
    "holding_windows",
    "steady_arrays",
    "steady_windows",
    "whole_windows",
]


@jit
def holding_windows(
    holds: Any, decisive: bool, ends: Any, n: int, out: Any, lo: Any, hi: Any, place: Any
) -> int:
    """``and``, ``or``: the first decisive input of a window explains it. Return the runs' number.

    Args:
        holds: the conditions, slot by slot.
        decisive: the value that decides.
        ends: the last row of every window.
        n: how wide they are.
        out: the totals.
        lo: the first output of every run.
        hi: the last output of every run.
        place: the row that explains the run.
    """
    following = np.empty(len(holds), np.int64)
    nearest = len(holds)
    for k in range(len(holds) - 1, -1, -1):
        if holds[k] == decisive:
            nearest = k
        following[k] = nearest
    runs = 0
    for w in range(len(ends)):
        found = following[ends[w] - n + 1]
        decided = found <= ends[w]
        out[w] = decisive if decided else not decisive
        if decided:
            if runs > 0 and place[runs - 1] == found and hi[runs - 1] == w - 1:
                hi[runs - 1] = w
            else:
                lo[runs] = w
                hi[runs] = w
                place[runs] = found
                runs += 1
    return runs


@jit
def whole_windows(
    operation: int, values: Any, ends: Any, n: int, out: Any, lo: Any, hi: Any, place: Any
) -> int:
    """Integers that are all present and so small that nothing overflows. Return the runs' number.

    Args:
        operation: 0 add, 1 product, 2 min, 3 max.
        values: the inputs, slot by slot.
        ends: the last row of every window; empty if windows begin at row 0, 1, 2, …
        n: how wide they are.
        out: the totals.
        lo: the first output of every run.
        hi: the last output of every run.
        place: the row that explains the run.
    """
    runs = 0
    last = -1
    steady = len(ends) == 0
    for w in range(len(out)):
        first = w if steady else ends[w] - n + 1
        total = values[first]
        found = -1
        if operation == 0:
            for k in range(first + 1, first + n):
                total += values[k]
        elif operation == 1:
            for k in range(first + 1, first + n):
                total *= values[k]
            if total == 0:
                found = first
                while values[found] != 0:
                    found += 1
        else:
            found = first
            for k in range(first + 1, first + n):
                if (values[k] < total) if operation == 2 else (values[k] > total):
                    total = values[k]
                    found = k
        out[w] = total
        if found >= 0:
            if found == last:
                hi[runs - 1] = w
            else:
                lo[runs] = w
                hi[runs] = w
                place[runs] = found
                runs += 1
        last = found
    return runs


@jit
def steady_windows(
    product: bool,
    before: Any,
    values: Any,
    n: int,
    limit: int,
    out: Any,
    lo: Any,
    hi: Any,
    place: Any,
) -> int:
    """Sums or products of windows that begin at row 0, 1, 2, …, if nothing can overflow.

    Return the runs' number, -1 if something could overflow. Rows are counted from the first event
    of ``before`` on.

    Args:
        product: else the sum.
        before: the events before this batch that windows begin with; fewer than n.
        values: the events of the batch, n at least.
        n: how wide windows are.
        limit: the largest size of an input with which no total overflows.
        out: the totals.
        lo: the first output of every run.
        hi: the last output of every run.
        place: the row that explains the run; with room for one row more than there are.
    """
    least, most = values[0], values[0]
    for k in range(len(values)):
        least = min(least, values[k])
        most = max(most, values[k])
    for k in range(len(before)):
        least = min(least, before[k])
        most = max(most, before[k])
    if least < -limit or most > limit:
        return -1
    early = len(before)
    for w in range(early):
        total = 1 if product else 0
        for k in range(w, w + n):
            x = before[k] if k < early else values[k - early]
            total = total * x if product else total + x
        out[w] = total
    count = len(values) - n + 1
    if not product:
        total = 0
        for k in range(n):
            total += values[k]
        out[early] = total
        comes, goes, rest = values[n:], values[: count - 1], out[early + 1 :]
        for w in range(len(rest)):
            total += comes[w] - goes[w]
            rest[w] = total
        return 0
    # Some windows at a time, so that they stay in the fastest memory.
    for first in range(0, count, 512):
        stop = min(first + 512, count)
        some, factor = out[early + first : early + stop], values[first:stop]
        for w in range(len(some)):
            some[w] = factor[w]
        for j in range(1, n):
            factor = values[first + j : stop + j]
            for w in range(len(some)):
                some[w] *= factor[w]
    if least > 0 or most < 0:
        return 0
    zeros = 0
    for k in range(early):
        place[zeros] = k
        zeros += before[k] == 0
    for k in range(len(values)):
        place[zeros] = early + k
        zeros += values[k] == 0
    # The windows whose first zero is this one lie between the zero before it and itself.
    runs = 0
    free = 0
    last = len(out) - 1
    for k in range(zeros):
        zero = place[k]
        first = max(free, zero - n + 1)
        if first <= last:
            lo[runs] = first
            hi[runs] = min(zero, last)
            runs += 1
        free = zero + 1
    return runs


def steady_arrays(
    product: bool,
    before: Any,
    values: Any,
    n: int,
    limit: int,
    out: Any,
    lo: Any,
    hi: Any,
    place: Any,
) -> int:
    """The same by whole arrays, for where loops are not compiled."""
    inputs = np.concatenate((before, values))
    if int(inputs.min()) < -limit or int(inputs.max()) > limit:
        return -1
    count = len(out)
    out[:] = inputs[:count]
    for k in range(1, n):
        step = np.multiply if product else np.add
        step(out, inputs[k : k + count], out=out)
    zeros = np.flatnonzero(inputs == 0) if product else np.empty(0, np.int64)
    free = np.concatenate(([0], zeros[:-1] + 1))[: len(zeros)]
    first = np.maximum(free, zeros - n + 1)
    chosen = first <= count - 1
    runs = int(chosen.sum())
    lo[:runs], place[:runs] = first[chosen], zeros[chosen]
    hi[:runs] = np.minimum(zeros[chosen], count - 1)
    return runs


@jit
def fold_windows(
    operation: int,
    is_float: bool,
    whole: Any,
    real: Any,
    valid: Any,
    ends: Any,
    n: int,
    start_kind: int,
    start_whole: int,
    start_real: float,
    start_odd: bool,
    start_mark: int,
    out_kind: Any,
    out_whole: Any,
    out_real: Any,
    pick: Any,
) -> int:
    """Any numbers, every step checked; return the window that is refused, -1 if there is none.

    Args:
        operation: 0 add, 1 product, 2 min, 3 max.
        is_float: whether the inputs are in ``real``, not in ``whole``.
        whole: the inputs if they are integers, slot by slot.
        real: the inputs if they are floats.
        valid: which are present; empty if all are.
        ends: the last row of every window.
        n: how wide they are.
        start_kind: what a window begins with: 0 its first input, else see `folds`.
        start_whole: the integer.
        start_real: the float.
        start_odd: whether that alone keeps a zero from deciding.
        start_mark: 2 if it needs no explanation, else 0.
        out_kind: the kind of every total.
        out_whole: the total, if it is an integer.
        out_real: the total, if it is a float.
        pick: the row that explains it, -1 for the whole window, -3 for nothing.
    """
    some = len(valid) > 0
    most = 9223372036854775807
    least = -most - 1
    for w in range(len(ends)):
        kind, total, wide = start_kind, start_whole, start_real
        odd, mark, found = start_odd, start_mark, -1
        for k in range(ends[w] - n + 1, ends[w] + 1):
            present = not some or valid[k]
            if kind == 0:
                if not present:
                    kind = 3
                else:
                    mark = 1
                    found = k
                    if is_float:
                        kind = 2
                        wide = real[k]
                    else:
                        kind = 1
                        total = whole[k]
            elif not present or kind == 3:
                kind = 3
            elif operation >= 2:
                if is_float:
                    if wide != wide or real[k] != real[k]:
                        wide = np.nan
                    elif (real[k] < wide) if operation == 2 else (real[k] > wide):
                        wide = real[k]
                        mark = 1
                        found = k
                elif (whole[k] < total) if operation == 2 else (whole[k] > total):
                    total = whole[k]
                    mark = 1
                    found = k
            elif kind == 1 and not is_float:
                b = whole[k]
                # Looked at before the step, as in `folds`.
                if operation == 0:
                    if (total > most - b) if b > 0 else (total < least - b):
                        return w
                    c = total + b
                else:
                    small = -2147483648 <= total <= 2147483647 and -2147483648 <= b <= 2147483647
                    if not small and total != 0 and b != 0 and total != 1 and b != 1:
                        if total == least or b == least:
                            return w
                        p, q = abs(total), abs(b)
                        opposed = (total < 0) != (b < 0)
                        edge = opposed and most % q == q - 1 and p == most // q + 1
                        if p > most // q and not edge:
                            return w
                    c = total * b
                total = c
            else:
                x = float(total) if kind == 1 else wide
                y = real[k] if is_float else float(whole[k])
                z = x + y if operation == 0 else x * y
                if not np.isfinite(z) and np.isfinite(x) and np.isfinite(y):
                    return w
                wide = 0.0 if operation == 1 and z == 0 else z
                kind = 2
            if operation == 1:
                if not present or (is_float and not np.isfinite(real[k])):
                    odd = True
                elif (real[k] == 0 if is_float else whole[k] == 0) and mark == 0:
                    mark = 1
                    found = k
        out_kind[w] = kind
        out_whole[w] = total if kind == 1 else 0
        out_real[w] = wide if kind == 2 else 0.0
        lost = kind == 3 or (kind == 2 and wide != wide)
        if operation == 0 or mark == 0 or (operation == 1 and odd) or (operation > 1 and lost):
            pick[w] = -1
        elif mark == 2:
            pick[w] = -3
        else:
            pick[w] = found
    return -1

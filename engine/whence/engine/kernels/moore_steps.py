"""The steps of a state machine: one event after the other, or round by round.

Where loops are not compiled, the first event of every slot is one round, the second the next:
within a round no slot is met twice, so that all its events can step at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.fronts import ranks
from whence.engine.values.jit import is_compiled, jit

__all__ = ["step", "step_by_step", "step_in_rounds"]

Bytes = npt.NDArray[np.int32]

_WORTH = 64
"""So many events a round, on average, or one event after the other is faster."""


def step(slot: Ints, *rest: Any) -> tuple[int, bool]:
    """A step for every event, the way that is faster; see `step_by_step`."""
    if is_compiled(len(slot)) or len(slot) < _WORTH * int(np.bincount(slot).max(initial=1)):
        return step_by_step(slot, *rest)
    return step_in_rounds(slot, *rest)


@jit
def step_by_step(
    slot: Ints,
    holds: Bools,
    elements: Ints,
    guard_of: Bytes,
    target_of: Bytes,
    trap: Bools,
    state: Bytes,
    came: npt.NDArray[Any],
    element: Ints,
    reached: Bytes,
    tried: Bytes,
    parent: Ints,
    prior: Ints,
    met: Bools,
) -> tuple[int, bool]:
    """A step for every event.

    A slot holds, for every state on the loop-free way to the present one, from which state and by
    which element it came there; each one more than it is, so that 0 says none. The initial state
    is on every way and came from nowhere: in its place is the last element of the slot.

    Returns:
        The first row that has nowhere to go, else -1, with the state there in ``reached``; and
        whether any row builds on another element than the one before it.
    """
    # Places have no sign: with one the loop asks each time whether it counts from the end.
    tracked = len(tried) > 0
    none, one, width = np.uint64(0), np.uint64(1), np.uint64(guard_of.shape[1])
    differ = False
    for row in range(len(slot)):
        s = np.uint64(slot[row])
        here = np.uint64(state[s])
        tries = none
        guard = guard_of[here, tries]
        while guard >= 0 and not holds[np.uint64(guard), np.uint64(row)]:
            tries += one
            guard = guard_of[here, tries]
        found = target_of[here, tries]
        if found < 0:
            reached[row] = here
            return row, differ
        to = np.uint64(found)
        state[s] = to
        reached[row] = to
        if tracked:
            if guard >= 0:
                tries += one
            pair = here * width + tries
            tried[row] = pair
            met[pair] = True
            before = element[s, none]
            builds = element[s, here] if here != none else np.int64(0)
            prior[row] = before - 1
            parent[row] = builds - 1
            differ |= before != builds
            own = elements[row] + 1
            if not trap[here]:
                element[s, none] = own
            if to == none or came[s, to] > 0:
                # Back to a state on the way: what lies between is a loop.
                at = here
                while at != to:
                    back = np.uint64(came[s, at]) - one
                    came[s, at] = 0
                    at = back
            else:
                came[s, to] = here + one
                element[s, to] = own
    return -1, differ


def step_in_rounds(
    slot: Ints,
    holds: Bools,
    elements: Ints,
    guard_of: Bytes,
    target_of: Bytes,
    trap: Bools,
    state: Bytes,
    came: npt.NDArray[Any],
    element: Ints,
    reached: Bytes,
    tried: Bytes,
    parent: Ints,
    prior: Ints,
    met: Bools,
) -> tuple[int, bool]:
    """A step for every event; arguments and result as those of the loop."""
    width = guard_of.shape[1]
    failed = len(slot)
    differ = False
    rank = ranks(slot)
    order = np.argsort(rank, kind="stable")
    ends = np.cumsum(np.bincount(rank))
    for rows in np.split(order, ends[:-1]):
        s = slot[rows]
        here = state[s]
        tries = _tries(guard_of, here, holds, rows)
        to = target_of[here, tries]
        reached[rows] = np.where(to < 0, here, to)
        if bool((to < 0).any()):
            failed = min(failed, int(rows[to < 0].min()))
            on = (to >= 0) & (rows < failed)
            rows, s, here, tries, to = rows[on], s[on], here[on], tries[on], to[on]
        state[s] = to
        if not len(tried):
            continue
        pair = here * width + tries + (guard_of[here, tries] >= 0)
        tried[rows] = pair
        met[pair] = True
        before = element[s, 0] - 1
        builds = np.where(here > 0, element[s, here] - 1, -1)
        prior[rows], parent[rows] = before, builds
        differ = differ or bool((before != builds).any())
        _follow(s, here, to, elements[rows], trap, came, element)
    return (failed if failed < len(slot) else -1), differ


def _tries(guard_of: Bytes, here: Bytes, holds: Bools, rows: Ints) -> Ints:
    """How many guards failed before one held, or before there was none left."""
    tries = np.zeros(len(rows), np.int64)
    left = np.arange(len(rows))
    while len(left):
        guard = guard_of[here[left], tries[left]]
        left = left[(guard >= 0) & ~holds[guard, rows[left]]]
        tries[left] += 1
    return tries


def _follow(
    s: Ints,
    here: Bytes,
    to: Bytes,
    elements: Ints,
    trap: Bools,
    came: npt.NDArray[Any],
    element: Ints,
) -> None:
    """Keep the loop-free way to the present state of every slot."""
    free = ~trap[here]
    element[s[free], 0] = elements[free] + 1
    back = (to == 0) | (came[s, to] > 0)
    fresh = ~back
    came[s[fresh], to[fresh]] = here[fresh] + 1
    element[s[fresh], to[fresh]] = elements[fresh] + 1
    # Back to a state on the way: what lies between is a loop.
    s, at, to = s[back], here[back].astype(np.int64), to[back]
    while len(s):
        inside = at != to
        s, at, to = s[inside], at[inside], to[inside]
        before = came[s, at].astype(np.int64) - 1
        came[s, at] = 0
        at = before

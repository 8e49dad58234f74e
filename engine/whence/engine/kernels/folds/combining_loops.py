"""The loops of numbers over slices: what changed is taken in row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from whence.engine.values.jit import jit

__all__ = ["fold_floats", "fold_integers", "link_slices", "pick_best", "replant"]


@jit
def link_slices(
    start: int, owners: Any, product: bool, after: Any, prior: Any, newest: Any, prefix: Any
) -> None:
    """Link new slices to those of their outer slot; all are counted from 1, 0 says none.

    Args:
        start: the number of the first new slice.
        owners: the outer slot of each.
        product: what a fold begins with: 1, not 0.
        after: the next slice of the same outer slot.
        prior: the one before.
        newest: the last slice of every outer slot.
        prefix: the fold of all slices up to each.
    """
    for number in range(len(owners)):
        slot, owner = start + number, owners[number]
        before = newest[owner]
        prior[slot] = before
        if before > 0:
            after[before - 1] = slot + 1
            prefix[slot] = prefix[before - 1]
        else:
            prefix[slot] = 1.0 if product else 0.0
        newest[owner] = slot + 1


@jit
def fold_integers(
    product: bool,
    outers: Any,
    change_row: Any,
    change_slot: Any,
    headed: Any,
    given: Any,
    data: Any,
    speaks: Any,
    zero: Any,
    after: Any,
    first: Any,
    speaking: Any,
    total: Any,
    weight: Any,
    values: Any,
    pick: Any,
    counted: Any,
) -> int:
    """Add or multiply integers; return the row that comes near an overflow, else their number.

    The totals of ``add`` stand in ``total``, and the sums of magnitudes in ``weight``; of
    ``product`` the products of all that are not zero, less 1, stand in ``total``.
    """
    # Far enough below the largest integer for any two of these to be added.
    most = 2305843009213693952
    at = 0
    for row in range(len(outers)):
        near = False
        while at < len(change_row) and change_row[at] == row:
            if headed[at]:
                slot = change_slot[at]
                owner = outers[row]
                new = given[at]
                old = data[slot]
                spoke = speaks[slot]
                data[slot] = new
                if not spoke:
                    speaks[slot] = True
                    speaking[owner] += 1
                if near or new < -most or new > most:
                    near = True
                elif not product:
                    if spoke:
                        total[owner] -= old
                        weight[owner] -= abs(old)
                    weight[owner] += abs(new)
                    total[owner] += new
                    near = weight[owner] > most
                else:
                    held = total[owner] + 1
                    if spoke and old != 0:
                        held //= old
                    if new != 0:
                        if abs(held) > most // abs(new):
                            near = True
                        else:
                            held *= new
                    total[owner] = held - 1
                    if new == 0 and not zero[slot]:
                        zero[slot] = True
                        if first[owner] == 0 or slot + 1 < first[owner]:
                            first[owner] = slot + 1
                    elif zero[slot] and new != 0:
                        zero[slot] = False
                        if first[owner] == slot + 1:
                            following = after[slot]
                            while following > 0 and not zero[following - 1]:
                                following = after[following - 1]
                            first[owner] = following
            at += 1
        if near:
            return row
        owner = outers[row]
        counted[row] = speaking[owner]
        pick[row] = -1
        if speaking[owner] == 0:
            pick[row] = -2
        elif product and first[owner] > 0:
            pick[row] = first[owner] - 1
        if not product:
            values[row] = total[owner]
        else:
            values[row] = 0 if first[owner] > 0 else total[owner] + 1
    return len(outers)


@jit
def fold_floats(
    product: bool,
    outers: Any,
    change_row: Any,
    change_slot: Any,
    headed: Any,
    given: Any,
    data: Any,
    speaks: Any,
    zero: Any,
    after: Any,
    first: Any,
    speaking: Any,
    prior: Any,
    prefix: Any,
    newest: Any,
    values: Any,
    pick: Any,
    counted: Any,
) -> int:
    """Add or multiply floats from left to right; return the row that is not finite, if any.

    Rounding depends on the order, so that all slices after a changed one are folded again.
    """
    at = 0
    for row in range(len(outers)):
        owner = outers[row]
        stale = -1
        odd = False
        while at < len(change_row) and change_row[at] == row:
            if headed[at]:
                slot = change_slot[at]
                new = given[at]
                data[slot] = new
                if not speaks[slot]:
                    speaks[slot] = True
                    speaking[owner] += 1
                if not np.isfinite(new):
                    odd = True
                if stale < 0 or slot < stale:
                    stale = slot
                if product:
                    if new == 0 and not zero[slot]:
                        zero[slot] = True
                        if first[owner] == 0 or slot + 1 < first[owner]:
                            first[owner] = slot + 1
                    elif zero[slot] and new != 0:
                        zero[slot] = False
                        if first[owner] == slot + 1:
                            following = after[slot]
                            while following > 0 and not zero[following - 1]:
                                following = after[following - 1]
                            first[owner] = following
            at += 1
        if stale >= 0 and not odd:
            fold = 1.0 if product else 0.0
            if prior[stale] > 0:
                fold = prefix[prior[stale] - 1]
            following = stale + 1
            while following > 0:
                slot = following - 1
                if speaks[slot]:
                    fold = fold * data[slot] if product else fold + data[slot]
                    if fold == 0:
                        fold = 0.0
                    if not np.isfinite(fold):
                        odd = True
                        break
                prefix[slot] = fold
                following = after[slot]
        if odd:
            return row
        counted[row] = speaking[owner]
        pick[row] = -1
        if speaking[owner] == 0:
            pick[row] = -2
        elif product and first[owner] > 0:
            pick[row] = first[owner] - 1
        values[row] = 0.0
        if newest[owner] > 0:
            values[row] = prefix[newest[owner] - 1]
    return len(outers)


@jit
def replant(
    owners: Any,
    rooms: Any,
    bases: Any,
    room: Any,
    base: Any,
    tree: Any,
    data: Any,
    smallest: bool,
) -> None:
    """Move the trees of some outer slots to where they have room for more leaves.

    Args:
        owners: the outer slots.
        rooms: how many leaves each needs, a power of two.
        bases: where its tree begins from now on.
        room: how many leaves each outer slot's tree has.
        base: where it begins.
        tree: all trees; a node names its slot, counted from 1.
        data: the values of the slots.
        smallest: whether the smaller one of two is the better one.
    """
    for number in range(len(owners)):
        owner = owners[number]
        old, leaves = base[owner], room[owner]
        new, more = bases[number], rooms[number]
        for leaf in range(leaves):
            tree[new + more + leaf] = tree[old + leaves + leaf]
        for node in range(more - 1, 0, -1):
            left, right = tree[new + 2 * node], tree[new + 2 * node + 1]
            best = left
            if left == 0:
                best = right
            elif right > 0:
                x, y = data[left - 1], data[right - 1]
                if (y < x) if smallest else (y > x):
                    best = right
            tree[new + node] = best
        base[owner], room[owner] = new, more


@jit
def pick_best(
    smallest: bool,
    outers: Any,
    change_row: Any,
    change_slot: Any,
    headed: Any,
    given: Any,
    data: Any,
    speaks: Any,
    leaf_of: Any,
    base: Any,
    room: Any,
    tree: Any,
    values: Any,
    pick: Any,
) -> None:
    """Let every changed slice meet its neighbours again; the first of the best is picked."""
    at = 0
    for row in range(len(outers)):
        owner = outers[row]
        root = base[owner]
        while at < len(change_row) and change_row[at] == row:
            if headed[at]:
                slot = change_slot[at]
                data[slot] = given[at]
                speaks[slot] = True
                node = room[owner] + leaf_of[slot]
                tree[root + node] = slot + 1
                node //= 2
                while node > 0:
                    left, right = tree[root + 2 * node], tree[root + 2 * node + 1]
                    best = left
                    if left == 0:
                        best = right
                    elif right > 0:
                        x, y = data[left - 1], data[right - 1]
                        if (y < x) if smallest else (y > x):
                            best = right
                    tree[root + node] = best
                    node //= 2
            at += 1
        found = tree[root + 1] if room[owner] > 0 else 0
        pick[row] = found - 1 if found > 0 else -2
        if found > 0:
            values[row] = data[found - 1]

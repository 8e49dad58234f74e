"""Items of several blocks as one: in the order of their outputs, each said once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from whence.engine.lineage.positions import Bools, Ints, places_in_order
from whence.engine.values.jit import is_compiled, jit

if TYPE_CHECKING:
    from whence.engine.lineage.block import Block

__all__ = ["in_order", "joined_arrays"]


def joined_arrays(blocks: Sequence[Block], *, zones: bool) -> list[Ints]:
    """The outputs, more, inputs and widths of blocks that differ in nothing else.

    Args:
        blocks: at least one.
        zones: whether they are zones, of which one may be said to be open and to have ended, too.
    """
    names = ("outputs", "more", "inputs", "width")
    arrays = [np.concatenate([getattr(block, name) for block in blocks]) for name in names]
    if len(blocks) == 1:
        arrays = [getattr(blocks[0], name) for name in names]
    outputs = arrays[0]
    if not bool((outputs[1:] >= outputs[:-1]).all()):
        arrays = _taken(arrays, in_order(outputs))
    if zones:
        kept = np.ones(len(outputs), np.bool_)
        if _ended(arrays[0], arrays[1], arrays[2], kept):
            arrays = _taken(arrays, np.flatnonzero(kept))
    return arrays


def _taken(arrays: Sequence[Ints], places: Ints) -> list[Ints]:
    *most, width = arrays
    return [
        *(array[places] for array in most),
        width[places] if width.any() else width[: len(places)],
    ]


def in_order(numbers: Ints) -> Ints:
    """The places of numbers from the smallest to the largest, equal ones as they stand.

    >>> in_order(np.array([7, 5, 7, 6]))
    array([1, 3, 0, 2])
    """
    count = len(numbers)
    if not is_compiled(count):
        return places_in_order(numbers)
    # Most lie near the largest: they are counted. What lies far below is sorted.
    places = np.empty(count, np.int64)
    near = int(numbers.max(initial=0)) - 4 * count
    far = _counted(numbers, near, np.zeros(4 * count + 2, np.int64), places)
    places[:far] = places[:far][places_in_order(numbers[places[:far]])]
    return places


@jit
def _counted(numbers: Ints, near: int, room: Ints, places: Ints) -> int:
    """Places in order, first all of the numbers before ``near`` as they stand; how many these are.

    There is room for every number from ``near`` on, and for one more.
    """
    for place in range(len(numbers)):
        room[max(numbers[place] - near + 1, 0)] += 1
    far = room[0]
    before = 0
    for number in range(len(room)):
        here = room[number]
        room[number] = before
        before += here
    for place in range(len(numbers)):
        number = max(numbers[place] - near + 1, 0)
        places[room[number]] = place
        room[number] += 1
    return int(far)


@jit
def _ended(outputs: Ints, more: Ints, inputs: Ints, kept: Bools) -> int:
    """Which zones that are said to be open are said to have ended, too; return how many.

    Outputs are in order, so that the two stand near each other: they begin at the same one.
    """
    count = 0
    first = 0
    for item in range(len(outputs)):
        if outputs[item] != outputs[first]:
            first = item
        if more[item] >= 0:
            continue
        other = first
        while other < len(outputs) and outputs[other] == outputs[item]:
            if more[other] >= 0 and inputs[other] == inputs[item]:
                kept[item] = False
                count += 1
                break
            other += 1
    return count

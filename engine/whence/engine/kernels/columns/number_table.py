"""A table of keys that are numbers: which slot each has, in each outer slot."""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.values.jit import jit

__all__ = ["NumberTable"]

_SMALLEST = 2**10
_NO_OWNERS: Ints = np.zeros(0, np.int64)


class NumberTable:
    """Keys by their hash, open-addressed and at most half full.

    >>> table = NumberTable()
    >>> found, first = table.number(None, np.array([7, 5, 7, 9]), 10)
    >>> found.tolist(), first.tolist(), table.find(0, 9), table.find(0, 8)
    ([10, 11, 10, 12], [0, 1, 3], 12, -1)
    """

    __slots__ = ("_keys", "_owners", "_slots", "_used")

    def __init__(self) -> None:
        self._used = 0
        self._owners, self._keys, self._slots = _empty(_SMALLEST)

    def number(self, owners: Ints | None, keys: Ints, first_free: int) -> tuple[Ints, Ints]:
        """The slots of some keys; new ones get the next free numbers.

        Args:
            owners: the outer slot of each; ``None`` if there is only one.
            keys: the keys.
            first_free: the first number that no slot has.

        Returns:
            The slot of each, and where each new one was first met.
        """
        outer = _NO_OWNERS if owners is None else owners
        found, firsts = np.empty((2, len(keys)), np.int64)
        row, new = 0, 0
        while True:
            table = (self._owners, self._keys, self._slots)
            row, more = _number(
                outer, keys, row, first_free, new, self._used, *table, found, firsts
            )
            self._used += more - new
            new = more
            if row == len(keys):
                return found, firsts[:new].copy()
            self._double()

    def missing(self, owners: Ints | None, keys: Ints) -> Ints:
        """The rows whose keys have no slot."""
        outer = _NO_OWNERS if owners is None else owners
        found = np.empty(len(keys), np.int64)
        _look(outer, keys, self._owners, self._keys, self._slots, found)
        return np.flatnonzero(found < 0)

    def find(self, owner: int, key: int) -> int:
        """The slot of a key; -1 if it has none."""
        found = np.empty(1, np.int64)
        table = (self._owners, self._keys, self._slots)
        _look(np.array([owner], np.int64), np.array([key], np.int64), *table, found)
        return int(found[0])

    def put(self, owner: int, key: int, slot: int) -> None:
        """Give a key that has none a slot."""
        self.number(np.array([owner], np.int64), np.array([key], np.int64), slot)

    def _double(self) -> None:
        old = (self._owners, self._keys, self._slots)
        self._owners, self._keys, self._slots = _empty(2 * len(self._slots))
        _spread(*old, self._owners, self._keys, self._slots)


def _empty(size: int) -> tuple[Ints, Ints, Ints]:
    return np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)


@jit
def _number(
    outer: Ints,
    keys: Ints,
    row: int,
    first_free: int,
    new: int,
    used: int,
    owners: Ints,
    known: Ints,
    slots: Ints,
    found: Ints,
    firsts: Ints,
) -> tuple[int, int]:
    """Number keys from a row on; return the row that finds no room, and how many are new.

    In the table slots are counted from 1: 0 says that a place is free.
    """
    mask = np.uint64(len(slots) - 1)
    one, half = np.uint64(1), np.uint64(32)
    by, also = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
    room = len(slots) // 2 - used + new
    for k in range(row, len(keys)):
        owner = outer[k] if len(outer) > 0 else 0
        mixed = (np.uint64(keys[k]) ^ (np.uint64(owner) * also)) * by
        mixed = (mixed ^ (mixed >> half)) * by
        at = (mixed >> half) & mask
        while slots[at] != 0 and (known[at] != keys[k] or owners[at] != owner):
            at = (at + one) & mask
        if slots[at] == 0:
            if new >= room:
                return k, new
            known[at] = keys[k]
            owners[at] = owner
            firsts[new] = k
            new += 1
            slots[at] = first_free + new
        found[k] = slots[at] - 1
    return len(keys), new


@jit
def _look(outer: Ints, keys: Ints, owners: Ints, known: Ints, slots: Ints, found: Ints) -> None:
    """The slots of some keys; -1 for those that have none."""
    mask = np.uint64(len(slots) - 1)
    one, half = np.uint64(1), np.uint64(32)
    by, also = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
    for k in range(len(keys)):
        owner = outer[k] if len(outer) > 0 else 0
        mixed = (np.uint64(keys[k]) ^ (np.uint64(owner) * also)) * by
        mixed = (mixed ^ (mixed >> half)) * by
        at = (mixed >> half) & mask
        while slots[at] != 0 and (known[at] != keys[k] or owners[at] != owner):
            at = (at + one) & mask
        found[k] = slots[at] - 1


@jit
def _spread(
    owners: Ints, known: Ints, slots: Ints, more_owners: Ints, more_known: Ints, more_slots: Ints
) -> None:
    """Take all keys over into a table that is twice as long."""
    mask = np.uint64(len(more_slots) - 1)
    one, half = np.uint64(1), np.uint64(32)
    by, also = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
    for place in range(len(slots)):
        if slots[place] != 0:
            mixed = (np.uint64(known[place]) ^ (np.uint64(owners[place]) * also)) * by
            mixed = (mixed ^ (mixed >> half)) * by
            at = (mixed >> half) & mask
            while more_slots[at] != 0:
                at = (at + one) & mask
            more_known[at] = known[place]
            more_owners[at] = owners[place]
            more_slots[at] = slots[place]

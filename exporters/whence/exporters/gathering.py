"""Relations in columns, gathered until all statements about the same places are together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Generic, TypeVar

import numpy as np

from whence.engine.lineage.positions import Ints
from whence.exporters.marks import Marks

__all__ = ["Gathered"]

Key = TypeVar("Key")

_MOST = 62
"""Number of kinds of marks that fit into the bits of one number."""


class Gathered(Generic[Key]):
    """Rows of numbers by what they are; each row says where, its marks what else.

    Repeated statements about one row become one, with the union of their marks.
    """

    def __init__(self) -> None:
        self._found: dict[Key, dict[Marks, list[tuple[Ints, ...]]]] = {}

    def add(self, key: Key, marks: Marks, *columns: Ints) -> None:
        """Take rows with the same statements."""
        if len(columns[0]):
            self._found.setdefault(key, {}).setdefault(marks, []).append(columns)

    def each(self) -> Iterator[tuple[Key, Marks, tuple[Ints, ...]]]:
        """All of them, each once, in the order of their numbers."""
        for key, by_marks in self._found.items():
            for marks, columns in _once(by_marks):
                yield key, marks, columns


def _once(
    by_marks: dict[Marks, list[tuple[Ints, ...]]],
) -> Iterator[tuple[Marks, tuple[Ints, ...]]]:
    known = list(by_marks)
    several = [some for pieces in by_marks.values() for some in pieces]
    columns = tuple(np.concatenate(column) for column in zip(*several, strict=True))
    counts = [sum(len(some[0]) for some in pieces) for pieces in by_marks.values()]
    which = np.repeat(np.arange(len(known)), counts)
    order = np.lexsort(columns[::-1])
    columns, which = tuple(column[order] for column in columns), which[order]
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    if not new.all():
        if len(known) > _MOST:  # the last ones together, if ever there are so many
            which = np.minimum(which, _MOST - 1)
            known[_MOST - 1 :] = [reduce(Marks.also, known[_MOST - 1 :])]
        bits = np.bitwise_or.reduceat(np.int64(1) << which, np.flatnonzero(new))
        columns = tuple(column[new] for column in columns)
        found, which = np.unique(bits, return_inverse=True)
        known = [
            reduce(Marks.also, (m for n, m in enumerate(known) if bit >> n & 1))
            for bit in found.tolist()
        ]
    for number, marks in enumerate(known):
        chosen = which == number
        if chosen.all():
            yield marks, columns
        elif chosen.any():
            yield marks, tuple(column[chosen] for column in columns)

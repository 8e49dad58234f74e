"""Items of blocks, gathered until all that is said of the same places is together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce

import numpy as np

from whence.engine.lineage.block import Block
from whence.engine.lineage.positions import Ints
from whence.exporters.marks import Marks

__all__ = ["said_together"]

_MOST = 62
"""Number of kinds of marks that fit into the bits of one number."""


def said_together(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same items, those of one kind in the order of their numbers.

    What is said of the same places several times is said once, with the marks taken together.
    """
    found: dict[object, dict[Marks, list[Block]]] = {}
    for block in blocks:
        if len(block):
            key = block.kind, block.relation, block.to, block.sa, block.sb
            found.setdefault(key, {}).setdefault(Marks.of(block), []).append(block)
    for by_marks in found.values():
        one = next(iter(by_marks.values()))[0]
        told: dict[Marks, list[tuple[Ints, ...]]] = {
            marks: [(b.outputs, b.more, b.inputs, b.width) for b in several]
            for marks, several in by_marks.items()
        }
        for marks, columns in _once(told):
            yield replace(one.of(*columns), **marks._asdict())


def _once(
    by_marks: dict[Marks, list[tuple[Ints, ...]]],
) -> Iterator[tuple[Marks, tuple[Ints, ...]]]:
    known = list(by_marks)
    several = [some for pieces in by_marks.values() for some in pieces]
    columns = tuple(np.concatenate(column) for column in zip(*several, strict=True))
    counts = [sum(len(some[0]) for some in pieces) for pieces in by_marks.values()]
    which = np.repeat(np.arange(len(known)), counts)
    order = np.lexsort([column for column in columns[::-1] if column.any()] or columns)
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

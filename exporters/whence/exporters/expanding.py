"""Ranges written out: every pair of output and input by itself, some outputs at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from whence.engine.lineage.heads import HeadZones
from whence.engine.lineage.positions import Ints, flat_ranges
from whence.exporters.gathering import Gathered
from whence.exporters.marks import Marks
from whence.exporters.pairs import Told

__all__ = ["Leads", "expanded", "pairs_of"]

_AT_ONCE = 200_000
"""About this many pairs are made at once; those of one output always together."""


class Leads(NamedTuple):
    """Single outputs, each with the positions lo..hi of one stream that it is derived from."""

    relation: str
    marks: Marks
    output: Ints
    lo: Ints
    hi: Ints

    @property
    def size(self) -> int:
        """How many pairs they are."""
        return int((self.hi - self.lo + 1).sum())


def pairs_of(leads: Leads) -> tuple[Ints, Ints]:
    inputs, which = flat_ranges(leads.lo, leads.hi - leads.lo + 1)
    return leads.output[which], inputs


def expanded(several: list[Leads], heads: HeadZones | None) -> Iterator[list[Told]]:
    """All pairs of leads into one stream, each once, those of some outputs at a time.

    Args:
        several: the leads.
        heads: the heads that positions of the stream represent, if it has no events.
    """
    ordered = [_sorted(leads) for leads in several]
    outputs = np.unique(np.concatenate([leads.output for leads in ordered]))
    sizes = np.zeros(len(outputs), np.int64)
    for leads in ordered:
        each = leads.hi - leads.lo + 1
        if heads is not None:
            each = np.full(len(leads.output), max(1, len(heads.lo) // max(1, len(outputs))))
        np.add.at(sizes, np.searchsorted(outputs, leads.output), each)
    piece = np.cumsum(sizes) // _AT_ONCE
    starts = np.flatnonzero(np.diff(piece, prepend=-1))
    for first, after in zip(starts, [*starts[1:], len(outputs)], strict=True):
        lowest, highest = outputs[first], outputs[after - 1]
        found: Gathered[str] = Gathered()
        for leads in ordered:
            begin = np.searchsorted(leads.output, lowest)
            end = np.searchsorted(leads.output, highest, side="right")
            some = Leads(leads.relation, leads.marks, *(array[begin:end] for array in leads[2:]))
            pairs = pairs_of(some)
            found.add(
                leads.relation, leads.marks, *(pairs if heads is None else heads.pairs(*pairs))
            )
        yield [(relation, marks, pairs[0], pairs[1]) for relation, marks, pairs in found.each()]


def _sorted(leads: Leads) -> Leads:
    order = np.argsort(leads.output, kind="stable")
    return Leads(leads.relation, leads.marks, *(array[order] for array in leads[2:]))

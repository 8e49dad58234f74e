"""Where rows lead: intervals of positions on streams of the record, for any number of rows at once.

An entry says that a row leads to the positions lo..hi of a target, and which of their fields
matter. Targets and field sets are numbered by a `Names`, one for the whole run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.lineage.positions import flat_ranges

__all__ = ["ASKED", "NONE", "PRESENCE", "WHOLE", "Entries", "Names", "flat_ranges", "join_entries"]

ASKED = -1
"""The fields that whoever reads the row asks for: it is a copy, or the input itself."""
WHOLE = 0
"""The whole event."""
PRESENCE = 1
"""Only that the event is there."""


class Names:
    """Numbers for targets (logs and kept streams) and for sets of fields."""

    __slots__ = ("_fields", "_targets", "fields", "plain", "targets")

    def __init__(self) -> None:
        """Begin with the two field sets that always exist."""
        self.targets: list[str] = []
        self._targets: dict[str, int] = {}
        self.fields: list[frozenset[str] | None] = [None, frozenset()]
        self._fields: dict[frozenset[str] | None, int] = {None: WHOLE, frozenset(): PRESENCE}
        self.plain: set[int] = set()

    def target(self, name: str) -> int:
        """The number of a log or stream."""
        found = self._targets.get(name)
        if found is None:
            found = self._targets[name] = len(self.targets)
            self.targets.append(name)
        return found

    def field_set(self, fields: frozenset[str] | None) -> int:
        """The number of a set of fields; ``None`` is the whole event."""
        found = self._fields.get(fields)
        if found is None:
            found = self._fields[fields] = len(self.fields)
            self.fields.append(fields)
        return found


class Entries(NamedTuple):
    """Rows and where they lead, as parallel arrays.

    Attributes:
        row: the row, numbered among those that were asked about.
        target: the stream, by number.
        fields: the fields that matter, by number.
        lo: the first position.
        hi: the last one.
    """

    row: Ints
    target: Ints
    fields: Ints
    lo: Ints
    hi: Ints

    def where(self, chosen: Bools | Ints) -> Entries:
        """Some of the entries."""
        return Entries(*(array[chosen] for array in self))

    def rows(self, row: Ints) -> Entries:
        """The same entries of other rows."""
        return self._replace(row=row)

    def by_kind(self) -> Iterator[Entries]:
        """Those of each target and field set that there is, in order of these."""
        kinds = self.target * (int(self.fields.max(initial=0)) + 2) + self.fields + 1
        known = np.flatnonzero(np.bincount(kinds)).tolist()
        for kind in known:
            yield self if len(known) == 1 else self.where(kinds == kind)

    def sorted(self) -> Entries:
        """By row, then target, fields and position; doubles left out, neighbours joined."""
        order = np.lexsort((self.lo, self.fields, self.target, self.row))
        return self.where(order).joined()

    def joined(self) -> Entries:
        """Neighbours whose intervals overlap or touch, of the same row, target and fields, as one.

        >>> row, lo = np.array([0, 0, 1, 0, 0]), np.array([4, 5, 6, 9, 8])
        >>> Entries(row, row * 0, row * 0, lo, lo).joined().lo
        array([4, 6, 9, 8])
        """
        row, target, fields, lo, hi = self
        count = len(row)
        if not count:
            return self
        same = np.empty(count, np.bool_)
        same[0] = False
        same[1:] = (row[1:] == row[:-1]) & (lo[1:] >= lo[:-1])
        same[1:] &= (target[1:] == target[:-1]) & (fields[1:] == fields[:-1])
        if not same.any():
            return self
        # In a group, how far the intervals before have come; groups are kept apart by an offset.
        group = np.cumsum(~same)
        width = int(hi.max()) - int(lo.min()) + 3
        shift = (group - 1) * width
        reach = np.maximum.accumulate(hi + shift)
        begins = np.ones(count, np.bool_)
        begins[1:] = ~same[1:] | (lo[1:] + shift[1:] > reach[:-1] + 1)
        starts = np.flatnonzero(begins)
        ends = np.append(starts[1:], count) - 1
        found = (row[starts], target[starts], fields[starts], lo[starts])
        return Entries(*found, (reach - shift)[ends])


_NO_INTS: Ints = np.empty(0, np.int64)
NONE = Entries(_NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS)


def join_entries(parts: Iterable[Entries]) -> Entries:
    """All entries of several parts, one part after the other."""
    filled: Sequence[Entries] = [part for part in parts if len(part.row)]
    if not filled:
        return NONE
    if len(filled) == 1:
        return filled[0]
    return Entries(*(np.concatenate(arrays) for arrays in zip(*filled, strict=True)))

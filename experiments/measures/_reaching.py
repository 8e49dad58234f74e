"""How many input events explain an output, counted output by output over a whole record.

`AssociationIndex.up` says the same and looks at every row of a stream for every step; for outputs
that thousands of events explain, one looks rows up by their place instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from whence.engine.associations import LOG_PREFIX, Association, AssociationIndex

__all__ = ["Reaching"]

FOLLOWED = ("explains", "trigger")


class _Rows(NamedTuple):
    """The rows of a stream: those of one output by its place, and those of several."""

    single: dict[int, list[Association]]
    wide: list[Association]
    lo: np.ndarray
    hi: np.ndarray

    def of(self, position: int) -> list[Association]:
        found = np.flatnonzero((self.lo <= position) & (position <= self.hi))
        return [*self.single.get(position, ()), *(self.wide[each] for each in found)]


class Reaching:
    """The associations of a run.

    Args:
        index: its rows.
        lengths: how many events each log has.
    """

    def __init__(self, index: AssociationIndex, lengths: Mapping[str, int]) -> None:
        """Sort the rows by their place."""
        self._lengths = lengths
        self._streams = {name: self._sorted(rows) for name, rows in index.by_stream.items()}

    @staticmethod
    def _sorted(rows: list[Association]) -> _Rows:
        single: dict[int, list[Association]] = {}
        wide = []
        for row in rows:
            if row.relation not in FOLLOWED or (row.witness is not None and 0 not in row.witness):
                continue
            if row.hi == row.lo:
                single.setdefault(row.lo, []).append(row)
            else:
                wide.append(row)
        last = np.iinfo(np.int64).max
        hi = [last if row.hi is None else row.hi for row in wide]
        return _Rows(single, wide, np.array([row.lo for row in wide], np.int64), np.array(hi))

    def count(self, stream: str, position: int) -> int:
        """How many input events explain an output."""
        logs = {name: np.zeros(length, bool) for name, length in self._lengths.items()}
        seen = {(stream, position)}
        waiting = [(stream, position)]
        while waiting:
            name, at = waiting.pop()
            rows = self._streams.get(name)
            for row in rows.of(at) if rows else ():
                for lo, hi in row.reaches(at, at):
                    if row.to.startswith(LOG_PREFIX):
                        logs[row.to.removeprefix(LOG_PREFIX)][max(lo, 0) : hi + 1] = True
                        continue
                    for each in range(max(lo, 0), hi + 1):
                        if (row.to, each) not in seen:
                            seen.add((row.to, each))
                            waiting.append((row.to, each))
        return sum(int(marked.sum()) for marked in logs.values())

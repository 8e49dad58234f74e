"""What a record promises: which inputs each output leans on, worked out from its associations.

An answer about corruption follows the same rows from the other side; here they are gone through
once, and kept as one long number per output, a bit for each input event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.engine.lineage.slow_index import AssociationIndex
from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.lineage.positions import positions
from whence.engine.record import RunRecord

__all__ = ["Place", "RecordPromise"]

Place = tuple[str, int]
"""A log or an output pipe, and a position there."""


class RecordPromise:
    """The supports of a recorded run.

    Args:
        record: the run, tracked and complete.
        lengths: how many events each log has.
        outputs: how many outputs each pipe has.
    """

    def __init__(
        self, record: RunRecord, lengths: Mapping[str, int], outputs: Mapping[str, int]
    ) -> None:
        """Follow every output up to the logs."""
        self._first: dict[str, int] = {}
        total = 0
        for log, length in lengths.items():
            self._first[log] = total
            total += length
        self._lengths = lengths
        self._lists: dict[Place, list[Association]] = {}
        self._spans: dict[str, list[Association]] = {}
        for stream, rows in AssociationIndex(record.rows()).by_stream.items():
            for row in rows:
                if row.relation == "trigger":
                    continue
                if row.kind == "list":
                    self._lists.setdefault((stream, row.lo), []).append(row)
                else:
                    self._spans.setdefault(stream, []).append(row)
        self._known: dict[Place, int] = {}
        self.outputs = {
            (name, at): self._leans((name, at))
            for name, length in outputs.items()
            for at in range(length)
        }
        self.ends = {name: self._leans((f"{name}/end", 0)) for name in outputs}

    def bits(self, inputs: Iterable[Place]) -> int:
        """Some input events as one number."""
        found = 0
        for log, position in inputs:
            found |= 1 << self._first[log] + position
        return found

    def unaffected(self, corrupt: set[Place]) -> set[Place]:
        """The outputs that stand, whatever these inputs should have been."""
        touched = self.bits(corrupt)
        return {place for place, leans in self.outputs.items() if not leans & touched}

    def may_appear(self, corrupt: set[Place]) -> set[str]:
        """The pipes on which outputs could appear."""
        touched = self.bits(corrupt)
        return {name for name, leans in self.ends.items() if leans & touched}

    def _leans(self, place: Place) -> int:
        stack = [place]
        while stack:
            at = stack[-1]
            if at in self._known:
                stack.pop()
                continue
            direct, below = self._direct(at)
            waiting = [each for each in below if each not in self._known]
            if waiting:
                stack.extend(waiting)
                continue
            for each in below:
                direct |= self._known[each]
            self._known[at] = direct
            stack.pop()
        return self._known[place]

    def _direct(self, place: Place) -> tuple[int, list[Place]]:
        """The inputs that an event leads to directly, and the other events."""
        stream, position = place
        bits = 0
        below: list[Place] = []
        for row in (*self._lists.get(place, ()), *self._spans.get(stream, ())):
            for lo, hi in row.reaches(position, position):
                if row.to.startswith(LOG_PREFIX):
                    log = row.to.removeprefix(LOG_PREFIX)
                    lo, hi = max(lo, 0), min(hi, self._lengths[log] - 1)
                    bits |= ((1 << hi - lo + 1) - 1) << self._first[log] + lo if lo <= hi else 0
                else:
                    below += [(row.to, at) for at in positions(((max(lo, 0), hi),))]
        return bits, below

"""From where to where events inside a Slice are heads, looked up for some outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from whence.engine.associations import Association
from whence.engine.compact import Associations, Ints
from whence.store.loading.ranges import Ranges

__all__ = ["OPEN", "HeadZones"]

OPEN = np.iinfo(np.int64).max
_Piece = tuple[str, Ints, Ints, Ints]


class HeadZones:
    """The zones of one stream of heads, part by part as the record has them.

    A zone that is open in one part may have its end in a later one, which then counts.
    """

    def __init__(self, name: str) -> None:
        """None are known yet."""
        self.name = name
        self._parts: dict[int, list[_Piece]] = {}

    def read(self, number: int, rows: Callable[[int], list[Association] | Associations]) -> None:
        """Take a part in, once."""
        if number not in self._parts:
            self._parts[number] = list(_pieces(rows(number)))

    def _all(self) -> dict[str, tuple[Ints, Ints, Ints]]:
        """By the stream inside: position of the event, first and last output; each event once."""
        gathered: dict[str, list[tuple[Ints, Ints, Ints]]] = {}
        for number in sorted(self._parts):
            for to, *columns in self._parts[number]:
                gathered.setdefault(to, []).append(tuple(columns))  # type: ignore[arg-type]
        found = {}
        for to, pieces in gathered.items():
            at, lo, hi = (np.concatenate([piece[n] for piece in pieces]) for n in range(3))
            order = np.lexsort((hi, at))  # of the two that tell of one event the one with its end
            first = np.append(True, at[order][1:] != at[order][:-1])[: len(order)]
            chosen = order[first]
            found[to] = (at[chosen], lo[chosen], hi[chosen])
        return found

    def meeting(self, outputs: Ranges) -> Iterator[tuple[str, Ints, Ints, Ints]]:
        """The zones in which one of these outputs lies."""
        for to, (at, lo, hi) in self._all().items():
            met = outputs.met_by(lo, hi)
            if met.any():
                yield to, at[met], lo[met], hi[met]

    def reached(self, outputs: Ranges) -> Iterator[tuple[str, Ranges]]:
        """The events that are heads at one of these outputs."""
        for to, at, _, _ in self.meeting(outputs):
            yield to, Ranges.of(at)


def _pieces(rows: list[Association] | Associations) -> Iterator[_Piece]:
    if isinstance(rows, Associations):
        for block in rows.blocks:
            ends = np.where(block.more < 0, OPEN, block.outputs + block.more * block.step)
            yield block.to, block.inputs, block.outputs, ends
        return
    by_stream: dict[str, list[tuple[int, int, int]]] = {}
    for row in rows:
        end = OPEN if row.hi is None else row.hi
        by_stream.setdefault(row.to, []).append((row.inputs[0], row.lo, end))
    for to, several in by_stream.items():
        at, lo, hi = np.asarray(several, np.int64).T
        yield to, at, lo, hi

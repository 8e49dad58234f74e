"""The heads of a Slice as zones: from which output to which each was the head of its slice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from whence.engine.lineage.block import OPEN, Block
from whence.engine.lineage.positions import Bools, Ints, Positions, flat_ranges, places_in_order

__all__ = ["HeadZones", "last_of_each", "zone_block"]


def zone_block(to: str, outputs: Ints, more: Ints, event: Ints) -> Block:
    """Zones of a stream of heads as the record has them; ``more`` is -1 while one is open."""
    none = np.zeros(len(outputs), np.int64)
    return Block("explains", "zones", to, None, False, 1, 0, 0, outputs, more, event, none)


def last_of_each(lo: Ints, hi: Ints, event: Ints) -> Ints:
    """The places of zones, without those that are open in one part and ended by another.

    >>> last_of_each(np.array([0, 0, 4]), np.array([OPEN, 3, OPEN]), np.array([7, 7, 8]))
    array([1, 2])
    """
    order = places_in_order(event)
    same = event[order[1:]] == event[order[:-1]]
    if same.any():
        tied = np.append(same, False) | np.append(False, same)
        some = order[tied]
        order[tied] = some[np.lexsort((hi[some], lo[some], event[some]))]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (np.diff(event[order]) != 0) | (np.diff(lo[order]) != 0)
    found: Ints = order[fresh | (hi[order] != OPEN)]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class HeadZones:
    """The zones of a stream of heads that lead to one stream inside the Slice, each once.

    Attributes:
        lo: of each the first output at which the event is the head of its slice.
        hi: the last one; `OPEN` while it still is.
        event: the position of the event.
    """

    lo: Ints
    hi: Ints
    event: Ints

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> dict[str, HeadZones]:
        """The zones of all parts of a stream of heads, by the stream inside.

        >>> arrays = np.array([0, 0]), np.array([-1, 3]), np.array([7, 7])
        >>> zones = HeadZones.of([zone_block("s/p", *arrays)])["s/p"]
        >>> zones.lo.tolist(), zones.hi.tolist(), zones.event.tolist()
        ([0], [3], [7])
        """
        gathered: dict[str, list[Block]] = {}
        for block in blocks:
            gathered.setdefault(block.to, []).append(block)
        return {to: cls._ended(several) for to, several in gathered.items()}

    @classmethod
    def _ended(cls, blocks: list[Block]) -> HeadZones:
        lo = np.concatenate([block.outputs for block in blocks])
        hi = np.concatenate([block.ends for block in blocks])
        event = np.concatenate([block.inputs for block in blocks])
        each = last_of_each(lo, hi, event)
        return cls(lo[each], hi[each], event[each])

    def where(self, chosen: Bools) -> HeadZones:
        """Some of them."""
        return HeadZones(self.lo[chosen], self.hi[chosen], self.event[chosen])

    def meeting(self, outputs: Positions) -> HeadZones:
        """Those in which one of these outputs lies."""
        return self.where(outputs.met_by(self.lo, self.hi))

    def size(self, positions: Ints) -> int:
        """The number of heads at these positions, counted each time."""
        begun = np.searchsorted(np.sort(self.lo), positions, side="right")
        ended = np.searchsorted(np.sort(self.hi), positions, side="left")
        return int((begun - ended).sum())

    def pairs(self, output: Ints, position: Ints) -> tuple[Ints, Ints]:
        """The heads that each output leads to by way of its position."""
        order = np.argsort(position, kind="stable")
        places = position[order]
        begins = np.searchsorted(places, self.lo)
        ends = np.searchsorted(places, self.hi, side="right")
        at, zone = flat_ranges(begins, ends - begins)
        return output[order][at], self.event[zone]

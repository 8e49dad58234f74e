"""A batch: some events of a pipe, in order, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whence.engine.kernels.columns.column import Column, Ints, concat
from whence.engine.kernels.columns.lazy_ints import Numbers, made
from whence.engine.kernels.trails.composing import union
from whence.engine.kernels.trails.reasons import Reasons, joined_reasons
from whence.engine.kernels.trails.trail import Trail

__all__ = ["Batch", "Front", "join_batches"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of one pipe, for all instances of a chain at once.

    Attributes:
        values: what they hold.
        moment: the number of the chain's input after which each appeared; never falls.
        slot: the instance that each belongs to; ``None`` if there is only one.
        why: what explains each.
        sup: what supports each, its existence included; often the very same trail.
        exists: what the existence of each rests on; ``None`` if on nothing.
    """

    values: Column
    moment: Numbers
    slot: Ints | None
    why: Trail
    sup: Trail
    exists: Trail | None

    def __len__(self) -> int:
        return len(self.moment)

    @property
    def reasons(self) -> Reasons:
        """Its trails as one value."""
        return Reasons(self.why, self.sup, self.exists)

    def take(self, rows: Ints) -> Batch:
        """Some of the events."""
        slot = None if self.slot is None else self.slot[rows]
        reasons = self.reasons.take(rows)
        return Batch(self.values.take(rows), self.moment[rows], slot, *reasons)

    def slice(self, start: int, stop: int) -> Batch:
        """Some neighbouring events."""
        if start == 0 and stop == len(self):
            return self
        slot = None if self.slot is None else self.slot[start:stop]
        reasons = self.reasons.slice(start, stop)
        return Batch(self.values.slice(start, stop), self.moment[start:stop], slot, *reasons)

    def settled(self) -> Batch:
        """The same, holding on to nothing but itself; what does so already stays as it is."""
        return Batch(self.values, self.moment, self.slot, *self.reasons.lasting())

    def copied(self) -> Batch:
        """The same for a single instance, holding on to no array of another batch either."""
        moment = made(self.moment).copy()
        return Batch(self.values.copy(), moment, None, *self.reasons.lasting())


def join_batches(batches: Sequence[Batch], moment: Numbers | None = None) -> Batch:
    """One batch after the other.

    Args:
        batches: at least one.
        moment: when the events count as having appeared, if not when they did.
    """
    filled = [batch for batch in batches if len(batch)] or list(batches[:1])
    if len(filled) == 1:
        only = filled[0]
        return only if moment is None or only.moment is moment else replace(only, moment=moment)
    slots = [batch.slot for batch in filled if batch.slot is not None]
    return Batch(
        concat([batch.values for batch in filled]),
        np.concatenate([made(batch.moment) for batch in filled]) if moment is None else moment,
        np.concatenate(slots) if slots else None,
        *joined_reasons([batch.reasons for batch in filled]),
    )


@dataclass(frozen=True, slots=True)
class Front:
    """The events of several pipes that are consumed together, row by row.

    Attributes:
        pipes: a batch for each input pipe, all of one length.
        moment: when each front was complete.
        slot: the instance that each belongs to; ``None`` if there is only one.
    """

    pipes: tuple[Batch, ...]
    moment: Numbers
    slot: Ints | None

    def __len__(self) -> int:
        return len(self.moment)

    def moments(self) -> Ints:
        """Numbers each front was complete, as numbers that are there."""
        return made(self.moment)

    def head(self, count: int) -> Front:
        """The first of the fronts."""
        return self.take(np.arange(count))

    def take(self, rows: Ints) -> Front:
        """Some of the fronts."""
        pipes = tuple(batch.take(rows) for batch in self.pipes)
        slot = None if self.slot is None else self.slot[rows]
        return Front(pipes, self.moment[rows], slot)

    def exists(self) -> Trail | None:
        """What the existence of each whole front rests on."""
        return union(*(batch.exists for batch in self.pipes))

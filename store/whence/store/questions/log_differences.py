"""Two logs, event by event: which events both have, which changed, which are in one alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import pyarrow as pa

from whence.engine.lineage.positions import Intervals, of_positions
from whence.engine.record import LogRecord, match
from whence.engine.values.arrow_compute import pc

__all__ = ["LogDifference", "compare_logs", "same_log"]


@dataclass(frozen=True)
class LogDifference:
    """What differs between the logs of two runs.

    Attributes:
        log: the log's name in the chains.
        matched_by: ``identity`` if it is the same log, else the column of ids, or ``content``.
        changed: the positions, in the first run, of events that the second has with other values.
        now: the positions of the same events in the second run.
        removed: the positions, in the first run, of events that the second does not have.
        added: the positions, in the second run, of events that the first does not have.
    """

    log: str
    matched_by: str
    changed: Intervals
    now: Intervals
    removed: Intervals
    added: Intervals
    _moved: Mapping[int, int] | None = field(default=None, repr=False, compare=False)

    @property
    def same(self) -> bool:
        """Whether both runs read the very same events at the same places."""
        return self._moved is None

    @property
    def keeps_positions(self) -> bool:
        """Whether every event is where it was, perhaps with other values."""
        moved = self._moved
        return moved is None or not (
            self.removed or self.added or any(old != new for old, new in moved.items())
        )

    def moved_to(self, position: int) -> int | None:
        """Where the event at a position of the first run is in the second; ``None``: nowhere."""
        return position if self._moved is None else self._moved.get(position)


def same_log(name: str) -> LogDifference:
    """Both runs read one log."""
    return LogDifference(name, "identity", (), (), (), ())


def compare_logs(name: str, old: LogRecord, new: LogRecord) -> LogDifference:
    """Match the events of two logs of the record by declared id, else by content and occurrence.

    Events that are in one log alone are taken for changed ones where as many stand between the
    same neighbours on both sides.

    Args:
        name: the log's name in the chains.
        old: the log of the first run.
        new: the log of the second run.

    Raises:
        LogError: their events cannot be compared: other records, other columns of ids.
    """
    found = match(old, new)
    moved = dict(
        zip(found.both["old"].to_pylist(), found.both["new"].to_pylist(), strict=True),
    )
    changed = _other_values(old, new, moved)
    paired = _in_the_same_gaps(moved, found.removed, found.added, old.length, new.length)
    moved.update(paired)
    changed += paired.items()
    taken = set(paired.values())
    return LogDifference(
        name,
        old.manifest.events.by or "content",
        of_positions(at for at, _ in changed),
        of_positions(at for _, at in changed),
        of_positions(at for at in found.removed if at not in paired),
        of_positions(at for at in found.added if at not in taken),
        moved,
    )


def _other_values(
    old: LogRecord, new: LogRecord, moved: Mapping[int, int]
) -> list[tuple[int, int]]:
    """Events with the same declared id whose values differ."""
    if old.manifest.events.by is None or not moved:
        return []
    if old.columns != new.columns:
        return list(moved.items())
    left = _table(old).take(pa.array(moved.keys(), pa.int64()))
    right = _table(new).take(pa.array(moved.values(), pa.int64()))
    differs = pa.chunked_array([pa.array([False] * len(moved))])
    for column in old.columns:
        one, other = left[column], right[column]
        unlike = pc.fill_null(pc.not_equal(one, other), False)
        unlike = pc.or_(unlike, pc.xor(pc.is_null(one), pc.is_null(other)))
        differs = pc.or_(differs, unlike)
    pairs = list(moved.items())
    return [pairs[at] for at in pc.indices_nonzero(differs).to_pylist()]


def _table(log: LogRecord) -> pa.Table:
    return pa.concat_tables([log.part(number) for number in range(log.manifest.parts)])


def _in_the_same_gaps(
    moved: Mapping[int, int],
    removed: list[int],
    added: list[int],
    old_length: int,
    new_length: int,
) -> dict[int, int]:
    """Pair what is in one log alone, where as many stand between the same neighbours."""
    pairs: dict[int, int] = {}
    fixed = [(-1, -1), *sorted(moved.items()), (old_length, new_length)]
    alone, there = set(removed), set(added)
    for (old_from, new_from), (old_to, new_to) in pairwise(fixed):
        many = old_to - old_from
        if many < 2 or new_to - new_from != many:
            continue
        gap = range(1, many)
        if all(old_from + n in alone and new_from + n in there for n in gap):
            pairs.update((old_from + n, new_from + n) for n in gap)
    return pairs

"""What one part of a formula came to at one event: the value, when, and because of what."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

from whence.engine.language.events import Term
from whence.engine.rules.clock import AS_OF, END
from whence.engine.values import Value

__all__ = ["EVENT", "NOTHING", "NO_TIME", "Decision", "Spans", "by_text", "moment"]

NO_TIME = -(1 << 62)
"""Before every time: of what names no event."""
EVENT, CLOCK, CLOSED = 0, 1, 2
_BY = ("event", "clock", "closed")


def moment(place: int, by: int = EVENT) -> int:
    """A place and what decided there, as one number that orders as they do."""
    return place * 4 + by


def by_text(when: int) -> str:
    """What decided, in words."""
    place = when >> 2
    return "end" if place == END else "as-of" if place == AS_OF else _BY[when & 3]


class Decision(NamedTuple):
    """A part's value at an event, never changed again.

    Attributes:
        value: a condition's, or that of an expression.
        when: the `moment` at which it became certain.
        since: the latest of the times of the deciding events and of the passed deadlines.
        why: what explains it.
        support: what is enough for it.
    """

    value: Value
    when: int
    since: int
    why: Term
    support: Term

    @property
    def place(self) -> int:
        """The position in the log at which it became certain."""
        return self.when >> 2

    def joined(self, other: Decision) -> Decision:
        """Both together; the value is this one's."""
        return Decision(
            self.value,
            max(self.when, other.when),
            max(self.since, other.since),
            _both(self.why, other.why),
            _both(self.support, other.support),
        )


def _both(left: Term, right: Term) -> Term:
    if left is None or left == ():
        return right
    return left if right is None or right == () else (left, right)


NOTHING = Decision(True, 0, NO_TIME, None, None)


class Spans:
    """Decisions of neighbouring events, joined; neighbouring spans share all but their ends.

    Ten thousand pending verdicts that the end of a case decides are each explained by all events
    that follow: by blocks of powers of two, that is a handful of terms each.

    Args:
        leaf: what an event alone gives; asked once for each event.
    """

    __slots__ = ("blocks", "leaf")

    def __init__(self, leaf: Callable[[int], Decision]) -> None:
        """Begin without blocks."""
        self.leaf = leaf
        self.blocks: dict[tuple[int, int], Decision] = {}

    def over(self, events: Sequence[int]) -> Decision:
        """All of these, joined."""
        if not isinstance(events, range):
            return joined([self._block(0, i) for i in events])
        lo, hi = events.start, events.stop
        parts: list[Decision] = []
        while lo < hi:
            level = min((lo & -lo).bit_length() - 1 if lo else 64, (hi - lo).bit_length() - 1)
            parts.append(self._block(level, lo >> level))
            lo += 1 << level
        return joined(parts)

    def _block(self, level: int, number: int) -> Decision:
        found = self.blocks.get((level, number))
        if found is None:
            if level:
                left = self._block(level - 1, 2 * number)
                found = left.joined(self._block(level - 1, 2 * number + 1))
            else:
                found = self.leaf(number)
            self.blocks[level, number] = found
        return found


def joined(parts: Sequence[Decision]) -> Decision:
    """All of these together."""
    total = NOTHING
    for part in parts:
        total = total.joined(part)
    return total


def within(places: Sequence[int], events: Sequence[int]) -> Sequence[int]:
    """Those of a sorted list that are among these events, which are in order too."""
    if isinstance(events, range):
        return places[bisect_left(places, events.start) : bisect_left(places, events.stop)]
    among = set(events)
    return [i for i in places if i in among]

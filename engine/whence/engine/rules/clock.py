"""The clock of a log: the greatest time so far, and when a deadline had passed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from datetime import UTC, datetime, timedelta

from whence.engine.language.events import Event, Term
from whence.engine.values import Value, ValueFault, describe

__all__ = ["AS_OF", "END", "Clock", "micros_of"]

AS_OF = 1 << 60
"""The place of what was decided by moving the clock on without an event."""
END = AS_OF + 1
"""The place of what was decided by the end of the log."""

_MICRO = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONE = timedelta(microseconds=1)
_MOST = 1 << 62


def micros_of(value: Value) -> int:
    """A time as microseconds: an instant, or a number of seconds.

    >>> micros_of(1.5)
    1500000
    """
    if isinstance(value, datetime):
        return (value - _EPOCH) // _ONE
    if isinstance(value, timedelta):
        return value // _ONE
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueFault("a time: an instant or a number of seconds", describe(value), "--time")
    if not abs(value) < _MOST // _MICRO:  # NaN too
        raise ValueFault("a time within 100,000 years", describe(value), "seconds as its unit")
    return value * _MICRO if isinstance(value, int) else round(value * _MICRO)


class Clock:
    """The greatest time of the events so far.

    Args:
        grace: how long after a deadline an event may still come, in microseconds.
        max_jump: how far ahead of the clock a time may be and still move it; ``None``: any.

    Attributes:
        events: those that moved it, in order.
        places: their positions in the log.
        jumps: positions of events too far ahead to move it.
    """

    def __init__(self, grace: int = 0, max_jump: int | None = None) -> None:
        """Begin before any event."""
        self.grace, self.max_jump = grace, max_jump
        self.values: list[int] = []
        self.places: list[int] = []
        self.events: list[Event] = []
        self.jumps: list[int] = []
        self.as_of: int | None = None
        self.instants = False

    @property
    def now(self) -> int | None:
        """The time that it shows; ``None`` before any."""
        if self.as_of is not None:
            return self.as_of
        return self.values[-1] if self.values else None

    def advance(self, place: int, time: int, event: Event) -> bool:
        """Take the time of the event at a place; return whether that moved the clock."""
        if self.values:
            ahead = time - self.values[-1]
            if ahead <= 0:
                return False
            if self.max_jump is not None and ahead > self.max_jump:
                self.jumps.append(place)
                return False
        self.values.append(time)
        self.places.append(place)
        self.events.append(event)
        return True

    def move_to(self, time: int) -> None:
        """Move on without an event."""
        if self.now is None or time > self.now:
            self.as_of = time

    def is_late(self, time: int) -> bool:
        """Whether an event of this time, taken now, is late."""
        return bool(self.values) and self.values[-1] > time + self.grace

    def passed(self, deadline: int) -> int | None:
        """The place at which a deadline had passed; ``None`` if it has not."""
        number = bisect_right(self.values, deadline + self.grace)
        if number < len(self.places):
            return self.places[number]
        if self.as_of is not None and self.as_of > deadline + self.grace:
            return AS_OF
        return None

    def event_at(self, place: int) -> Term:
        """The clock event at a place; nothing for a time without an event."""
        if place >= AS_OF:
            return None
        return self.events[bisect_left(self.places, place)]

    def shown(self, micros: int | None) -> Value:
        """A time as the log has times: instants or seconds."""
        if micros is None:
            return None
        if self.instants:
            return _EPOCH + timedelta(microseconds=micros)
        whole, rest = divmod(micros, _MICRO)
        return micros / _MICRO if rest else whole

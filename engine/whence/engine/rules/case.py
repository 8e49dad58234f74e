"""One case of a rule: its events, the parts of formulas at work on them, and what is due."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.engine.language.events import Event, Term
from whence.engine.language.events import Part as EventPart
from whence.engine.language.formula.bounds import Bound
from whence.engine.rules.clock import Clock
from whence.engine.rules.decision import CLOCK, EVENT, NO_TIME, Decision, Spans, moment
from whence.engine.rules.spec import Spec

if TYPE_CHECKING:
    from whence.engine.rules.part import Part

__all__ = ["Case", "Closing"]

NO_FIELD: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Closing:
    """How a case came to its end.

    Attributes:
        when: the moment.
        since: the time that its end gives to what is violated by it.
        why: what explains it; nothing for the end of the log.
        support: what is enough for it.
    """

    when: int
    since: int
    why: Term = None
    support: Term = None


class Case:
    """The events of one case so far.

    Args:
        clock: that of the log.
        time: the field that holds the time; ``None`` without.
        tracked: whether terms are kept.
        waits: whether connectives wait for all their arguments, as those of chains do.
        make: starts the part for a spec and a trigger.
        before: all times of the log before a place, as a term.
        later: tells that something is to be looked at when a deadline has passed.

    Attributes:
        closing: set when no event comes any more.
        closes_at: the time at which it closes if no event comes until then; ``None``: never.
        ordered: whether no event's time is before that of an earlier one.
    """

    def __init__(
        self,
        clock: Clock,
        time: str | None,
        *,
        tracked: bool,
        waits: bool,
        make: Callable[[Case, Spec, int], Part],
        before: Callable[[int], Term],
        later: Callable[[int, Part, int], None],
    ) -> None:
        """Begin without events."""
        self.clock, self.time_field = clock, time
        self.tracked, self.waits = tracked, waits
        self.make, self.before, self.later = make, before, later
        self.events: list[Event] = []
        self.places: list[int] = []
        self.times: list[int] = []
        self.late: list[bool] = []
        self.ordered = True
        self.closing: Closing | None = None
        self.closes_at: int | None = None
        self.active: dict[Part, None] = {}
        self._shared: dict[Spec, Part] = {}
        self._dirty: list[tuple[int, int, Part, int]] = []
        self._marked: set[tuple[Part, int]] = set()
        self._number = 0
        self._times = Spans(self._time_decision)

    def add(self, event: Event, place: int, time: int, late: bool) -> None:
        """Take the next event; what looks at it does so when `settle` is called."""
        if self.times and time < self.times[-1]:
            self.ordered = False
        self.events.append(event)
        self.places.append(place)
        self.times.append(time)
        self.late.append(late)
        for part in list(self.active):
            part.on_event(len(self.events) - 1)

    def close(self, closing: Closing) -> None:
        """No event comes any more."""
        self.closing = closing
        for part in list(self.active):
            for k in list(part.waiting):
                self.mark(part, k)

    def part(self, spec: Spec, trigger: int) -> Part:
        """The part at work for a spec: one for all triggers unless it reads the trigger."""
        if spec.triggered:
            return self.make(self, spec, trigger)
        if spec not in self._shared:
            self._shared[spec] = self.make(self, spec, -1)
        return self._shared[spec]

    def mark(self, part: Part, k: int) -> None:
        """Something that decides a part at an event may be known by now."""
        if (part, k) not in self._marked:
            self._marked.add((part, k))
            self._number += 1
            heapq.heappush(self._dirty, (part.spec.height, self._number, part, k))

    def settle(self) -> None:
        """Decide what can be decided, the lower parts before those above them.

        All that is known at a position is known at once: of several reasons the left-most is taken,
        not the one that was looked at first.
        """
        while self._dirty:
            _, _, part, k = heapq.heappop(self._dirty)
            self._marked.discard((part, k))
            part.try_again(k)

    def unsettled_below(self, height: int) -> bool:
        """Whether something lower than that is to be looked at."""
        return bool(self._dirty) and self._dirty[0][0] < height

    def cut(self, k: int, bound: Bound | None) -> int:
        """The first event that the deadline of a bound at k ignores, as it came too late."""
        if bound is None or bound.high is None:
            return len(self.events)
        passed = self.clock.passed(self.times[k] + bound.high)
        return len(self.events) if passed is None else bisect_left(self.places, passed)

    def ahead(self, k: int, bound: Bound | None) -> Sequence[int]:
        """The events from k on in an interval, without those that a passed deadline ignores."""
        if bound is None:
            return range(k, len(self.events))
        time, cut = self.times[k], self.cut(k, bound)
        if not self.ordered:
            return [
                i
                for i in range(k, len(self.events))
                if self.times[i] - time in bound and (i < cut or i == k)
            ]
        lo = bisect_left(self.times, time + bound.low, k)
        hi = cut
        if bound.high is not None:
            hi = min(cut, bisect_right(self.times, time + bound.high, k))
        return range(lo, max(hi, k + 1) if bound.low == 0 else max(lo, hi))

    def behind(self, k: int, bound: Bound | None) -> Sequence[int]:
        """The events up to k in an interval, in order."""
        if bound is None:
            return range(k + 1)
        time = self.times[k]
        if not self.ordered:
            return [i for i in range(k + 1) if time - self.times[i] in bound]
        lo = 0 if bound.high is None else bisect_left(self.times, time - bound.high, 0, k + 1)
        return range(lo, max(lo, bisect_right(self.times, time - bound.low, 0, k + 1)))

    def deadline_of(self, k: int, bound: Bound | None) -> Closing | None:
        """What a bound's deadline at k ends, if it passed before the case was closed."""
        if bound is None or bound.high is None:
            return None
        deadline = self.times[k] + bound.high
        passed = self.clock.passed(deadline)
        if passed is None or (self.closing is not None and passed > self.closing.when >> 2):
            return None
        why = (self.time(k), self.clock_time(passed)) if self.tracked else None
        return Closing(moment(passed, CLOCK), deadline, why, why)

    def end_of(self, k: int, bound: Bound | None) -> Closing | None:
        """What ends the waiting at k, if it has ended: its deadline, or the end of the case.

        With a bound all times from k on say that no other event was in the interval.
        """
        end = self.deadline_of(k, bound) or self.closing
        if end is None or bound is None or not self.tracked:
            return end
        stop = bisect_right(self.places, end.when >> 2)
        times = self.times_of(range(k + 1, stop))
        time = self.time(k)
        return Closing(end.when, end.since, (time, end.why), (time, times, end.support))

    def time(self, k: int) -> Term:
        """The time of the event k, as a term."""
        return EventPart(self.events[k], self._time_fields) if self.tracked else None

    def time_of(self, event: Event) -> Term:
        """The time of an event of the log, as a term."""
        return EventPart(event, self._time_fields) if self.tracked else None

    def such(self, k: int) -> Term:
        """The event k as such: that it is there."""
        return EventPart(self.events[k], NO_FIELD) if self.tracked else None

    @property
    def _time_fields(self) -> frozenset[str] | None:
        return None if self.time_field is None else frozenset({self.time_field})

    def clock_time(self, place: int) -> Term:
        """The time of the clock event at a place."""
        event = self.clock.event_at(place)
        return EventPart(event, self._time_fields) if isinstance(event, Event) else None

    def times_of(self, events: Sequence[int]) -> Term:
        """The times of several events."""
        return self._times.over(events).support if self.tracked else None

    def _time_decision(self, k: int) -> Decision:
        return Decision(True, moment(self.places[k], EVENT), NO_TIME, None, self.time(k))

    def early(self, i: int, bound: Bound | None) -> Term:
        """What lets a late event count before a deadline: that the clock was not further."""
        if not self.tracked or bound is None or bound.high is None or not self.late[i]:
            return None
        return self.before(self.places[i])

    def release(self) -> None:
        """Forget all parts: everything is decided."""
        for part in self._shared.values():
            part.release()
        self._shared.clear()
        self.active.clear()

"""``p U[a..b] q``: p holds until q comes, in the interval."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from whence.engine.rules.case import Case
from whence.engine.rules.decision import Decision, Spans, moment, within
from whence.engine.rules.part import Part, Seen, absent_over, timed
from whence.engine.rules.spec import Spec

__all__ = ["TwoParts", "Until"]


class TwoParts(Part):
    """What p and q have in common for U and S: where p failed, where q was reached."""

    __slots__ = ("failed", "held", "reached", "spans")

    def __init__(self, case: Case, spec: Spec, trigger: int) -> None:
        """Begin undecided."""
        super().__init__(case, spec, trigger)
        self.failed = Seen(self.parts[0], False)
        self.reached = Seen(self.parts[1], True)
        self.held = Spans(self._p)
        self.spans = Spans(lambda i: timed(self.parts[1], i, self.spec))

    def _p(self, i: int) -> Decision:
        found = self.parts[0].ask(i)
        assert found is not None
        return found


class Until(TwoParts):
    """True by the first q in the interval that p leads up to; false by p before any q.

    Without either it is decided when the deadline has passed or the case has closed.
    """

    __slots__ = ()

    def on_event(self, i: int) -> None:
        """It goes on as long as p holds without q."""
        if self.failed.lo >= 0:
            fresh = self.failed.cover(self.failed.lo, i + 1)
            fresh += self.reached.cover(self.reached.lo, i + 1)
            if fresh:
                self._mark_before(i)

    def _mark_before(self, i: int) -> None:
        for k in self.waiting:
            if k <= i:
                self.case.mark(self, k)

    def heard(self, part: Part, i: int, found: Decision) -> None:
        """P or q became known at an event."""
        if part is self.parts[0]:
            self.failed.heard(i, found)
        if part is self.parts[1]:
            self.reached.heard(i, found)
        self._mark_before(i)

    def decide(self, k: int) -> Decision | None:
        """By q, by p, or by the end of the waiting: whatever was known first."""
        case = self.case
        self.failed.cover(k, len(case.events))
        self.reached.cover(k, len(case.events))
        events = case.ahead(k, self.spec.bound)
        found = self._reached(k, events)
        if found is not None:
            return found
        by_p = self._failed(k, events)
        by_end = self._ended(k, events)
        if by_p is None or by_end is None:
            return by_p or by_end
        return by_p if by_p.place <= by_end.place else by_end

    def _reached(self, k: int, events: Sequence[int]) -> Decision | None:
        case, bound = self.case, self.spec.bound
        candidates: list[tuple[int, int]] = []
        stop = _first(self.failed.hits, k), _first(self.failed.unknown, k)
        last = min((x for x in stop if x is not None), default=len(case.events))
        floor = self.floor(k)
        for i in within(self.reached.hits, events):
            if i > last:
                break
            when = max(self.parts[1].decided[i].when, floor)
            if self.parts[0].spec.ahead:
                when = max(when, self.held.over(range(k, i)).when)
            candidates.append((when >> 2, i))
        if not candidates:
            return None
        place, i = min(candidates)
        q = self.parts[1].decided[i]
        total = q.joined(self.held.over(range(k, i)))
        when = total.when if total.place == place else moment(place)
        why, support = total.why, total.support
        if bound is not None and i != k:
            times = (case.time(k), case.time(i))
            why, support = (times, why), (times, support, case.early(i, bound))
        return self.plain(True, when, max(total.since, case.times[i]), why, support)

    def _failed(self, k: int, events: Sequence[int]) -> Decision | None:
        best: Decision | None = None
        cut = self.case.cut(k, self.spec.bound)
        for i in self.failed.hits[bisect_left(self.failed.hits, k) :]:
            so_far = _up_to(events, i)
            if i >= cut and i != k:
                break
            if within(self.reached.unknown, so_far) or within(self.reached.hits, so_far):
                break
            found = self._failed_at(k, i, so_far)
            if best is None or found.place < best.place:
                best = found
            if not self.parts[0].spec.ahead:
                break
        return best

    def _failed_at(self, k: int, i: int, so_far: Sequence[int]) -> Decision:
        case, bound = self.case, self.spec.bound
        total = self.parts[0].decided[i].joined(absent_over(self.parts[1], self.spans, so_far, k))
        why, support = total.why, total.support
        if bound is not None and i != k:
            if so_far and (so_far[0], so_far[-1]) != (k, k):
                why = (why, case.time(k))
            support = (support, case.time(k), case.times_of(range(k + 1, i + 1)))
        when, since = max(total.when, self.floor(k)), max(total.since, case.times[i])
        return self.plain(False, when, since, why, support)

    def _ended(self, k: int, events: Sequence[int]) -> Decision | None:
        case, bound = self.case, self.spec.bound
        end = case.end_of(k, bound)
        if end is None:
            return None
        if within(self.reached.unknown, events) or within(self.reached.hits, events):
            return None
        when = self.ended(end.when, k)
        total = self.plain(False, when, end.since, end.why, end.support)
        return total.joined(absent_over(self.parts[1], self.spans, events, k))

    def guess(self, k: int, time: int) -> bool | None:
        """Event by event, as far as p holds."""
        known = super().guess(k, time)
        if known is not None:
            return known
        p, q = self.parts
        events, sure = set(self.case.ahead(k, self.spec.bound)), True
        for i in range(k, len(self.case.events)):
            reached = q.guess(i, time) if i in events else False
            if reached is True:
                return True if sure else None
            holds = p.guess(i, time)
            if reached is None:
                return None
            if holds is False:
                return False
            sure = sure and holds is True
        return False if self.over(k, time) else None


def _first(places: list[int], k: int) -> int | None:
    number = bisect_left(places, k)
    return places[number] if number < len(places) else None


def _up_to(events: Sequence[int], i: int) -> Sequence[int]:
    if isinstance(events, range):
        return range(events.start, max(events.start, min(events.stop, i + 1)))
    return [x for x in events if x <= i]

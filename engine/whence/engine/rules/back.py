"""What looks back: O and H, S, Y and Z. Known at once, unless what is inside looks ahead."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from whence.engine.language.events import Term
from whence.engine.rules.case import Case
from whence.engine.rules.decision import Decision, Spans, moment, within
from whence.engine.rules.part import Part, Seen, absent_over, timed
from whence.engine.rules.spec import Spec
from whence.engine.rules.until import TwoParts
from whence.engine.values import as_condition

__all__ = ["Before", "Once", "Since"]


class Once(Part):
    """``O[a..b] p``, and ``H[a..b] p``, which is ``not O[a..b] not p``."""

    __slots__ = ("seen", "spans", "wanted")

    def __init__(self, case: Case, spec: Spec, trigger: int) -> None:
        """Begin undecided."""
        super().__init__(case, spec, trigger)
        self.wanted = spec.kind == "O"
        self.seen = Seen(self.parts[0], self.wanted)
        self.spans = Spans(lambda i: timed(self.parts[0], i, self.spec))

    def heard(self, part: Part, i: int, found: Decision) -> None:
        """The part became known at an event."""
        self.seen.heard(i, found)
        for k in self.waiting:
            if k >= i:
                self.case.mark(self, k)

    def decide(self, k: int) -> Decision | None:
        """By the latest event as wanted, of those that are known; else by all in the interval."""
        case, bound = self.case, self.spec.bound
        events = case.behind(k, bound)
        if self.spec.triggered and not self.spec.ahead:
            return self._nearest(k, events)
        if events:
            self.seen.cover(events[0], k + 1)
        place = self.floor(k) >> 2
        hits = within(self.seen.hits, events)
        if hits:
            known = {i: self.parts[0].decided[i] for i in hits} if self.spec.ahead else {}
            if known:
                place = max(place, min(x.place for x in known.values()))
            i = next(i for i in reversed(hits) if not known or known[i].place <= place)
            return self._by(k, i, place)
        return None if within(self.seen.unknown, events) else self._by_none(k, events)

    def _nearest(self, k: int, events: Sequence[int]) -> Decision:
        """For one trigger alone: no further back than the latest event as wanted."""
        for i in reversed(events):
            found = self.parts[0].ask(i)
            if found is not None and as_condition(found.value) is self.wanted:
                return self._by(k, i, self.floor(k) >> 2)
        return self._by_none(k, events)

    def _by(self, k: int, i: int, place: int) -> Decision:
        case = self.case
        found = self.parts[0].decided[i]
        when = found.when if found.place == place else moment(place)
        why, support = found.why, found.support
        if self.spec.bound is not None and i != k:
            times = (case.time(k), case.time(i))
            why, support = (times, why), (times, support)
        return self.plain(self.wanted, when, max(found.since, case.times[k]), why, support)

    def _by_none(self, k: int, events: Sequence[int]) -> Decision:
        case, bound = self.case, self.spec.bound
        total = absent_over(self.parts[0], self.spans, events, k)
        why, support = _with_times(case, bound is not None, events, k, total)
        when, since = max(total.when, self.floor(k)), max(total.since, case.times[k])
        return self.plain(not self.wanted, when, since, why, support)

    def guess(self, k: int, time: int) -> bool | None:
        """Found, or nothing can be found."""
        known = super().guess(k, time)
        if known is not None:
            return known
        values = [self.parts[0].guess(i, time) for i in self.case.behind(k, self.spec.bound)]
        if self.wanted in values:
            return self.wanted
        return None if None in values else not self.wanted


def _with_times(
    case: Case, bound: bool, events: Sequence[int], k: int, total: Decision, first: int = 0
) -> tuple[Term, Term]:
    """Of an absence: the time of k if others count, and all times for the support."""
    why, support = total.why, total.support
    if bound and case.tracked:
        if events and (events[0], events[-1]) != (k, k):
            why = (why, case.time(k))
        if first < k:
            support = (support, case.time(k), case.times_of(range(first, k)))
    return why, support


class Since(TwoParts):
    """``p S[a..b] q``: q was in the interval, and p has held since then."""

    __slots__ = ()

    def heard(self, part: Part, i: int, found: Decision) -> None:
        """P or q became known at an event."""
        if part is self.parts[0]:
            self.failed.heard(i, found)
        if part is self.parts[1]:
            self.reached.heard(i, found)
        for k in self.waiting:
            if k >= i:
                self.case.mark(self, k)

    def decide(self, k: int) -> Decision | None:
        """By the latest q that p leads down from; by p after any q; else by all in the interval."""
        case, bound = self.case, self.spec.bound
        self.failed.cover(0, k + 1)
        self.reached.cover(0, k + 1)
        events = case.behind(k, bound)
        found = self._reached(k, events)
        if found is not None:
            return found
        best = self._failed(k, events)
        if within(self.reached.unknown, events) or within(self.reached.hits, events):
            return best
        total = absent_over(self.parts[1], self.spans, events, k)
        if best is not None and best.place <= max(total.when, self.floor(k)) >> 2:
            return best
        why, support = _with_times(case, bound is not None, events, k, total)
        when, since = max(total.when, self.floor(k)), max(total.since, case.times[k])
        return self.plain(False, when, since, why, support)

    def _reached(self, k: int, events: Sequence[int]) -> Decision | None:
        case, bound, floor = self.case, self.spec.bound, self.floor(k)
        bad = (_last(self.failed.hits, k), _last(self.failed.unknown, k))
        first = max((x for x in bad if x is not None), default=-1)
        candidates: list[tuple[int, int]] = []
        for i in reversed(within(self.reached.hits, events)):
            if i < first:
                break
            when = max(self.parts[1].decided[i].when, floor)
            if self.parts[0].spec.ahead:
                when = max(when, self.held.over(range(i + 1, k + 1)).when)
            candidates.append((when >> 2, -i))
            if when >> 2 == floor >> 2:
                break
        if not candidates:
            return None
        place, i = min(candidates)
        i = -i
        total = self.parts[1].decided[i].joined(self.held.over(range(i + 1, k + 1)))
        when = total.when if total.place == place else moment(place)
        why, support = total.why, total.support
        if bound is not None and i != k:
            times = (case.time(k), case.time(i))
            why, support = (times, why), (times, support)
        return self.plain(True, when, max(total.since, case.times[k]), why, support)

    def _failed(self, k: int, events: Sequence[int]) -> Decision | None:
        case, bound = self.case, self.spec.bound
        best: Decision | None = None
        for i in reversed(self.failed.hits[: bisect_right(self.failed.hits, k)]):
            after = _from(events, i)
            if within(self.reached.unknown, after) or within(self.reached.hits, after):
                break
            p = self.parts[0].decided[i]
            total = p.joined(absent_over(self.parts[1], self.spans, after, k))
            why, support = _with_times(case, bound is not None, after, k, total, i)
            when, since = max(total.when, self.floor(k)), max(total.since, case.times[k])
            found = self.plain(False, when, since, why, support)
            if best is None or found.place < best.place:
                best = found
            if not self.spec.ahead:
                break
        return best

    def guess(self, k: int, time: int) -> bool | None:
        """Event by event, backwards, as far as p holds."""
        known = super().guess(k, time)
        if known is not None:
            return known
        p, q = self.parts
        events, sure = set(self.case.behind(k, self.spec.bound)), True
        for i in range(k, -1, -1):
            reached = q.guess(i, time) if i in events else False
            if reached is True:
                return True if sure else None
            if reached is None:
                return None
            holds = p.guess(i, time)
            if holds is False:
                return False
            sure = sure and holds is True
        return False


def _last(places: list[int], k: int) -> int | None:
    number = bisect_right(places, k)
    return places[number - 1] if number else None


def _from(events: Sequence[int], i: int) -> Sequence[int]:
    if isinstance(events, range):
        return range(min(events.stop, max(events.start, i)), events.stop)
    return events[bisect_left(events, i) :]


class Before(Part):
    """``Y[a..b] p``, and ``Z[a..b] p``, which is ``not Y[a..b] not p``."""

    __slots__ = ()

    def heard(self, part: Part, i: int, found: Decision) -> None:
        """The part is known at the event before."""
        if i + 1 in self.waiting:
            self.case.mark(self, i + 1)

    def decide(self, k: int) -> Decision | None:
        """By the event before, if there is one in the interval."""
        case, bound = self.case, self.spec.bound
        absent, floor = self.spec.kind == "Z", self.floor(k)
        if k == 0:
            return self.plain(absent, floor, case.times[k], case.such(k), None)
        times = (case.time(k), case.time(k - 1)) if bound is not None else None
        if bound is not None and case.times[k] - case.times[k - 1] not in bound:
            return self.plain(absent, floor, case.times[k], times, times)
        found = self.parts[0].ask(k - 1)
        if found is None:
            return None
        when, since = max(found.when, floor), max(found.since, case.times[k])
        why, support = (times, found.why), (times, found.support)
        return self.plain(as_condition(found.value), when, since, why, support)

    def guess(self, k: int, time: int) -> bool | None:
        """By the event before."""
        known = super().guess(k, time)
        return self.parts[0].guess(k - 1, time) if known is None else known

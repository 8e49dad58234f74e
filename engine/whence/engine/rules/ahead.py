"""What looks ahead: F and G, X and N, ``end``."""

from __future__ import annotations

from whence.engine.rules.case import Case
from whence.engine.rules.decision import Decision, Spans, moment, within
from whence.engine.rules.part import Part, Seen, absent_over, timed
from whence.engine.rules.spec import Spec
from whence.engine.values import as_condition

__all__ = ["End", "Eventually", "Next"]


class Eventually(Part):
    """``F[a..b] p``, and ``G[a..b] p``, which is ``not F[a..b] not p``.

    It looks for the first event in the interval at which p is as wanted. Without one, it is decided
    when the deadline has passed or the case has closed, once p is known everywhere in the interval.
    """

    __slots__ = ("awaited", "seen", "spans", "wanted")

    def __init__(self, case: Case, spec: Spec, trigger: int) -> None:
        """Begin undecided."""
        super().__init__(case, spec, trigger)
        self.wanted = spec.kind == "F"
        self.seen = Seen(self.parts[0], self.wanted)
        self.awaited: dict[int, list[int]] = {}
        self.spans = Spans(self._leaf)

    def _leaf(self, i: int) -> Decision:
        return timed(self.parts[0], i, self.spec)

    def on_event(self, i: int) -> None:
        """A further event may be the one that is looked for."""
        if self.seen.lo >= 0:
            for hit in self.seen.cover(self.seen.lo, i + 1):
                self._mark_before(hit)

    def _mark_before(self, i: int) -> None:
        for k in self.waiting:
            if k <= i:
                self.case.mark(self, k)

    def heard(self, part: Part, i: int, found: Decision) -> None:
        """The part was decided: found, or one less to wait for."""
        if self.seen.heard(i, found):
            self._mark_before(i)
        for k in self.awaited.pop(i, ()):
            self.case.mark(self, k)

    def decide(self, k: int) -> Decision | None:
        """By the first event that is as wanted; else by the end of the waiting."""
        case, bound = self.case, self.spec.bound
        self.seen.cover(k, len(case.events))
        events = case.ahead(k, bound)
        hits = within(self.seen.hits, events)
        if hits:
            return self._found(k, list(hits))
        end = case.end_of(k, bound)
        if end is None:
            return None
        unknown = within(self.seen.unknown, events)
        if unknown:
            self.awaited.setdefault(unknown[0], []).append(k)
            return None
        when = self.ended(end.when, k)
        total = self.plain(not self.wanted, when, end.since, end.why, end.support)
        return total.joined(absent_over(self.parts[0], self.spans, events, k))

    def _found(self, k: int, hits: list[int]) -> Decision:
        case, bound = self.case, self.spec.bound
        known = {i: self.parts[0].decided[i] for i in hits}
        place = max(min(x.place for x in known.values()), self.floor(k) >> 2)
        i = next(i for i in hits if known[i].place <= place)
        found = known[i]
        when = found.when if found.place == place else moment(place)
        why, support = found.why, found.support
        if bound is not None and i != k:
            times = (case.time(k), case.time(i))
            why, support = (times, why), (times, support, case.early(i, bound))
        return self.plain(self.wanted, when, max(found.since, case.times[i]), why, support)

    def guess(self, k: int, time: int) -> bool | None:
        """Found, or the waiting is over and nothing can be found."""
        known = super().guess(k, time)
        if known is not None:
            return known
        part = self.parts[0]
        values = [part.guess(i, time) for i in self.case.ahead(k, self.spec.bound)]
        if self.wanted in values:
            return self.wanted
        return not self.wanted if self.over(k, time) and None not in values else None


class Next(Part):
    """``X[a..b] p``, and ``N[a..b] p``, which is ``not X[a..b] not p``."""

    __slots__ = ()

    def on_event(self, i: int) -> None:
        """The next event is there."""
        if i - 1 in self.waiting:
            self.case.mark(self, i - 1)

    def heard(self, part: Part, i: int, found: Decision) -> None:
        """The part is known at the next event."""
        if i - 1 in self.waiting:
            self.case.mark(self, i - 1)

    def _follows(self, k: int) -> bool:
        """Whether there is a next event that counts."""
        case, bound = self.case, self.spec.bound
        if k + 1 >= len(case.events):
            return False
        if bound is None or bound.high is None:
            return True
        passed = case.clock.passed(case.times[k] + bound.high)
        return passed is None or case.places[k + 1] < passed

    def decide(self, k: int) -> Decision | None:
        """By the next event, if it counts."""
        case, bound = self.case, self.spec.bound
        absent = self.spec.kind == "N"
        if not self._follows(k):
            end = case.deadline_of(k, bound) or case.closing
            if end is None:
                return None
            when, since = self.ended(end.when, k), max(end.since, case.times[k])
            return self.plain(absent, when, since, (case.such(k), end.why), end.support)
        i = k + 1
        times = (case.time(k), case.time(i)) if bound is not None else None
        if bound is not None and case.times[i] - case.times[k] not in bound:
            since = max(case.times[k], case.times[i])
            return self.plain(
                absent, max(moment(case.places[i]), self.floor(k)), since, times, times
            )
        found = self.parts[0].ask(i)
        if found is None:
            return None
        value = as_condition(found.value)
        early = case.early(i, bound) if value is not absent else None
        when = max(found.when, moment(case.places[i]), self.floor(k))
        return self.plain(
            value,
            when,
            max(found.since, case.times[i]),
            (times, found.why),
            (times, found.support, early),
        )

    def guess(self, k: int, time: int) -> bool | None:
        """By the next event, or by its absence."""
        known = super().guess(k, time)
        if known is not None:
            return known
        if self._follows(k):
            return self.parts[0].guess(k + 1, time)
        return self.spec.kind == "N" if self.over(k, time) else None


class End(Part):
    """``end``: the case's last event, once the case has closed."""

    __slots__ = ()

    def on_event(self, i: int) -> None:
        """There is a next event."""
        if i - 1 in self.waiting:
            self.case.mark(self, i - 1)

    def decide(self, k: int) -> Decision | None:
        """By the next event as such, or by what closed the case."""
        case = self.case
        if k + 1 < len(case.events):
            such = case.such(k + 1)
            return self.plain(
                False, max(moment(case.places[k + 1]), self.floor(k)), case.times[k + 1], such, None
            )
        closing = case.closing
        if closing is None:
            return None
        since = max(closing.since, case.times[k])
        return self.plain(
            True, self.ended(closing.when, k), since, (case.such(k), closing.why), closing.support
        )

    def guess(self, k: int, time: int) -> bool | None:
        """True once the case would have closed."""
        known = super().guess(k, time)
        if known is not None:
            return known
        if k + 1 < len(self.case.events):
            return False
        return True if self.over(k, time) else None

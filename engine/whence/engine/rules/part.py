"""What every part of a formula at work shares: what it decided, and what it waits for."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from whence.engine.language.events import Term
from whence.engine.rules.decision import Decision, Spans, joined, moment
from whence.engine.rules.spec import Spec
from whence.engine.values import as_condition

if TYPE_CHECKING:
    from whence.engine.rules.case import Case

__all__ = ["Part", "Seen", "absent_over", "timed"]


class Hearer(Protocol):
    """What hears of the decisions of a part."""

    def heard(self, part: Part, i: int, found: Decision) -> None:
        """The part was decided at an event."""
        ...


class Part:
    """A part of a formula on the events of a case, for one trigger or for all.

    A part that looks ahead *waits* at some events until it is decided; one that does not is decided
    whenever it is asked.

    Attributes:
        decided: by event.
        waiting: events at which it was asked and is not decided.
        above: the parts that ask it.
    """

    __slots__ = ("above", "case", "decided", "parts", "spec", "trigger", "waiting")

    def __init__(self, case: Case, spec: Spec, trigger: int) -> None:
        """Begin undecided."""
        self.case, self.spec, self.trigger = case, spec, trigger
        self.decided: dict[int, Decision] = {}
        self.waiting: dict[int, None] = {}
        self.above: dict[Hearer, None] = {}
        self.parts = tuple([case.part(x, trigger) for x in spec.parts])
        for part in self.parts:
            if part.spec.ahead:
                part.above[self] = None

    def ask(self, k: int) -> Decision | None:
        """The decision at an event, if there is one; if not, it waits for it from now on."""
        found = self.decided.get(k)
        if found is not None:
            return found
        if not self.spec.ahead:
            found = self.decide(k)
            assert found is not None
            self.decided[k] = found
            return found
        if k not in self.waiting:
            self.waiting[k] = None
            self.case.active[self] = None
            self.begin(k)
            self.case.mark(self, k)
        return None

    def try_again(self, k: int) -> None:
        """Decide at an event if it is possible now, and let those above know."""
        if k in self.decided or k not in self.waiting:
            return
        found = self.decide(k)
        if self.case.unsettled_below(self.spec.height):
            # It asked parts that may be known at this very position: those come first.
            self.case.mark(self, k)
            return
        if found is None:
            return
        self.decided[k] = found
        del self.waiting[k]
        if not self.waiting:
            self.case.active.pop(self, None)
        for part in list(self.above):
            part.heard(self, k, found)

    def begin(self, k: int) -> None:
        """It waits at an event for the first time: deadlines are made known."""
        bound = self.spec.bound
        if bound is not None and bound.high is not None:
            self.case.later(self.case.times[k] + bound.high, self, k)

    def decide(self, k: int) -> Decision | None:
        """The decision at an event, by definition; ``None`` if it is not certain yet."""
        raise NotImplementedError

    def heard(self, part: Part, i: int, found: Decision) -> None:
        """A part below was decided at an event."""
        if i in self.waiting:
            self.case.mark(self, i)

    def on_event(self, i: int) -> None:
        """The case has a further event."""

    def guess(self, k: int, time: int) -> bool | None:
        """What it would be once a time has passed without any further event of the case."""
        found = self.decided.get(k)
        return None if found is None else as_condition(found.value)

    def floor(self, k: int) -> int:
        """The first moment at which it can be known at an event: then, or at the trigger."""
        places = self.case.places
        return moment(places[max(k, self.trigger)])

    def ended(self, when: int, k: int) -> int:
        """When the end of the waiting is known at an event: not before that, or the trigger."""
        return moment(max(when >> 2, self.floor(k) >> 2), when & 3)

    def deadlines(self) -> Iterator[int]:
        """The deadlines for which it waits, and those of its parts."""
        bound = self.spec.bound
        if bound is not None and bound.high is not None:
            for k in self.waiting:
                yield self.case.times[k] + bound.high
        for part in self.parts:
            yield from part.deadlines()

    def over(self, k: int, time: int) -> bool:
        """Whether waiting at an event would be over at a time without any further event."""
        case, bound = self.case, self.spec.bound
        if bound is not None and bound.high is not None and case.times[k] + bound.high <= time:
            return True
        return case.closing is not None or (case.closes_at is not None and case.closes_at <= time)

    def release(self) -> None:
        """Nobody asks any more: forget everything."""
        for part in self.parts:
            part.above.pop(self, None)
            if part.spec.triggered:
                part.release()
        self.case.active.pop(self, None)
        self.decided.clear()
        self.waiting.clear()

    def plain(self, value: bool, when: int, since: int, why: Term, support: Term) -> Decision:
        """A decision; without terms where nobody wants them."""
        if not self.case.tracked:
            why = support = None
        return Decision(value, when, since, why, support)


class Seen:
    """What is known of a part at neighbouring events: where it is as wanted, where not decided.

    Args:
        part: the part.
        wanted: the value that is looked for.
    """

    __slots__ = ("hi", "hits", "lo", "part", "unknown", "wanted")

    def __init__(self, part: Part, wanted: bool) -> None:
        """Begin without events."""
        self.part, self.wanted = part, wanted
        self.lo = self.hi = -1
        self.hits: list[int] = []
        self.unknown: list[int] = []

    def cover(self, lo: int, hi: int) -> list[int]:
        """Ask at all events from lo to hi, hi not included; return the new hits."""
        fresh: list[int] = []
        if self.lo < 0:
            self.lo = self.hi = lo
        for i in (*range(lo, self.lo), *range(self.hi, hi)):
            found = self.part.ask(i)
            if found is None:
                insort(self.unknown, i)
            elif as_condition(found.value) is self.wanted:
                insort(self.hits, i)
                fresh.append(i)
        self.lo, self.hi = min(self.lo, lo), max(self.hi, hi)
        return fresh

    def heard(self, i: int, found: Decision) -> bool | None:
        """The part was decided at an event; whether as wanted, ``None`` if nobody asked there."""
        if not self.lo <= i < self.hi:
            return None
        self.unknown.remove(i)
        if as_condition(found.value) is not self.wanted:
            return False
        insort(self.hits, i)
        return True


def timed(part: Part, i: int, spec: Spec) -> Decision:
    """What a part came to at an event of an interval, with the event's time if it has a bound."""
    found = part.ask(i)
    assert found is not None
    if spec.bound is None or not part.case.tracked:
        return found
    time = part.case.time(i)
    return found._replace(why=(found.why, time), support=(found.support, time))


def absent_over(part: Part, spans: Spans, events: Sequence[int], k: int) -> Decision:
    """What a part came to at all these events; at k itself no time is needed for that."""
    if isinstance(events, range):
        own = events.start <= k < events.stop
        rest = [
            range(events.start, min(k, events.stop)),
            range(max(k + 1, events.start), events.stop),
        ]
        total = joined([spans.over(x) for x in rest if x])
    else:
        own = k in events
        total = spans.over([i for i in events if i != k])
    if not own:
        return total
    found = part.ask(k)
    assert found is not None
    return total.joined(found)

"""A rule at work on one case: its triggers, their verdicts, and what closing adds to a support."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whence.engine.language.events import Event, Term
from whence.engine.language.events import Part as EventPart
from whence.engine.rules.case import Case
from whence.engine.rules.clock import END
from whence.engine.rules.decision import NO_TIME, Decision, by_text
from whence.engine.rules.part import Part
from whence.engine.rules.rule import Closes, ReadyRule
from whence.engine.rules.spec import TRIGGER, reads
from whence.engine.values import Value, as_condition

__all__ = ["Pending", "Running", "Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule came to at one trigger.

    Attributes:
        key: the case's key.
        number: of the cases of that key, from 1.
        first: the position of the case's first event.
        trigger: the position of the event that it is about.
        event: that event.
        value: whether what must hold does.
        place: the position at which it became certain; `AS_OF` or `END`.
        by: ``event``, ``clock``, ``closed``, ``as-of`` or ``end``.
        since: the time from which it is violated, in microseconds; ``None`` if unknown.
        why: what explains it.
        support: what is enough for it.
    """

    key: Value
    number: int
    first: int
    trigger: int
    event: Event
    value: bool
    place: int
    by: str
    since: int | None
    why: Term
    support: Term


@dataclass(frozen=True, slots=True)
class Pending:
    """A verdict that is not certain yet; ``due``: when it will be if no further event comes."""

    key: Value
    number: int
    first: int
    trigger: int
    event: Event
    due: int | None


class Running:
    """A case at work.

    Args:
        rule: what must hold when.
        closes: when cases end.
        case: its events.
        key: the case's key.
        number: of the cases of that key, from 1.
        before: the last event of the case of this key before.
        apart: the clock event that alone keeps the two apart.
    """

    def __init__(
        self,
        rule: ReadyRule,
        closes: Closes | None,
        case: Case,
        key: Value,
        number: int,
        before: Event | None,
        apart: Term,
    ) -> None:
        """Begin without events."""
        self.rule, self.closes, self.case = rule, closes, case
        self.key, self.number = key, number
        self.before, self.apart = before, apart
        self.triggers: dict[int, tuple[Part, Decision | None]] = {}
        self.given: list[Verdict] = []
        self.refused: list[Term] = []

    def look(self, k: int) -> None:
        """Is the event k a trigger? Then ask what must hold."""
        when: Decision | None = None
        if self.rule.when is not None:
            when = self.case.part(self.rule.when, -1).ask(k)
            assert when is not None
            if not as_condition(when.value):
                if self.case.tracked:
                    self.refused.append(when.support)
                return
        elif k:
            return
        part = self.case.part(self.rule.must, k)
        self.triggers[k] = (part, when)
        part.above[self] = None
        found = part.ask(k)
        if found is not None:
            self.heard(part, k, found)

    def heard(self, part: Part, i: int, found: Decision) -> None:
        """What must hold was decided at an event."""
        k = i
        if k not in self.triggers or self.triggers[k][0] is not part:
            return
        part, when = self.triggers.pop(k)
        case = self.case
        since = max(found.since, case.times[k])
        why: Term = found.why
        support: Term = found.support
        if case.tracked:
            if when is not None:
                why, support = (when.why, why), (when.support, support)
            support = (support, self._belonging(k, found.place))
        self.given.append(
            Verdict(
                self.key,
                self.number,
                case.places[0],
                case.places[k],
                case.events[k],
                as_condition(found.value),
                found.place,
                by_text(found.when),
                since if since > NO_TIME else None,
                why,
                support,
            )
        )
        if part.spec.triggered:
            part.release()

    def _belonging(self, k: int, place: int) -> Term:
        """That the events which the rule looks at are of one case."""
        case, closes = self.case, self.closes
        if closes is None:
            return None
        after = closes.after is not None
        terms: list[Term] = []
        if self.rule.must.ahead:
            last = place if after else place - 1
            later = [
                i for i in range(k, len(case.places)) if case.places[i] <= last or place >= END
            ]
            terms += self._links(later, None)
        if self.rule.back:
            terms += self._links(range(k + after), self.before)
            if self.before is not None:
                terms.append(self.apart)
        return tuple(terms)

    def _links(self, events: list[int] | range, before: Event | None) -> list[Term]:
        """What keeps these events in one case, and that before out of it."""
        case, closes = self.case, self.closes
        assert closes is not None
        inside = [case.events[i] for i in events]
        if closes.condition is not None:
            every = inside if before is None else [before, *inside]
            return [closes.term(event) for event in every]
        if len(inside) + (before is not None) < 2:
            return []
        terms: list[Term] = [case.time_of(event) for event in inside]
        if before is not None:
            terms.append(case.time_of(before))
        terms += [case.before(case.places[i]) for i in events if i and case.late[i]]
        return terms

    def open(self) -> Iterator[Term]:
        """What could make a verdict appear: all that pending ones may look at, false ``when``."""
        case, rule, closes = self.case, self.rule, self.closes
        yield from self.refused
        again = rule.when is None or rule.when.back
        if again and closes is not None and closes.condition is not None:
            yield from [closes.term(event) for event in case.events]
        if not self.triggers:
            return
        least = min(self.triggers)
        for pipe, fields in reads(rule.must):
            places: Iterable[int] = range(0 if rule.must.back else least, len(case.events))
            if pipe:
                places = self.triggers if pipe == TRIGGER else (0,)
            yield tuple([EventPart(case.events[i], fields) for i in places])
        if closes is not None and closes.condition is not None:
            yield from [
                closes.term(event) for event in case.events[0 if rule.must.back else least :]
            ]
            if rule.must.back and self.before is not None:
                yield closes.term(self.before)

    def pending(self) -> Iterator[Pending]:
        """The triggers that wait, each with its due time."""
        case = self.case
        for k, (part, _) in self.triggers.items():
            yield Pending(
                self.key, self.number, case.places[0], case.places[k], case.events[k],
                self._due(part, k),
            )  # fmt: skip

    def _due(self, part: Part, k: int) -> int | None:
        """The earliest deadline at which it would be decided without a further event."""
        deadlines = set(part.deadlines())
        if self.case.closes_at is not None:
            deadlines.add(self.case.closes_at)
        times = sorted(deadlines)
        low, high = 0, len(times)
        while low < high:
            middle = (low + high) // 2
            if part.guess(k, times[middle]) is None:
                low = middle + 1
            else:
                high = middle
        return times[low] if low < len(times) else None

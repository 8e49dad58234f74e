"""A rule on a log: cases by key, the clock of the whole log, verdicts as they become certain."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from whence.engine.errors import EventError
from whence.engine.language.compiled import field_of
from whence.engine.language.events import Event, Term
from whence.engine.language.events import Part as EventPart
from whence.engine.rules.case import Case, Closing
from whence.engine.rules.clock import END, Clock, micros_of
from whence.engine.rules.decision import (
    CLOCK,
    CLOSED,
    EVENT,
    NO_TIME,
    Decision,
    Spans,
    moment,
)
from whence.engine.rules.kinds import part_of
from whence.engine.rules.part import Part
from whence.engine.rules.rule import Closes, ReadyRule
from whence.engine.rules.running import Pending, Running, Verdict
from whence.engine.values import Value, ValueFault, as_condition, key_of

__all__ = ["RuleRun"]


class _Key:
    """What is known of a key: its present case, and how the one before ended."""

    __slots__ = ("apart", "before", "closed_at", "count", "key", "running")

    def __init__(self, key: Value) -> None:
        self.key = key
        self.count = 0
        self.running: Running | None = None
        self.before: Event | None = None
        self.closed_at: int | None = None
        self.apart: Term = None


class RuleRun:
    """A rule at work on the events of a log, whatever case they belong to.

    Args:
        rule: what must hold when.
        time: the field that holds the time; ``None`` without.
        grace: how long after a deadline an event may still come, in microseconds.
        max_jump: how far ahead of the clock a time may be and still move it.
        closes: when a case has come to its end.
        tracked: whether verdicts carry terms.
        waits: whether connectives wait, as in chains.
        name: whose rule it is, for errors.

    Attributes:
        late: positions of late events.
        reopened: positions of events that opened a key anew.
    """

    def __init__(
        self,
        rule: ReadyRule,
        *,
        time: str | None = None,
        grace: int = 0,
        max_jump: int | None = None,
        closes: Closes | None = None,
        tracked: bool = True,
        waits: bool = False,
        name: str = "rule",
    ) -> None:
        """Begin before any event."""
        self.rule, self.time, self.closes = rule, time, closes
        self.tracked, self.waits, self.name = tracked, waits, name
        self.timed = rule.timed or (closes is not None and closes.after is not None)
        self.clock = Clock(grace, max_jump)
        self.late: list[int] = []
        self.reopened: list[int] = []
        self.place = 0
        self._keys: dict[object, _Key] = {}
        self._due: list[tuple[int, int, Running, Part | None, int]] = []
        self._number = 0
        self._events: list[Event] = []
        self._refused: list[Term] = []
        self._all_times = Spans(self._time_decision)

    def feed(self, event: Event, *keys: Value) -> list[Verdict]:
        """Take the next event of the log, in the cases of its keys; return what is certain now."""
        place = self.place
        self.place += 1
        try:
            return self._feed(event, keys, place)
        except ValueFault as fault:
            msg = f"{self.name}, position {place}: {fault}"
            raise EventError(msg) from fault

    def _feed(self, event: Event, keys: Sequence[Value], place: int) -> list[Verdict]:
        time = self._time(event)
        late = False
        if self.tracked:
            self._events.append(event)
        if time != NO_TIME:
            self.clock.advance(place, time, event)
            late = self.clock.is_late(time)
            if late:
                self.late.append(place)
        touched: dict[Running, None] = {}
        states = [self._keys.setdefault(key_of(key), _Key(key)) for key in keys]
        for state in states:
            self._split(state, event, time, place, touched)
        self._pass(touched)
        for state in states:
            running = self._running(state, event, time, place)
            touched[running] = None
            self._add(state, running, event, place, time, late)
        self._pass(touched)  # a late event may end its case at once
        return self._given(touched)

    def _time(self, event: Event) -> int:
        value = None if self.time is None else field_of(event.value, self.time)
        if value is None:
            if self.timed:
                wanted = f"a time in {self.time!r}" if self.time else "a column that holds the time"
                hint = "dropping events without a time" if self.time else "time= or --time"
                raise ValueFault(wanted, "missing", hint)
            return NO_TIME
        micros = micros_of(value)
        if not self.clock.values:
            self.clock.instants = not isinstance(value, (int, float))
        return micros

    def _split(
        self, state: _Key, event: Event, time: int, place: int, touched: dict[Running, None]
    ) -> None:
        """A gap before the key's next event closes its case, whatever the clock says."""
        running, after = state.running, None if self.closes is None else self.closes.after
        if running is None or after is None:
            return
        last = running.case.times[-1]
        if time - last > after:
            why = (running.case.time(-1), running.case.time_of(event))
            self._close(state, Closing(moment(place, CLOCK), last + after, why, why), touched)
            state.apart = None

    def _pass(self, touched: dict[Running, None]) -> None:
        """Look again at what a deadline that has passed decides."""
        while self._due and self.clock.passed(self._due[0][0]) is not None:
            deadline, _, running, part, k = heapq.heappop(self._due)
            if part is not None:
                if k in part.waiting:
                    running.case.mark(part, k)
                    touched[running] = None
            elif running.case.closing is None and running.case.closes_at == deadline:
                place = self.clock.passed(deadline)
                assert place is not None
                case = running.case
                clock = case.clock_time(place)
                place = max(place, case.places[-1])
                why = (case.time(-1), clock)
                state = self._keys[key_of(running.key)]
                self._close(state, Closing(moment(place, CLOCK), deadline, why, why), touched)
                state.apart = clock

    def _close(self, state: _Key, closing: Closing, touched: dict[Running, None]) -> None:
        running = state.running
        assert running is not None
        state.before, state.running = running.case.events[-1], None
        state.closed_at = running.case.times[-1]
        running.case.close(closing)
        touched[running] = None

    def _running(self, state: _Key, event: Event, time: int, place: int) -> Running:
        if state.running is not None:
            return state.running
        after = None if self.closes is None else self.closes.after
        apart: Term = None
        if state.count:
            self.reopened.append(place)
            if (
                after is not None
                and state.closed_at is not None
                and time - state.closed_at <= after
            ):
                apart = state.apart
        state.count += 1
        case = Case(
            self.clock,
            self.time,
            tracked=self.tracked,
            waits=self.waits,
            make=part_of,
            before=self._times_before,
            later=lambda deadline, part, k: self._later(deadline, made, part, k),
        )
        made = Running(self.rule, self.closes, case, state.key, state.count, state.before, apart)
        state.running = made
        return made

    def _later(self, deadline: int, running: Running, part: Part | None, k: int) -> None:
        self._number += 1
        heapq.heappush(self._due, (deadline, self._number, running, part, k))

    def _add(
        self, state: _Key, running: Running, event: Event, place: int, time: int, late: bool
    ) -> None:
        case, closes = running.case, self.closes
        case.add(event, place, time, late)
        k = len(case.events) - 1
        if closes is not None and closes.condition is not None:
            if as_condition(closes.condition.value([event])):
                why = closes.term(event) if self.tracked else None
                self._close(state, Closing(moment(place, CLOSED), time, why, why), {})
        elif closes is not None and closes.after is not None:
            case.closes_at = time + closes.after
            self._later(case.closes_at, running, None, k)
        running.look(k)

    def _given(self, touched: dict[Running, None]) -> list[Verdict]:
        """Decide in every case that something happened to, and collect the verdicts."""
        given: list[Verdict] = []
        for running in touched:
            running.case.settle()
            given += running.given
            running.given = []
            if running.case.closing is not None:
                self._refused += running.open()
                running.case.release()
        given.sort(key=lambda x: (x.place, x.first, x.trigger))
        return given

    def move_to(self, time: int) -> list[Verdict]:
        """Move the clock on without an event; return the verdicts that this made certain."""
        self.clock.move_to(time)
        touched: dict[Running, None] = {}
        self._pass(touched)
        return self._given(touched)

    def close(self) -> list[Verdict]:
        """The log is at its end: so is every case."""
        touched: dict[Running, None] = {}
        for state in list(self._keys.values()):
            if state.running is not None:
                since = state.running.case.times[-1]
                self._close(state, Closing(moment(END), since), touched)
        return self._given(touched)

    def pending(self) -> list[Pending]:
        """The verdicts that are not certain yet."""
        found = [
            pending
            for state in self._keys.values()
            if state.running is not None
            for pending in state.running.pending()
        ]
        return sorted(found, key=lambda x: (x.first, x.trigger))

    def open(self) -> list[Term]:
        """What could make a further verdict appear: pending ones, false ``when``, closing."""
        if not self.tracked:
            return []
        terms: list[Term] = [*self._refused]
        waits = False
        for state in self._keys.values():
            if state.running is not None:
                terms += state.running.open()
                waits = waits or bool(state.running.triggers)
        rule, closes = self.rule, self.closes
        gaps = closes is not None and closes.after is not None
        again = rule.when is None or rule.when.back
        if (waits and (rule.must.timed or gaps)) or (gaps and again):
            terms.append(self._times_before(self.place))
        return terms

    def _time_decision(self, place: int) -> Decision:
        fields = None if self.time is None else frozenset({self.time})
        return Decision(
            True, moment(place, EVENT), NO_TIME, None, EventPart(self._events[place], fields)
        )

    def _times_before(self, place: int) -> Term:
        """The times of all events of the log before a place."""
        return self._all_times.over(range(place)).support if self.tracked else None

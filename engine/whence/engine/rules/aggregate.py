"""Values over the events so far: count, sum, min, max, mean, distinct."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whence.engine.functions import FUNCTIONS
from whence.engine.language.events import Term
from whence.engine.language.formula.temporal import Aggregate as Head
from whence.engine.rules.case import Case
from whence.engine.rules.decision import NO_TIME, Decision, Spans, joined
from whence.engine.rules.part import Part
from whence.engine.rules.spec import Spec
from whence.engine.values import Value, as_condition, key_of

__all__ = ["Aggregate"]

_ADD, _DIV = FUNCTIONS["add"], FUNCTIONS["div"]


class Aggregate(Part):
    """An aggregate over the events up to k, in an interval of differences of times.

    An event counts if x is there and the condition holds; of ``count``, if its condition holds.
    """

    __slots__ = ("contributing", "folds", "head", "looked")

    def __init__(self, case: Case, spec: Spec, trigger: int) -> None:
        """Begin without events."""
        super().__init__(case, spec, trigger)
        assert isinstance(spec.node.head, Head)
        self.head: Head = spec.node.head
        self.contributing = Spans(self._contribution)
        self.looked = Spans(self._looked)
        self.folds: list[Any] = []

    def _counted(self, i: int) -> tuple[bool, Value]:
        """Whether an event counts, and with which value."""
        if self.head.where:
            condition = self.parts[1].ask(i)
            assert condition is not None
            if not as_condition(condition.value):
                return False, None
        found = self.parts[0].ask(i)
        assert found is not None
        if self.head.name == "count":
            return as_condition(found.value), None
        return found.value is not None, found.value

    def _look(self, i: int) -> Decision:
        """What decided whether an event counts, and with which value."""
        parts = [part.ask(i) for part in self.parts]
        known = [x for x in parts if x is not None]
        if self.head.where and not as_condition(known[1].value):
            known = known[1:]
        return joined(known)

    def _looked(self, i: int) -> Decision:
        found = self._look(i)
        if self.spec.bound is None or not self.case.tracked:
            return found
        return found._replace(why=(found.why, self.case.time(i)))

    def _contributes(self, i: int) -> bool:
        counts, value = self._counted(i)
        return counts and not (self.head.name == "sum" and _is_zero(value))

    def _contribution(self, i: int) -> Decision:
        if not self._contributes(i):
            return Decision(True, 0, NO_TIME, None, None)
        return self._looked(i)._replace(since=self.case.times[i])

    def decide(self, k: int) -> Decision:
        """The value over the interval, because of the events that contribute."""
        case = self.case
        events = case.behind(k, self.spec.bound)
        value, picked = self._value(events)
        when, since = self.floor(k), case.times[k]
        if not case.tracked:
            return Decision(value, when, since, None, None)
        rest, own = _without(events, k)
        support = self.looked.over(rest).support
        if own:
            support = (support, self._look(k).support)
        if self.spec.bound is not None and k:
            support = (support, case.time(k), case.times_of(range(k)))
        return Decision(value, when, since, self._why(rest, own, picked, k), support)

    def _why(self, rest: Sequence[int], own: bool, picked: int | None, k: int) -> Term:
        if picked is not None:
            rest, own = ([], True) if picked == k else ([picked], False)
        found = self.contributing.over(rest)
        others = found.since > NO_TIME
        own_too = own and self._contributes(k)
        if not others and not own_too:
            found, others, own_too = self.looked.over(rest), bool(rest), own
        why = (found.why, self._look(k).why) if own_too else found.why
        return (why, self.case.time(k)) if others and self.spec.bound is not None else why

    def _value(self, events: Sequence[int]) -> tuple[Value, int | None]:
        """The value; of min and max also the first event that attains it."""
        fold = _FOLDS[self.head.name]
        whole = isinstance(events, range) and events.start == 0 and len(events) > 0
        if not whole:
            state: Any = fold.start()
            for i in events:
                counts, value = self._counted(i)
                if counts:
                    state = fold.step(state, value, i)
            return fold.end(state)
        while len(self.folds) < events[-1] + 1:
            i = len(self.folds)
            counts, value = self._counted(i)
            before = self.folds[-1] if self.folds else fold.start()
            self.folds.append(fold.step(before, value, i) if counts else before)
        return fold.end(self.folds[events[-1]])


def _is_zero(value: Value) -> bool:
    return isinstance(value, (int, float)) and value == 0


def _without(events: Sequence[int], k: int) -> tuple[Sequence[int], bool]:
    """The events other than k, which are before it, and whether k is among them."""
    own = bool(events) and events[-1] == k
    return (events[:-1], True) if own else (events, False)


class _Fold:
    """How an aggregate is folded, from left to right."""

    def start(self) -> Any:
        """Over no event."""
        return None

    def step(self, state: Any, value: Value, i: int) -> Any:
        """Take a value that counts."""
        raise NotImplementedError

    def end(self, state: Any) -> tuple[Value, int | None]:
        """The value, and the event that alone attains it."""
        return state, None


class _Count(_Fold):
    def start(self) -> Any:
        return 0

    def step(self, state: Any, value: Value, i: int) -> Any:
        return state + 1


class _Sum(_Fold):
    def step(self, state: Any, value: Value, i: int) -> Any:
        return _ADD.compute(value) if state is None else _ADD.compute(state, value)

    def end(self, state: Any) -> tuple[Value, int | None]:
        return (0 if state is None else state), None


class _Mean(_Fold):
    def start(self) -> Any:
        return None, 0

    def step(self, state: Any, value: Value, i: int) -> Any:
        total, count = state
        return (value if total is None else _ADD.compute(total, value)), count + 1

    def end(self, state: Any) -> tuple[Value, int | None]:
        total, count = state
        return (None if total is None else _DIV.compute(total, count)), None


class _Extreme(_Fold):
    def __init__(self, name: str) -> None:
        self.compute = FUNCTIONS[name].compute

    def step(self, state: Any, value: Value, i: int) -> Any:
        if state is None:
            return self.compute(value), i
        best = state[0]
        better = self.compute(best, value)
        same = better == best or (better != better and best != best)
        return state if same else (better, i)

    def end(self, state: Any) -> tuple[Value, int | None]:
        return (None, None) if state is None else state


class _Distinct(_Fold):
    """States share one growing map from a value to its number; each knows how many it had."""

    def start(self) -> Any:
        return 0, {}

    def step(self, state: Any, value: Value, i: int) -> Any:
        count, known = state
        number = known.setdefault(key_of(value), count + 1)
        return state if number <= count else (number, known)

    def end(self, state: Any) -> tuple[Value, int | None]:
        return state[0], None


_FOLDS: dict[str, _Fold] = {
    "count": _Count(),
    "sum": _Sum(),
    "mean": _Mean(),
    "min": _Extreme("min"),
    "max": _Extreme("max"),
    "distinct": _Distinct(),
}

"""Parts of one event: expressions, connectives, functions of what is below, the trigger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whence.engine.functions import Function
from whence.engine.language.compiled import guarded
from whence.engine.language.expression import Constant
from whence.engine.language.formula.temporal import Aggregate
from whence.engine.rules.decision import NO_TIME, Decision, joined, moment
from whence.engine.rules.part import Part
from whence.engine.rules.spec import FIRST, TRIGGER
from whence.engine.values import Value, as_condition

__all__ = ["Atom", "Connective", "FunctionOf", "Trigger", "Whole"]


class Atom(Part):
    """An expression of an event, which may read the trigger's fields and those of the first."""

    __slots__ = ()

    def decide(self, k: int) -> Decision:
        """Known with its event, or with the trigger."""
        case, compiled = self.case, self.spec.compiled
        assert compiled is not None
        now = case.events[k]
        front = (now, case.events[self.trigger] if self.trigger >= 0 else now, case.events[0])
        when = self.floor(k)
        since = NO_TIME if not self.spec.fields else case.times[k]
        for pipe, event in ((TRIGGER, self.trigger), (FIRST, 0)):
            if pipe in self.spec.fields:
                since = max(since, case.times[event])
        if not case.tracked:
            return Decision(compiled.value(front), when, since, None, None)
        value, why, support = compiled.trace(front)
        return Decision(value, when, since, why, why if support is None else support)


class Trigger(Part):
    """``trigger`` alone: true at that event and nowhere else; it explains nothing."""

    __slots__ = ()

    def decide(self, k: int) -> Decision:
        """Known with the trigger."""
        return Decision(k == self.trigger, self.floor(k), NO_TIME, None, None)


class Connective(Part):
    """``and``, ``or``, ``implies``, ``not``: known as soon as one argument decides alone."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Which one."""
        head = self.spec.node.head
        assert isinstance(head, Function)
        return head.name

    def _truths(self, values: Sequence[bool | None]) -> list[bool | None]:
        """What each argument gives to a disjunction that means the same."""
        if self.name == "or":
            return list(values)
        if self.name == "implies":
            return [None if values[0] is None else not values[0], values[1]]
        return [None if x is None else not x for x in values]

    def decide(self, k: int) -> Decision | None:
        """By the left-most of the arguments that decide alone at that position; else by all."""
        asked = [part.ask(k) for part in self.parts]
        found = self._truths([None if x is None else as_condition(x.value) for x in asked])
        known = [x for x in asked if x is not None]
        if self.case.waits and len(known) < len(asked):
            return None
        floor = self.floor(k)
        alone = [x for x, holds in zip(asked, found, strict=True) if holds and x is not None]
        result = self.name != "and"
        if alone and self.name != "not":
            place = max(min(x.place for x in alone), floor >> 2)
            if self.case.waits:
                place = max(place, *(x.place for x in known))
            first = next(x for x in alone if x.place <= place)
            when = first.when if first.place == place else moment(place)
            return first._replace(value=result, when=when)
        if len(known) < len(asked):
            return None
        value = bool(alone) if self.name == "not" else not result
        total = joined(known)
        return total._replace(value=value, when=max(total.when, floor))

    def guess(self, k: int, time: int) -> bool | None:
        """By one argument alone, or by all."""
        known = super().guess(k, time)
        if known is not None:
            return known
        found = self._truths([part.guess(k, time) for part in self.parts])
        if self.case.waits and None in found:
            return None
        if True in found:
            return self.name != "and"
        return None if None in found else self.name == "and"


class FunctionOf(Part):
    """A function of values that are not all of this event, such as ``sum(amount) <= 100``."""

    __slots__ = ()

    def decide(self, k: int) -> Decision | None:
        """Once all its arguments are known."""
        asked = [part.ask(k) for part in self.parts]
        known = [x for x in asked if x is not None]
        return self.result(k, known) if len(known) == len(asked) else None

    def result(self, k: int, known: Sequence[Decision]) -> Decision:
        """The value, because of what the function's rule picks."""
        function = self.spec.node.head
        assert isinstance(function, Function)
        values = [x.value for x in known]
        if function.name == "if":
            value = values[1] if as_condition(values[0]) else values[2]
            picks: Sequence[int] = (0, 1 if as_condition(values[0]) else 2)
            enough = picks
        else:
            value = guarded(function)(*values)
            picks = function.rule.explain(values, value)[0]
            enough = function.rule.support(tuple(picks), [True] * len(values))
        why = joined([known[i] for i in picks])
        support = why if enough == picks else joined([known[i] for i in enough])
        total = joined(known)
        return Decision(value, max(total.when, self.floor(k)), why.since, why.why, support.support)

    def guess(self, k: int, time: int) -> bool | None:
        """Only what is decided: which value an argument would have is not foreseen."""
        found = self.decided.get(k)
        if found is not None:
            return as_condition(found.value)
        values = [part.guess(k, time) for part in self.parts]
        function = self.spec.node.head
        if None in values or not isinstance(function, Function):
            return None
        return as_condition(guarded(function)(*values))


_OTHER_WAY = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


class Whole(FunctionOf):
    """A comparison with an aggregate over all events of a case: known when the case has closed.

    A comparison of a ``count`` or ``distinct`` without a bound and a constant is known as soon as
    more events cannot change it.
    """

    __slots__ = ()

    def on_event(self, i: int) -> None:
        """Perhaps more events cannot change it any more."""
        for k in self.waiting:
            self.case.mark(self, k)

    def decide(self, k: int) -> Decision | None:
        """At the end, or as soon as it is certain."""
        last = len(self.case.events) - 1
        closing = self.case.closing
        if closing is None and not self._certain(last):
            return None
        found = self.result(k, [_at(part, k, last) for part in self.parts])
        found = found._replace(when=max(found.when, moment(self.case.places[last])))
        if self._certain(last) or closing is None:
            return found
        return found.joined(
            self.plain(True, closing.when, closing.since, closing.why, closing.support)
        )

    def _certain(self, last: int) -> bool:
        """Whether every greater number would give the same."""
        function = self.spec.node.head
        name = function.name if isinstance(function, Function) else ""
        parts = self.parts
        if name not in _OTHER_WAY or len(parts) != 2:
            return False
        if _constant(parts[0]) is not None:
            parts, name = (parts[1], parts[0]), _OTHER_WAY[name]
        head, limit = parts[0].spec.node.head, _constant(parts[1])
        grows = isinstance(head, Aggregate) and head.name in ("count", "distinct")
        if not grows or limit is None or parts[0].spec.bound is not None:
            return False
        found = parts[0].ask(last)
        assert found is not None
        now: Any = found.value
        if name in ("eq", "ne"):
            return bool(now > limit or limit != int(limit))
        return bool(now >= limit if name in ("ge", "lt") else now > limit)

    def guess(self, k: int, time: int) -> bool | None:
        """Once the case would have closed."""
        found = self.decided.get(k)
        if found is not None:
            return as_condition(found.value)
        if not self.over(k, time):
            return None
        last = len(self.case.events) - 1
        return as_condition(self.result(k, [_at(part, k, last) for part in self.parts]).value)


def _at(part: Part, k: int, last: int) -> Decision:
    """A value at the case's first event, aggregates below it at its last."""
    if isinstance(part, FunctionOf):
        return part.result(k, [_at(x, k, last) for x in part.parts])
    found = part.ask(last if isinstance(part.spec.node.head, Aggregate) else k)
    assert found is not None
    return found


def _constant(part: Part) -> Any:
    """The finite number that a part always is; ``None`` if it is no such number."""
    head = part.spec.node.head
    value: Value = head.value if isinstance(head, Constant) else None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if number and abs(value) < 1 << 62 else None  # type: ignore[arg-type]

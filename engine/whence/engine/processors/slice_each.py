"""Slice with ``combine: each``: whatever a slice's P gives is given, with the slice's key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from whence.engine.functions import in_force
from whence.engine.language.compiled import compile_expression
from whence.engine.language.events import Event, Term
from whence.engine.language.expression import Call, Field, raw_field
from whence.engine.language.instance import Instance, Planned
from whence.engine.language.processor import Machine, MachineFactory, Scope, Site
from whence.engine.language.traits import Traits
from whence.engine.processors.each import Each
from whence.engine.rules import Closes, RuleRun, Verdict, closes_from
from whence.engine.values import Value, as_condition, key_of

if TYPE_CHECKING:
    from whence.engine.language.chain import Chain
    from whence.engine.processors.slice import Slice

__all__ = ["checked_as_rule", "closes_of", "each_machine", "rule_in", "usual_take"]


def rule_in(declared: Slice) -> Each | None:
    """The `Each` that P is, if it is nothing else."""
    connections = declared.inner.connections
    only = connections[0].processor if len(connections) == 1 else None
    return only if isinstance(only, Each) else None


def usual_take(inner: Chain) -> str:
    """The first verdict of a formula is about the slice as a whole; of all else, everything."""
    only = inner.connections[0].processor if len(inner.connections) == 1 else None
    if isinstance(only, Each):
        return "first" if only.in_order else "every"
    held = [c.processor for chain in only.holds for c in chain.connections] if only else []
    temporal = any(part.tag == "ltl" for part in (only, *held) if part is not None)
    return "first" if temporal else "every"


def closes_of(declared: Slice, row: Traits) -> Closes | None:
    """When a slice has come to its end, read for what is known of the events."""
    closes = closes_from(declared.closes_when, row, in_force())
    if closes is not None and closes.after is not None:
        expected = "a rule (Each) as P for {after: …}"
        hint = "a condition on the last event"
        declared.require(rule_in(declared) is not None, expected, "none", hint)
    return closes


def checked_as_rule(declared: Slice, row: Traits) -> bool:
    """Check P against the events if it is a rule; whether it is one."""
    closes, rule = closes_of(declared, row), rule_in(declared)
    if rule is not None:
        rule.check(row, gaps=closes is not None and closes.after is not None)
    return rule is not None


def each_machine(declared: Slice, site: Site) -> MachineFactory:
    """What runs the slices: one clock for all if P is a rule, else P itself in every slice."""
    closes = closes_of(declared, site.inputs[0])
    scope = Scope()
    inputs = tuple([t.without_existence() for t in site.inputs])
    # Whoever walks the plan expects one for every chain that is held, also where P is a rule.
    inner = site.plan(declared.inner, inputs, scope, site.closed or closes is not None)
    rule = rule_in(declared)
    if rule is not None:
        return lambda: _RuleMachine(site, declared, rule, closes)
    return lambda: _EachMachine(site, declared, inner, scope, closes)


class _Keyed(Machine):
    """Finds the slices of an event, and names what they give by their keys."""

    __slots__ = ("composite", "computed", "declared", "key", "keys_so_far")

    def __init__(self, site: Site, declared: Slice) -> None:
        super().__init__(site)
        self.declared = declared
        self.key = compile_expression(declared.key, site.inputs, all_witnesses=site.all_witnesses)
        key = declared.key
        several = isinstance(key, Call) and key.function.name == "list"
        self.composite = several
        parts = key.arguments if several else (key,)  # type: ignore[union-attr]
        self.computed = not all(isinstance(x, Field) and raw_field(x, site.inputs) for x in parts)
        self.keys_so_far: Term = None

    def keys(self, front: Sequence[Event]) -> list[Value]:
        """The keys of a front: one, unless the key is a list that was not written as one."""
        if self.tracked and self.computed:
            value, why, support = self.key.trace(front)
            self.keys_so_far = (self.keys_so_far, why if support is None else support)
        else:
            value = self.key.value(front)
        if self.composite or not isinstance(value, (list, tuple)):
            return [value]
        found: dict[object, Value] = {}
        for one in value:
            found.setdefault(key_of(one), one)
        return list(found.values())

    def named(self, key: Value, number: int) -> Value:
        """A key, or with which case of that key it is."""
        if number == 1:
            return key
        shown = "/".join(map(str, key)) if isinstance(key, (list, tuple)) else key
        return f"{shown}#{number}"


class _RuleMachine(_Keyed):
    """A rule on the cases of a log."""

    __slots__ = ("given", "run")

    def __init__(self, site: Site, declared: Slice, rule: Each, closes: Closes | None) -> None:
        super().__init__(site, declared)
        grace, jump = rule.micros()
        row = site.inputs[0]
        self.given: set[tuple[object, int]] = set()
        self.run = RuleRun(
            rule.check(row, gaps=closes is not None and closes.after is not None),
            time=rule.time_of(row),
            grace=grace,
            max_jump=jump,
            closes=closes,
            tracked=site.tracked,
            waits=rule.in_order,
            name=f"{site.name}/{rule.id}",
        )

    def feed(self, *front: Event) -> list[Event]:
        """What has become certain, in whatever case."""
        return self._out(self.run.feed(front[0], *self.keys(front)))

    def _out(self, verdicts: Sequence[Verdict]) -> list[Event]:
        events = []
        for each in verdicts:
            if self.declared.take == "first":
                name = (key_of(each.key), each.number)
                if name in self.given:
                    continue
                self.given.add(name)
            support = each.support if not self.computed else (each.support, self.keys_so_far)
            value: Any = {"key": self.named(each.key, each.number), "value": each.value}
            events.append(self.emit(value, each.why, support, None))
        return events

    def close(self) -> list[Event]:
        """The verdicts that wait, as the end decides them."""
        return self._out(self.run.close())

    def waits(self) -> int:
        """How many verdicts are not certain yet."""
        return len(self.run.pending())

    def open(self) -> Term:
        """What could make a further verdict appear."""
        return tuple(self.run.open())


class _OneCase:
    __slots__ = ("ended", "events", "given", "instance", "key", "number")

    def __init__(self, key: Value, number: int, instance: Instance) -> None:
        self.key, self.number, self.instance = key, number, instance
        self.given = 0
        self.events: Term = None
        self.ended: Term = None


class _EachMachine(_Keyed):
    """P in every slice."""

    __slots__ = ("closes", "counts", "inner", "inner_scope", "irregular", "present")

    def __init__(
        self, site: Site, declared: Slice, inner: Planned, scope: Scope, closes: Closes | None
    ) -> None:
        super().__init__(site, declared)
        self.inner, self.inner_scope, self.closes = inner, scope, closes
        self.irregular = not inner.outputs[0].regular
        self.present: dict[object, _OneCase] = {}
        self.counts: dict[object, int] = {}

    def feed(self, *front: Event) -> list[Event]:
        """Whatever P gives in the slices of this front."""
        self.inner_scope.at = self.fed - 1 if self.scope is None else self.next_position()
        events: list[Event] = []
        for key in self.keys(front):
            events += self._feed(key, front)
        return events

    def _feed(self, key: Value, front: tuple[Event, ...]) -> list[Event]:
        slot = key_of(key)
        case = self.present.get(slot)
        given: list[Event] = []
        if case is None:
            self.counts[slot] = self.counts.get(slot, 0) + 1
            case = _OneCase(key, self.counts[slot], self.inner.start())
            self.present[slot] = case
            given += case.instance.begin()
        if self.tracked:
            case.events = (case.events, *front)
        given += case.instance.feed(front)
        events = self._out(case, given, None)
        condition = None if self.closes is None else self.closes.condition
        if condition is not None and as_condition(condition.value(front)):
            assert self.closes is not None
            del self.present[slot]
            why = self.closes.term(front[0]) if self.tracked else None
            events += self._out(case, case.instance.close(), why)
        return events

    def _out(self, case: _OneCase, given: Sequence[Event], closed: Term) -> list[Event]:
        events = []
        for inner in given:
            case.given += 1
            if self.declared.take == "first" and case.given > 1:
                break
            value: Any = {"key": self.named(case.key, case.number), "value": inner.value}
            if not self.tracked:
                events.append(self.emit(value))
                continue
            keys = self.keys_so_far if self.computed else None
            # Which of P's outputs it is depends, where values decide that, on all of the slice.
            slice_too = case.events if self.irregular and case.given > 1 else None
            ends = closed if self.closes is None else (closed, case.events)
            why = inner if closed is None else (inner, closed)
            support = (inner, inner.exists, keys, slice_too, ends)
            events.append(self.emit(value, why, support, inner.exists))
        return events

    def close(self) -> list[Event]:
        """What P still gives in every slice."""
        self.inner_scope.at = self.fed if self.scope is None else self.next_position()
        events: list[Event] = []
        for case in self.present.values():
            events += self._out(case, case.instance.close(), None)
        return events

    def waits(self) -> int:
        """How many verdicts wait, in all slices."""
        return sum(
            machine.waits() for case in self.present.values() for machine in case.instance.machines
        )

    def open(self) -> Term:
        """All of the slices that may still give something."""
        return tuple([case.events for case in self.present.values()]) if self.irregular else None

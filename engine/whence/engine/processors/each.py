"""Each: a verdict for every event that a rule is about, as soon as it is certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.functions import in_force
from whence.engine.language.events import Event, Term
from whence.engine.language.formula.bounds import duration_of_text
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site
from whence.engine.language.traits import Traits
from whence.engine.rules import ReadyRule, Rule, RuleRun, Verdict
from whence.engine.values import ValueFault

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["Each", "require_whole_clock"]

KEYS = {"when", "must", "case", "time", "grace", "max_jump", "in_order"}


@dataclass(frozen=True)
class Each(Processor):
    """A verdict of ``must`` for each event that satisfies ``when``, as soon as it is certain.

    Inside a `Slice` with ``combine: each`` the events are those of one case, and the clock is that
    of the whole log.

    Args:
        id: its name.
        must: what has to hold at that event: a formula of time, the past and the future, in which
            ``trigger.amount`` is a field of that event.
        when: which events it is about; without it, the rule is about the case as a whole, and gives
            one verdict.
        time: the field that holds the time; that of the log unless given.
        grace: how long after a deadline an event may still come, such as ``2h``.
        max_jump: a time further ahead of the clock than this does not move it.
        in_order: verdicts come in the order of events, and connectives wait for all they join, as
            in a chain's formulas.

    >>> from whence.engine.testing import run
    >>> paid = Each("audited", when="pay", must="F[..5s] audit", time="t")
    >>> log = [{"pay": True, "t": 0}, {"audit": True, "t": 3}, {"pay": True, "t": 4}, {"t": 10}]
    >>> run(paid, log)
    [(True, {0, 1}), (False, {2, 3})]
    """

    must: str
    when: str | None = None
    time: str | None = None
    grace: str | None = None
    max_jump: str | None = None
    in_order: bool = False

    tag: ClassVar[str] = "each"
    closes: ClassVar[bool] = True
    selects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Read the formulas."""
        super().__post_init__()
        for name in ("must", "when", "time", "grace", "max_jump"):
            text = getattr(self, name)
            wanted = name == "must"
            fits = isinstance(text, str) or (text is None and not wanted)
            self.require(fits, f"`{name}` as text", text, f"{name}: 'amount > 0'")
        self.micros()
        self.rule()

    def rule(self, row: Traits | None = None) -> ReadyRule:
        """The rule, read for what is known of the events."""
        made = Rule(self.must, self.when)
        return made.ready(own=in_force()) if row is None else made.ready(row, in_force())

    def micros(self) -> tuple[int, int | None]:
        """Grace and the longest jump, in microseconds."""
        grace = 0 if self.grace is None else duration_of_text(self.grace, "grace")
        jump = None if self.max_jump is None else duration_of_text(self.max_jump, "max_jump")
        return grace, jump

    def time_of(self, row: Traits) -> str | None:
        """The field that holds the time of an event."""
        return row.time if self.time is None else self.time

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """Verdicts are booleans; how many there are depends on values."""
        self.check(inputs[0], gaps=False)
        return Traits(regular=False, may_be_missing=False, kind="boolean")

    def check(self, row: Traits, *, gaps: bool) -> ReadyRule:
        """Read the rule for these events; refuse a bound on a log without times."""
        rule, time = self.rule(row), self.time_of(row)
        columns = row.columns
        if time is None and (rule.timed or gaps):
            hint = "time: COLUMN of the log, or --time COLUMN"
            raise ValueFault("a column that holds the time, for a time bound", "none", hint)
        if time is not None and columns is not None and time in columns:
            kind = columns[time]
            if kind not in ("any", "instant", "integer", "float", "number"):
                wanted = f"instants or seconds in {time!r}"
                raise ValueFault(wanted, kind, f"--type {time}=instant")
        return rule

    def because(self, told: Told) -> str:
        """In words: what had to hold, and what decided."""
        must = f"`{self.must}`"
        if told.value is True:
            return f"{must} holds: {told}"
        return f"{must} does not hold: {told}"

    def machine(self, site: Site) -> MachineFactory:
        """Begin before any event."""
        rule = self.check(site.inputs[0], gaps=False)
        return lambda: _Each(site, self, rule)

    def parameters(self) -> Any:
        """What is stated."""
        value = {"when": self.when, "case" if self.when is None else "must": self.must}
        stated = {name: getattr(self, name) for name in ("time", "grace", "max_jump")}
        made = {name: text for name, text in {**value, **stated}.items() if text is not None}
        return {**made, "in_order": True} if self.in_order else made

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Mapping[str, Any]) -> Each:
        """From ``when`` and ``must``, or ``case``."""
        about_cases = isinstance(value, dict) and "case" in value
        allowed = KEYS - ({"when", "must"} if about_cases else {"case"})
        read["keys"](value, allowed, {"case"} if about_cases else {"when", "must"})
        rest = {name: value[name] for name in value if name not in ("when", "must", "case")}
        return cls(id, value["case"] if about_cases else value["must"], value.get("when"), **rest)


def require_whole_clock(declared: Processor) -> None:
    """Refuse a rule with deadlines inside a processor that shows it some of the events only.

    The clock of a deadline is that of the whole log. Only as the whole P of a Slice with
    ``combine: each`` does a rule see it.
    """
    waiting = list(declared.holds)
    while waiting:
        for each in waiting.pop().connections:
            inside = each.processor
            waiting += inside.holds
            if isinstance(inside, Each):
                expected = "a rule with time bounds outside, or as all of P with combine: each"
                hint = "a Slice with combine: each and the rule alone as P"
                declared.require(not inside.rule().timed, expected, inside.id, hint)


class _Each(Machine):
    """All events are of one case."""

    __slots__ = ("held", "in_order", "run")

    def __init__(self, site: Site, declared: Each, rule: ReadyRule) -> None:
        super().__init__(site)
        grace, jump = declared.micros()
        self.in_order = declared.in_order
        self.run = RuleRun(
            rule,
            time=declared.time_of(site.inputs[0]),
            grace=grace,
            max_jump=jump,
            tracked=site.tracked,
            waits=declared.in_order,
            name=site.name,
        )
        self.held: dict[int, Verdict] = {}

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """What has become certain."""
        return self._out(self.run.feed(event, None))

    def _out(self, given: Sequence[Verdict]) -> list[Event]:
        if self.in_order:
            self.held.update({x.trigger: x for x in given})
            given = []
            while self.count + len(given) in self.held:
                given = [*given, self.held.pop(self.count + len(given))]
        return [self.emit(x.value, x.why, x.support, x.support) for x in given]

    def close(self) -> list[Event]:
        """The verdicts that wait, as the end decides them."""
        return self._out(self.run.close())

    def waits(self) -> int:
        """How many verdicts are not certain yet."""
        return len(self.run.pending())

    def open(self) -> Term:
        """What could make a further verdict appear."""
        return tuple(self.run.open())

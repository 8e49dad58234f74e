"""A rule: what it is about and what must hold, read and checked before any event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.functions import NEVER, OwnFunctions
from whence.engine.language.compiled import Compiled, compile_expression
from whence.engine.language.events import Event, Term
from whence.engine.language.expression import Expression
from whence.engine.language.formula import parse_expression
from whence.engine.language.formula.bounds import duration_of_text
from whence.engine.language.formula.faults import fault_at
from whence.engine.language.formula.parser import parse
from whence.engine.language.formula.temporal import AHEAD
from whence.engine.language.traits import Traits
from whence.engine.rules.spec import Spec, check_condition, spec_of

__all__ = ["Closes", "ReadyRule", "Rule", "closes_from"]

_RECORDS = Traits(raw=True)


@dataclass(frozen=True)
class Rule:
    """What is read from texts; `ready` checks it.

    Attributes:
        must: what has to hold.
        when: of which events; ``None``: the rule is about each case as a whole.
    """

    must: str
    when: str | None = None

    def ready(self, row: Traits = _RECORDS, own: OwnFunctions = NEVER) -> ReadyRule:
        """Read both formulas.

        Raises:
            FormulaError: where a formula cannot mean anything.
        """
        must = spec_of(parse(self.must, own, rules=True), row, case=self.when is None)
        check_condition(must)
        if self.when is None:
            _refuse_trigger(must, "a rule about a case", "first.")
            return ReadyRule(None, must)
        when = spec_of(parse(self.when, own, rules=True), row)
        check_condition(when)
        _refuse_trigger(when, "`when`", "the field alone: ")
        for item in when.below():
            if item.kind in AHEAD:
                what = f"{item.node.head}, which looks ahead"
                raise fault_at(
                    item.node.at, "the present and the past in `when`", what, "it in `must`"
                )
        return ReadyRule(when, must)


def _refuse_trigger(spec: Spec, where: str, hint: str) -> None:
    for item in spec.below():
        if item.triggered and not any(x.triggered for x in item.parts):
            raise fault_at(item.node.at, f"no trigger in {where}", "trigger", f"{hint}…, or `must`")


@dataclass(frozen=True)
class ReadyRule:
    """A rule that was read and makes sense."""

    when: Spec | None
    must: Spec

    @property
    def timed(self) -> bool:
        """Whether it has a bound anywhere, and so needs times."""
        return self.must.timed or (self.when is not None and self.when.timed)

    @property
    def back(self) -> bool:
        """Whether it depends on earlier events of the case."""
        return self.must.back or self.when is None or self.when.back


@dataclass(frozen=True)
class Closes:
    """When a case has come to its end.

    Attributes:
        condition: on its last event alone; ``None`` if a gap decides.
        after: the longest time between two events of a case, in microseconds.
        written: as in a chain file.
    """

    condition: Compiled | None
    after: int | None
    written: Any = field(compare=False)

    def term(self, event: Event) -> Term:
        """What the condition read of an event."""
        if self.condition is None:
            return None
        _, why, support = self.condition.trace([event])
        return why if support is None else (why, support)


def closes_from(
    value: Expression | str | Mapping[str, Any] | None,
    row: Traits = _RECORDS,
    own: OwnFunctions = NEVER,
) -> Closes | None:
    """Read a condition, or ``{"after": "30d"}``."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        after = value.get("after")
        if set(value) != {"after"} or not isinstance(after, str):
            expected = "a condition or {after: TIME}"
            msg = f"closes: expected {expected}; got {value!r}; try {{after: 30d}}"
            raise ParameterError(msg)
        return Closes(None, duration_of_text(after, "closes: after"), dict(value))
    expression = parse_expression(value, own) if isinstance(value, str) else value
    return Closes(compile_expression(expression, [row]), None, value)

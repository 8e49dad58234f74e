"""Findings of one rule over a small log, as worked cases state them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.language.events import Either, Event, Stream, Term
from whence.engine.rules.clock import AS_OF, END, micros_of
from whence.engine.rules.rule import ReadyRule, Rule, closes_from
from whence.engine.rules.run import RuleRun
from whence.engine.rules.running import Pending, Verdict
from whence.engine.values import Value
from whence.engine.values.collecting import calm_collector

__all__ = ["Findings", "findings_of", "leaves"]

Leaf = tuple[int, str | None]


class Findings(list[dict[str, Any]]):
    """Findings in the order in which they were given, pending ones last.

    Attributes:
        late: positions of late events.
        reopened: positions of events that opened a key anew.
        open: fields that could make a further verdict appear, as [position, field].
    """

    def __init__(self, found: Iterable[dict[str, Any]]) -> None:
        """Begin with findings."""
        super().__init__(found)
        self.late: list[int] = []
        self.reopened: list[int] = []
        self.open: list[list[Any]] = []


def findings_of(
    rule: Mapping[str, Any],
    log: Iterable[Mapping[str, Value]],
    *,
    closed: bool = False,
    grace: float = 0,
    as_of: Any = None,
    closes: Any = None,
    time: str = "time",
    max_jump: float | None = None,
) -> Findings:
    """Run one rule; see `whence.engine.testing.findings`."""
    keys = set(rule) - {"per"}
    if keys not in ({"case"}, {"when", "must"}):
        got = ", ".join(sorted(keys)) or "neither"
        wanted = "`when` and `must`, or `case`"
        msg = f"a rule: expected {wanted}; got {got}; try when: 'true' beside must"
        raise ParameterError(msg)
    case = rule.get("case")
    made = Rule(case) if case is not None else Rule(rule["must"], rule["when"])
    return _run(
        made.ready(), rule.get("per", "case"), log, closed, grace, as_of, closes, time, max_jump
    )


def _run(
    rule: ReadyRule, per: str, log: Iterable[Mapping[str, Value]], closed: bool, grace: float,
    as_of: Any, closes: Any, time: str, max_jump: float | None,
) -> Findings:  # fmt: skip
    run = RuleRun(
        rule,
        time=time,
        grace=micros_of(grace),
        max_jump=None if max_jump is None else micros_of(max_jump),
        closes=closes_from(closes),
    )
    stream = Stream("log", is_log=True)
    events = [
        Event(dict(record), None, None, None, stream, position)
        for position, record in enumerate(log)
    ]
    given: list[Verdict] = []
    with calm_collector():
        for event in events:
            record: Any = event.value
            given += run.feed(event, record.get(per))
        if as_of is not None:
            given += run.move_to(micros_of(as_of))
        if closed:
            given += run.close()
        waiting = run.pending()
        found = Findings([*[_verdict(x, run) for x in given], *[_pending(x, run) for x in waiting]])
        found.late, found.reopened = run.late, run.reopened
        found.open = [
            list(x) for x in sorted(leaves(tuple(run.open())), key=_order) if x[1] is not None
        ]
    return found


def _label(key: Value, number: int) -> Value:
    return key if number == 1 else f"{key}#{number}"


def _verdict(given: Verdict, run: RuleRun) -> dict[str, Any]:
    decided: Any = given.place
    decided = "end" if decided == END else "as-of" if decided == AS_OF else decided
    return {
        "case": _label(given.key, given.number),
        "trigger": given.trigger,
        "status": "kept" if given.value else "violated",
        "decided": decided,
        "by": given.by,
        "since": None if given.value else run.clock.shown(given.since),
        "due": None,
        "explains": _pairs(leaves(given.why)),
        "supports": _pairs(x for x in leaves(given.support, support=True) if x[1] is not None),
    }


def _pending(given: Pending, run: RuleRun) -> dict[str, Any]:
    return {
        "case": _label(given.key, given.number),
        "trigger": given.trigger,
        "status": "pending",
        "decided": None,
        "by": None,
        "since": None,
        "due": run.clock.shown(given.due),
        "explains": [],
        "supports": [],
    }


def _pairs(found: Iterable[Leaf]) -> list[list[Any]]:
    return [list(x) for x in sorted(found, key=_order)]


def _order(leaf: Leaf) -> tuple[int, str]:
    return leaf[0], leaf[1] or ""


def leaves(term: Term, *, support: bool = False) -> set[Leaf]:
    """The fields of events of the log that a term names; a field ``None``: the event as such."""
    found: set[Leaf] = set()
    seen: set[int] = set()
    stack: list[Term] = [term]
    while stack:
        item = stack.pop()
        if item is None:
            continue
        if isinstance(item, Either):
            stack.append(item[0])
        elif isinstance(item, tuple):
            if id(item) not in seen:
                seen.add(id(item))
                stack.extend(item)
        elif isinstance(item, Event):
            value = item.value
            names = list(value) if isinstance(value, Mapping) else ["value"]
            found.update((item.position, name) for name in names)  # type: ignore[misc]
        else:
            place: Any = item.event.position
            if item.fields is None:
                stack.append(item.event)
            elif not item.fields:
                found.add((place, None))
            else:
                for name in item.fields:
                    found.add((place, name))
    return found

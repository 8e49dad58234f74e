"""Change what lies outside the support of a verdict, times included, and look whether it stays.

A verdict is named by its trigger. It may be decided sooner in the changed log, since another time
may show sooner that a deadline has passed; never later, and never otherwise. Changes by which an
event becomes late that was not are outside the promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from tests.engine.rules.random_rules import Drawn
from whence.engine.testing import Findings, findings

__all__ = ["Score", "attack"]

_VALUES: dict[str, tuple[Any, ...]] = {
    "activity": ("a", "b", "c", "x"),
    "amount": (0, 1, 2, 3, 4, 5),
    "resource": ("x", "y", "z"),
}
_PLACES = {"as-of": 10**9, "end": 10**9 + 1}
Log = list[dict[str, Any]]


@dataclass
class Score:
    """How the attacks went.

    Attributes:
        corruptions: changed logs.
        verdicts: verdicts whose supports they left alone.
        appeared: logs in which nothing open was changed.
        truly: pairs of a verdict and a field that no other value changed.
        recognised: those of them outside the support.
    """

    corruptions: int = 0
    verdicts: int = 0
    appeared: int = 0
    truly: int = 0
    recognised: int = 0

    def __iadd__(self, other: Score) -> Score:
        """Both together."""
        for name, number in vars(other).items():
            setattr(self, name, getattr(self, name) + number)
        return self


def late(log: Log, grace: int) -> set[int]:
    """The positions of late events."""
    clock, found = -(10**9), set()
    for position, event in enumerate(log):
        clock = max(clock, event["time"])
        if clock > event["time"] + grace:
            found.add(position)
    return found


def _other(random: Random, log: Log, position: int, field: str) -> Any:
    if field == "time":
        now = log[position]["time"]
        near = [event["time"] + random.choice((-1, 0, 1)) for event in log]
        return max(0, random.choice([*near, now + random.randrange(-6, 7), now + 20]))
    return random.choice(_VALUES[field])


def _run(made: Drawn, log: Log) -> Findings:
    return findings(made.rule, log, **made.settings)


def _decided(each: dict[str, Any]) -> int:
    decided: int = _PLACES[each["decided"]] if each["decided"] in _PLACES else each["decided"]
    return decided


def stays(before: dict[str, Any], after: dict[int, dict[str, Any]]) -> bool:
    """Whether a verdict is still there, with its value, decided at its place or before."""
    now = after.get(before["trigger"])
    return (
        now is not None and now["status"] == before["status"] and _decided(now) <= _decided(before)
    )


def attack(made: Drawn, random: Random, times: int) -> Score:
    """Corrupt a log many times; an assertion fails where a promise does not hold.

    Args:
        made: the rule and its log.
        random: where the changes come from.
        times: how often.
    """
    score = Score()
    grace = made.settings.get("grace", 0)
    was_late = late(made.log, grace)
    found = _run(made, made.log)
    given = [each for each in found if each["status"] != "pending"]
    triggers = {each["trigger"] for each in given}
    supports = [{(p, f) for p, f in each["supports"]} for each in given]
    opened = {(p, f) for p, f in found.open}
    cells = [(p, f) for p, e in enumerate(made.log) for f in e if f != "case"]
    changed: dict[tuple[int, str], set[int]] = {}
    tried: dict[tuple[int, str], int] = {}
    for number in range(times):
        alone = number % 3 == 0
        outside = cells
        if not alone:
            target = random.choice([*supports, opened])
            outside = [cell for cell in cells if cell not in target]
        if not outside:
            continue
        many = 1 if alone else random.randint(1, len(outside))
        picked = set(random.sample(outside, many))
        log = [dict(event) for event in made.log]
        for p, f in picked:
            log[p][f] = _other(random, made.log, p, f)
        if not late(log, grace) <= was_late:
            continue
        after_all = _run(made, log)
        after = {x["trigger"]: x for x in after_all if x["status"] != "pending"}
        score.corruptions += 1
        for number_of, (each, support) in enumerate(zip(given, supports, strict=True)):
            kept = stays(each, after)
            if not picked & support:
                score.verdicts += 1
                assert kept, _story(made, log, picked, each, after.get(each["trigger"]))
            if alone and not kept:
                changed.setdefault(next(iter(picked)), set()).add(number_of)
        if alone:
            (cell,) = picked
            tried[cell] = tried.get(cell, 0) + 1
        if not picked & opened:
            score.appeared += 1
            assert set(after) <= triggers, _story(made, log, picked, None, after)
    for cell, count in tried.items():
        if count >= 4:
            for number_of, support in enumerate(supports):
                if number_of not in changed.get(cell, ()):
                    score.truly += 1
                    score.recognised += cell not in support
    return score


def _story(made: Drawn, log: Log, picked: Any, before: Any, after: Any) -> str:
    lines = [f"{made.rule} {made.settings}", f"changed {sorted(picked)}"]
    lines += [f"  {n} {a} -> {b}" for n, (a, b) in enumerate(zip(made.log, log, strict=True))]
    return "\n".join([*lines, f"before {before}", f"after {after}"])

"""Rules and logs drawn at random: times with ties, gaps and late events, cases side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

__all__ = ["Drawn", "Tree", "drawn", "text"]

Tree = tuple[Any, ...]
"""``(operator, bound, *parts)``; a bound is (low, high) in seconds, high ``None``, or ``None``."""

_FIELDS = ("activity", "amount", "resource")
_UNARY = ("F", "G", "X", "N", "O", "H", "Y", "Z")
_AGGREGATES = ("count", "sum", "min", "max", "mean", "distinct")


@dataclass
class Drawn:
    """A rule with its log, as a worked case has them.

    Attributes:
        rule: as `findings` takes it.
        trees: the same rule's formulas as trees, by ``when``, ``must`` or ``case``.
        log: the events.
        settings: grace, closed, as_of, closes.
    """

    rule: dict[str, Any]
    trees: dict[str, Tree]
    log: list[dict[str, Any]]
    settings: dict[str, Any] = field(default_factory=dict)


def text(tree: Tree) -> str:
    """A formula's text, with brackets wherever precedence could matter."""
    kind, bound, *parts = tree
    if kind in ("atom", "trigger", "end", "true", "false"):
        return str(parts[0]) if parts else str(kind)
    written = _bound(bound)
    if kind in ("and", "or", "U", "S"):
        return f"({text(parts[0])}) {kind}{written} ({text(parts[1])})"
    if kind == "implies":
        return f"({text(parts[0])}) -> ({text(parts[1])})"
    if kind == "agg":
        name, value, where, comparison = parts
        inside = text(value) if name == "count" else str(value)
        counted = f" where {text(where)}" if where is not None else ""
        return f"{name}{written}({inside}{counted}) {comparison[0]} {comparison[1]}"
    return f"{kind}{written} ({text(parts[0])})"


def _bound(bound: tuple[int, int | None] | None) -> str:
    if bound is None:
        return ""
    low, high = bound
    begin = "" if low == 0 and high is not None else f"{low}s"
    return f"[{begin}..{'' if high is None else f'{high}s'}]"


class _Drawing:
    def __init__(self, random: Random, triggered: bool) -> None:
        self.random, self.triggered = random, triggered

    def bound(self, limited: bool = False) -> tuple[int, int | None] | None:
        """An interval; with an end if it has to be limited."""
        random = self.random
        if not limited and random.random() < 0.35:
            return None
        low = random.choice((0, 0, 0, 1, 2))
        if not limited and random.random() < 0.15:
            return low, None
        return low, low + random.choice((0, 1, 2, 3, 5))

    def atom(self) -> Tree:
        """A condition on one event."""
        random = self.random
        pick = random.random()
        if self.triggered and pick < 0.12:
            return ("trigger", None)
        if self.triggered and pick < 0.3:
            field, sign = random.choice(("resource", "amount")), random.choice(("=", "!="))
            return ("atom", None, f"{field} {sign} trigger.{field}")
        if pick < 0.36:
            return ("atom", None, "amount is missing")
        if pick < 0.55:
            return ("atom", None, f"amount {random.choice(('>', '<=', '='))} {random.randrange(4)}")
        if pick < 0.58:
            return (random.choice(("true", "false")), None)
        if pick < 0.63:
            return (
                "atom",
                None,
                f"first.amount {random.choice(('>', '<='))} {random.randrange(4)}",
            )
        return ("atom", None, f"activity = '{random.choice('abc')}'")

    def tree(self, depth: int, *, ahead: bool = True, inside: str = "") -> Tree:
        """A formula.

        Args:
            depth: how deep it may be.
            ahead: whether it may look ahead.
            inside: ``past`` inside a past operator, where what looks ahead has to be bounded.
        """
        random = self.random
        if depth <= 0 or random.random() < 0.15:
            return self.atom()
        pick = random.random()
        if pick < 0.12:
            return ("not", None, self.tree(depth - 1, ahead=ahead, inside=inside))
        if pick < 0.3:
            kind = random.choice(("and", "or", "implies"))
            return (kind, None, *[self.tree(depth - 1, ahead=ahead, inside=inside) for _ in "pq"])
        if pick < 0.42:
            return self.aggregate(depth)
        if pick < 0.46 and ahead and not inside:
            return ("end", None)
        if pick < 0.62:
            kind = random.choice(("U", "S") if ahead else ("S",))
            below = "past" if kind == "S" else inside
            parts = [self.tree(depth - 1, ahead=ahead, inside=below) for _ in "pq"]
            return (kind, self.bound(limited=kind == "U" and bool(inside)), *parts)
        kind = random.choice(_UNARY if ahead else _UNARY[4:])
        future = kind in _UNARY[:4]
        below = inside if future else "past"
        bound = self.bound(limited=future and bool(inside))
        return (kind, bound, self.tree(depth - 1, ahead=ahead, inside=below))

    def aggregate(self, depth: int) -> Tree:
        """A comparison with an aggregate."""
        random = self.random
        name = random.choice(_AGGREGATES)
        value: Any = "resource" if name == "distinct" and random.random() < 0.5 else "amount"
        if name == "count":
            value = self.tree(min(depth - 1, 1), ahead=False)
        where = None
        if name != "count" and random.random() < 0.5:
            where = self.tree(min(depth - 1, 1), ahead=False)
        comparison = (random.choice(("<", "<=", "=", ">=", ">", "!=")), random.randrange(5))
        return ("agg", self.bound(), name, value, where, comparison)


def _log(random: Random, most: int) -> list[dict[str, Any]]:
    cases = "PQR"[: random.choice((1, 2, 2, 3))]
    time = random.randrange(4)
    log: list[dict[str, Any]] = []
    for _ in range(random.randint(1, most)):
        time += random.choice((0, 0, 1, 1, 2, 3, 8))
        late = random.choice((0, 0, 0, 0, 1, 2, 5)) if log else 0
        event: dict[str, Any] = {
            "case": random.choice(cases),
            "activity": random.choice("aabc"),
            "time": max(0, time - late),
        }
        if random.random() < 0.85:
            event["amount"] = random.choice((0, 1, 1, 2, 3, 5))
        if random.random() < 0.9:
            event["resource"] = random.choice("xyz")
        log.append(event)
    return log


def drawn(random: Random, *, events: int = 9, depth: int = 3) -> Drawn:
    """Draw a rule and its log."""
    settings: dict[str, Any] = {}
    if random.random() < 0.4:
        settings["grace"] = random.choice((1, 2))
    if random.random() < 0.4:
        settings["closed"] = True
    if random.random() < 0.2:
        settings["as_of"] = random.randrange(30)
    if random.random() < 0.2:
        settings["closes"] = random.choice(("activity = 'c'", "amount = 3"))
    elif random.random() < 0.25:
        settings["closes"] = {"after": f"{random.choice((1, 2, 4))}s"}
    log = _log(random, events)
    if random.random() < 0.3:
        tree = _Drawing(random, triggered=False).tree(depth)
        return Drawn({"case": text(tree)}, {"case": tree}, log, settings)
    when: Tree = ("atom", None, "activity = 'a'")
    if random.random() < 0.3:
        when = ("true", None)
    elif random.random() < 0.3:
        when = ("and", None, when, _Drawing(random, triggered=False).tree(1, ahead=False))
    must = _Drawing(random, triggered=True).tree(depth)
    rule = {"when": text(when), "must": text(must)}
    return Drawn(rule, {"when": when, "must": must}, log, settings)

"""What a rule means, worked out over the whole run at once: no state, no order of events.

Each part of a formula has, at each event of a case, a value, the place at which it became certain,
and what explains it. Places are positions of the log, then `AS_OF`, then `END`. `None` stands for
what never becomes certain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.engine.rules.plain_values import abs_in_order, compare, fold, reads_trigger
from tests.engine.rules.random_rules import Drawn, Tree

__all__ = ["AS_OF", "END", "by_definition"]

AS_OF, END = 10**9, 10**9 + 1
Field = tuple[int, str | None]


class Known(NamedTuple):
    value: bool
    place: int
    why: frozenset[Field]


NOBODY: frozenset[Field] = frozenset()


class Case:
    """A case, when it closed, and because of what."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.at: list[int] = []
        self.closed: int | None = None
        self.closed_why: frozenset[Field] = NOBODY


class Run:
    def __init__(self, drawn: Drawn) -> None:
        self.log, self.trees = drawn.log, drawn.trees
        self.grace = drawn.settings.get("grace", 0)
        self.as_of = drawn.settings.get("as_of")
        self.clock: list[int] = []
        for event in self.log:
            self.clock.append(max([event["time"], *self.clock[-1:]]))
        self.cases = self._cases(drawn.settings)
        self.memo: dict[Any, Known | None] = {}

    def passed(self, deadline: int) -> int | None:
        """Where a deadline had passed."""
        for place, clock in enumerate(self.clock):
            if clock > deadline + self.grace:
                return place
        if self.as_of is not None and self.as_of > deadline + self.grace:
            return AS_OF
        return None

    def clock_why(self, place: int) -> set[Field]:
        return {(place, "time")} if place < AS_OF else set()

    def _cases(self, settings: dict[str, Any]) -> list[Case]:
        closes = settings.get("closes")
        after = int(closes["after"][:-1]) if isinstance(closes, dict) else None
        present: dict[str, Case] = {}
        count: dict[str, int] = {}
        cases: list[Case] = []
        for place, event in enumerate(self.log):
            key = event["case"]
            case = present.get(key)
            if case is not None and after is not None:
                last = case.at[-1]
                deadline = self.log[last]["time"] + after
                passed = self.passed(deadline)
                gap = event["time"] > deadline
                if gap or (passed is not None and passed <= place):
                    shown = passed if passed is not None and passed < place else place
                    case.closed = max(shown, last)
                    case.closed_why = frozenset({(last, "time"), (shown, "time")})
                    case = None
            if case is None:
                count[key] = count.get(key, 0) + 1
                case = Case(key if count[key] == 1 else f"{key}#{count[key]}")
                present[key] = case
                cases.append(case)
            case.at.append(place)
            if isinstance(closes, str):
                field, constant = closes.split(" = ")
                wanted = constant.strip("'") if "'" in constant else int(constant)
                if event.get(field) == wanted:
                    case.closed, case.closed_why = place, frozenset({(place, field)})
                    del present[key]
        for case in present.values():
            last = case.at[-1]
            passed = None if after is None else self.passed(self.log[last]["time"] + after)
            if passed is not None:
                case.closed = max(passed, last)
                case.closed_why = frozenset({(last, "time"), *self.clock_why(passed)})
            elif settings.get("closed"):
                case.closed = END
        return cases

    def at(self, case: Case, tree: Tree, k: int, t: int) -> Known | None:
        """What a part came to at the k-th event of a case, for the trigger t."""
        key = (id(case), id(tree), k, t if reads_trigger(tree) else -1)
        if key not in self.memo:
            self.memo[key] = self._at(case, tree, k, t)
        return self.memo[key]

    def _at(self, case: Case, tree: Tree, k: int, t: int) -> Known | None:
        kind, bound, *parts = tree
        floor = case.at[max(k, t)] if reads_trigger(tree) else case.at[k]
        if kind in ("true", "false"):
            return Known(kind == "true", floor, NOBODY)
        if kind == "trigger":
            return Known(k == t, floor, NOBODY)
        if kind == "atom":
            value, fields = self._atom(parts[0], case, k, t)
            return Known(value, floor, frozenset(fields))
        if kind in ("and", "or", "implies", "not"):
            return self._connective(case, tree, k, t, floor)
        if kind == "agg":
            value, why = self._aggregate(case, tree, k, t)
            return Known(value, floor, why)
        if kind in ("G", "N", "H", "Z"):
            other = {"G": "F", "N": "X", "H": "O", "Z": "Y"}[kind]
            found = self._temporal(case, other, bound, parts, k, t, floor, False)
            return None if found is None else found._replace(value=not found.value)
        return self._temporal(case, kind, bound, parts, k, t, floor, True)

    def _atom(self, words: str, case: Case, k: int, t: int) -> tuple[bool, set[Field]]:
        now = case.at[k]
        if words.endswith(" is missing"):
            return self.log[now].get("amount") is None, {(now, "amount")}
        left, sign, right = words.split(" ")
        place = now
        if left.startswith("first."):
            left, place = left.removeprefix("first."), case.at[0]
        why: set[Field] = {(place, left)}
        value = self.log[place].get(left)
        if right.startswith("trigger."):
            other = self.log[case.at[t]].get(left)
            why.add((case.at[t], left))
        else:
            other = right.strip("'") if "'" in right else int(right)
        return compare(value, sign, other), why

    def _connective(self, case: Case, tree: Tree, k: int, t: int, floor: int) -> Known | None:
        kind, _, *parts = tree
        found = [self.at(case, part, k, t) for part in parts]
        if kind == "not":
            return None if found[0] is None else found[0]._replace(value=not found[0].value)
        wanted = [kind == "or"] * 2 if kind != "implies" else [False, True]
        if kind == "and":
            wanted = [False, False]
        alone = [x for x, w in zip(found, wanted, strict=True) if x is not None and x.value is w]
        if alone:
            place = max(floor, min([x.place for x in alone]))
            first = next(x for x in alone if x.place <= place)
            return Known(kind != "and", place, first.why)
        if any(x is None for x in found):
            return None
        place = max([floor, *[x.place for x in found if x is not None]])
        return Known(kind == "and", place, frozenset().union(*(x.why for x in found if x)))

    def _interval(self, case: Case, bound: Any, k: int, back: bool) -> list[int]:
        """The events of an interval, those that a deadline ignores left out."""
        many = range(k + 1) if back else range(k, len(case.at))
        if bound is None:
            return list(many)
        low, high = bound
        now, found = self.log[case.at[k]]["time"], []
        for i in many:
            time = self.log[case.at[i]]["time"]
            difference = now - time if back else time - now
            if difference < low or (high is not None and difference > high):
                continue
            if not back and i != k and self._ignored(case, bound, k, i):
                continue
            found.append(i)
        return found

    def _ignored(self, case: Case, bound: Any, k: int, i: int) -> bool:
        if bound is None or bound[1] is None or i == k:
            return False
        passed = self.passed(self.log[case.at[k]]["time"] + bound[1])
        return passed is not None and case.at[i] >= passed

    def _end(self, case: Case, bound: Any, k: int) -> tuple[int, set[Field]] | None:
        """Where the waiting at k is over, and because of what."""
        now = case.at[k]
        if bound is not None and bound[1] is not None:
            passed = self.passed(self.log[now]["time"] + bound[1])
            if passed is not None and (case.closed is None or passed <= case.closed):
                return passed, {(now, "time"), *self.clock_why(passed)}
        return None if case.closed is None else (case.closed, set(case.closed_why))

    def _times(self, case: Case, bound: Any, k: int, i: int) -> set[Field]:
        return {(case.at[k], "time"), (case.at[i], "time")} if bound and i != k else set()

    def _temporal(
        self, case: Case, kind: str, bound: Any, parts: list[Tree], k: int, t: int, floor: int,
        wanted: bool,
    ) -> Known | None:  # fmt: skip
        """An operator, told for F, X, O, Y; the others look for a false instead of a true."""

        def at(number: int, i: int) -> Known | None:
            found = self.at(case, parts[number], i, t)
            return None if found is None else found._replace(value=found.value is wanted)

        if kind == "end":
            if k + 1 < len(case.at):
                return Known(False, max(floor, case.at[k + 1]), frozenset({(case.at[k + 1], None)}))
            if case.closed is None:
                return None
            return Known(True, max(floor, case.closed), case.closed_why | {(case.at[k], None)})
        if kind in ("X", "Y"):
            return self._neighbour(case, kind, bound, at, k, floor)
        back = kind in ("O", "S")
        events = self._interval(case, bound, k, back)
        candidates: list[tuple[int, int, Known]] = []
        many = range(k, -1, -1) if back else range(k, len(case.at))
        held: list[Known] = []
        q = 1 if kind in ("U", "S") else 0
        for order, i in enumerate(many):
            here = at(q, i) if i in events else None
            if here is not None and here.value:
                place = max([floor, here.place, *[x.place for x in held]])
                why = here.why.union(*(x.why for x in held)) | self._times(case, bound, k, i)
                candidates.append((place, order, Known(True, place, why)))
            if q:
                p = at(0, i)
                if p is None or not p.value:
                    break
                held.append(p)
        if candidates:
            return min(candidates)[2]
        if q:
            candidates += self._refuted(case, bound, at, many, events, k, floor, back)
        rest = [at(q, i) for i in events]
        end = (floor, set()) if back else self._end(case, bound, k)
        if end is not None and all(x is not None and not x.value for x in rest):
            place = max([floor, end[0], *[x.place for x in rest if x]])
            why = frozenset(end[1]).union(*(x.why for x in rest if x))
            if bound and not back:
                why |= {(case.at[k], "time")}
            for i in events:
                why |= self._times(case, bound, k, i)
            candidates.append((place, len(case.at), Known(False, place, why)))
        return min(candidates)[2] if candidates else None

    def _refuted(
        self, case: Case, bound: Any, at: Any, many: range, events: list[int], k: int, floor: int,
        back: bool,
    ) -> list[tuple[int, int, Known]]:  # fmt: skip
        """By p false before any q."""
        found, so_far = [], []
        why: frozenset[Field] = NOBODY
        for order, i in enumerate(many):
            if not back and self._ignored(case, bound, k, i):
                break
            if i in events:
                q = at(1, i)
                if q is None or q.value:
                    break
                so_far.append(q)
                why |= q.why | self._times(case, bound, k, i)
            p = at(0, i)
            if p is not None and not p.value:
                place = max([floor, p.place, *[x.place for x in so_far]])
                found.append((place, order, Known(False, place, why | p.why)))
        return found

    def _neighbour(
        self, case: Case, kind: str, bound: Any, at: Any, k: int, floor: int
    ) -> Known | None:
        i = k + 1 if kind == "X" else k - 1
        there = 0 <= i < len(case.at)
        if kind == "X" and there and self._ignored(case, bound, k, i):
            there = False
        such = {(case.at[k], None)}
        if not there:
            end = (floor, set()) if kind == "Y" else self._end(case, bound, k)
            return (
                None if end is None else Known(False, max(floor, end[0]), frozenset(such | end[1]))
            )
        here = max(floor, case.at[i])
        times = frozenset(self._times(case, bound, k, i))
        if bound is not None:
            difference = abs_in_order(self.log, case.at[k], case.at[i])
            if difference < bound[0] or (bound[1] is not None and difference > bound[1]):
                return Known(False, here, times)
        found = at(0, i)
        return (
            None if found is None else Known(found.value, max(here, found.place), found.why | times)
        )

    def _aggregate(self, case: Case, tree: Tree, k: int, t: int) -> tuple[bool, frozenset[Field]]:
        _, bound, name, value, where, (sign, limit) = tree
        events = self._interval(case, bound, k, True)
        counted: list[tuple[int, Any]] = []
        looks: dict[int, frozenset[Field]] = {}
        for i in events:
            why: frozenset[Field] = NOBODY
            if where is not None:
                condition = self.at(case, where, i, t)
                assert condition is not None
                why |= condition.why
                if not condition.value:
                    looks[i] = why
                    continue
            if name == "count":
                inner = self.at(case, value, i, t)
                assert inner is not None
                looks[i] = why | inner.why
                if inner.value:
                    counted.append((i, 1))
                continue
            looks[i] = why | {(case.at[i], value)}
            number = self.log[case.at[i]].get(value)
            if number is not None:
                counted.append((i, number))
        result = fold(name, [x for _, x in counted])
        picked = [i for i, x in counted if not (name == "sum" and x == 0)]
        if name in ("min", "max") and counted:
            picked = [next(i for i, x in counted if x == result)]
        picked = picked or events
        why = frozenset().union(*(looks[i] | self._times(case, bound, k, i) for i in picked))
        return compare(result, sign, limit), why

    def whole(self, case: Case, tree: Tree) -> Known | None:
        """A formula about a case: a comparison with an aggregate is about all its events."""
        kind, _, *parts = tree
        if kind == "agg":
            return self._whole(case, tree)
        if kind not in ("and", "or", "implies", "not"):
            return self.at(case, tree, 0, 0)
        found = [self.whole(case, part) for part in parts]
        for part, known in zip(parts, found, strict=True):
            self.memo[id(case), id(part), 0, -1] = known
        return self._connective(case, tree, 0, 0, case.at[0])

    def _whole(self, case: Case, tree: Tree) -> Known | None:
        _, bound, name, *_ = tree
        if name in ("count", "distinct") and bound is None:
            for k in range(len(case.at)):
                now = [self._counts(case, tree, k, more) for more in range(8)]
                if len(set(now)) == 1:
                    _, why = self._aggregate(case, tree, k, 0)
                    return Known(now[0], case.at[k], why)
        if case.closed is None:
            return None
        result, why = self._aggregate(case, tree, len(case.at) - 1, 0)
        return Known(result, case.closed, why | case.closed_why)

    def _counts(self, case: Case, tree: Tree, k: int, more: int) -> bool:
        """What the comparison would be with so many more that count."""
        sign, limit = tree[-1]
        for number in range(12):
            same = (*tree[:-1], ("=", number))
            if self._aggregate(case, same, k, 0)[0]:
                return compare(number + more, sign, limit)
        raise AssertionError(tree)


def by_definition(drawn: Drawn) -> list[dict[str, Any]]:
    """The findings: which case and trigger, status, where decided, because of what."""
    run = Run(drawn)
    found: list[dict[str, Any]] = []
    for case in run.cases:
        for k, place in enumerate(case.at):
            why: frozenset[Field] = NOBODY
            if "case" in run.trees:
                if k:
                    break
                known = run.whole(case, run.trees["case"])
            else:
                when = run.at(case, run.trees["when"], k, 0)
                assert when is not None
                if not when.value:
                    continue
                why = when.why
                known = run.at(case, run.trees["must"], k, k)
            status, decided = "pending", None
            if known is not None:
                status = "kept" if known.value else "violated"
                decided = {AS_OF: "as-of", END: "end"}.get(known.place, known.place)
                why |= known.why
            found.append(
                {
                    "case": case.name,
                    "trigger": place,
                    "status": status,
                    "decided": decided,
                    "explains": why if known is not None else NOBODY,
                }
            )
    return found

"""The standard taken at its word, on tiny documents: every inference is carried out.

Names are text; what is not known is a variable, a number. Slow, and plain enough to be compared
with the Recommendation line by line: a statement is a tuple (word, identifier, arguments ...).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, product
from typing import Any

__all__ = ["is_valid"]

Term = Any
Statement = tuple[Any, ...]
NONE = "-"
EVENTS = {
    "wasGeneratedBy": 2, "wasInvalidatedBy": 2, "used": 2, "wasStartedBy": 3, "wasEndedBy": 3,
}  # fmt: skip
RELATIONS = (
    *EVENTS, "wasInformedBy", "wasAttributedTo", "wasAssociatedWith", "actedOnBehalfOf",
)  # fmt: skip


class Contradiction(Exception):
    """Two different names would have to be one."""


class _Chase:
    def __init__(self, statements: list[Statement]) -> None:
        self.fresh = count(1)
        self.bound: dict[int, Term] = {}
        self.facts = [self._open(each) for each in statements]

    def _open(self, statement: Statement) -> Statement:
        """Definitions 1 and 4: what is left open becomes a variable, where it may."""
        word, id, *rest = statement
        if id == NONE:
            id = next(self.fresh)
        kept: tuple[int, ...] = {"wasAssociatedWith": (2,)}.get(word, ())
        if word == "wasDerivedFrom":
            kept = (2,) if rest[2] != NONE else (2, 3, 4)
        filled = (v if v != NONE or n in kept else next(self.fresh) for n, v in enumerate(rest))
        return (word, id, *filled)

    def find(self, term: Term) -> Term:
        while term in self.bound and isinstance(term, int):
            term = self.bound[term]
        return term

    def unify(self, one: Term, other: Term) -> bool:
        one, other = self.find(one), self.find(other)
        if one == other:
            return False
        if isinstance(one, int):
            if other == NONE:
                raise Contradiction
            self.bound[one] = other
        elif isinstance(other, int):
            if one == NONE:
                raise Contradiction
            self.bound[other] = one
        else:
            raise Contradiction
        return True

    def all(self, word: str) -> list[Statement]:
        return [each for each in self.facts if each[0] == word]

    def run(self) -> None:
        changed = True
        while changed:
            self.facts = list(
                dict.fromkeys((f[0], *(self.find(term) for term in f[1:])) for f in self.facts)
            )
            changed = self._equal() or self._infer()

    def _equal(self) -> bool:
        """Constraints 22 to 29."""
        for one, other in product(self.facts, repeat=2):
            if one is other or one[0] != other[0]:
                continue
            word = one[0]
            unique = {"wasGeneratedBy": (2, 3), "wasInvalidatedBy": (2, 3)}.get(word)
            unique = (2, 4) if word in ("wasStartedBy", "wasEndedBy") else unique
            same = unique is not None and all(one[n] == other[n] for n in unique)
            if (one[1] == other[1] or same) and any(
                [self.unify(a, b) for a, b in zip(one[1:], other[1:], strict=True)]
            ):
                return True
        for activity in self.all("activity"):
            for word, time in (("wasStartedBy", 2), ("wasEndedBy", 3)):
                for event in self.all(word):
                    if event[2] == activity[1] and self.unify(activity[time], event[5]):
                        return True
        return False

    def _infer(self) -> bool:
        """Inferences 7 to 15 and 19 to 21; those that add nothing to validity are left out."""
        return any([self._imply(*wanted) for fact in list(self.facts) for wanted in self._of(fact)])

    def _imply(self, word: str, *terms: Term) -> bool:
        """Add a statement unless one like it is there; ``None`` stands for anything."""
        for fact in self.all(word):
            if all(w is None or w == t for w, t in zip(terms, fact[1:], strict=True)):
                return False
        self.facts.append((word, *(next(self.fresh) if t is None else t for t in terms)))
        return True

    def _of(self, fact: Statement) -> Iterator[Statement]:
        word, id, *rest = fact
        if word == "entity":
            yield "wasGeneratedBy", None, id, None, None
            yield "wasInvalidatedBy", None, id, None, None
            for _, _, one, general in self.all("specializationOf"):
                if general == id:
                    yield "entity", one
        elif word == "activity":
            yield "wasStartedBy", None, id, None, None, rest[0]
            yield "wasEndedBy", None, id, None, None, rest[1]
        elif word in ("wasStartedBy", "wasEndedBy"):
            yield "wasGeneratedBy", None, rest[1], rest[2], None
        elif word == "wasDerivedFrom" and rest[2] != NONE:
            yield "used", rest[4], rest[2], rest[1], None
            yield "wasGeneratedBy", rest[3], rest[0], rest[2], None
        elif word == "wasAttributedTo":
            yield "wasGeneratedBy", None, rest[0], None, None
        elif word == "specializationOf":
            for _, _, one, general in self.all("specializationOf"):
                if one == rest[1]:
                    yield "specializationOf", None, rest[0], general
        if word in RELATIONS or word == "wasDerivedFrom":
            yield "wasInfluencedBy", id, rest[0], rest[1]
        if word == "actedOnBehalfOf":
            yield "wasAssociatedWith", None, rest[2], rest[0], None
            yield "wasAssociatedWith", None, rest[2], rest[1], None
        if word == "wasInformedBy":
            shared = any(
                g[3] == rest[1] and u[2] == rest[0] and g[2] == u[3]
                for g in self.all("wasGeneratedBy")
                for u in self.all("used")
            )
            if not shared:
                between = next(self.fresh)
                yield "wasGeneratedBy", None, between, rest[1], None
                yield "used", None, rest[0], between, None

    def impossible(self) -> bool:
        """Constraints 50 to 56."""
        types: dict[Term, set[str]] = {}
        roles = {
            "entity": "e", "activity": "a", "agent": "g", "wasGeneratedBy": "-ea", "used": "-ae",
            "wasInvalidatedBy": "-ea", "wasStartedBy": "-aea", "wasEndedBy": "-aea",
            "wasInformedBy": "-aa", "wasAttributedTo": "-eg", "wasAssociatedWith": "-age",
            "actedOnBehalfOf": "-gga", "wasDerivedFrom": "-eea", "specializationOf": "-ee",
        }  # fmt: skip
        for word, *terms in self.facts:
            for role, term in zip(roles.get(word, ""), terms, strict=False):
                if role != "-" and term != NONE:
                    types.setdefault(term, set()).add(role)
        if any({"e", "a"} <= several for several in types.values()):
            return True
        if any(f[2] == f[3] for f in self.all("specializationOf")):
            return True
        if any(f[4] == NONE and (f[5], f[6]) != (NONE, NONE) for f in self.all("wasDerivedFrom")):
            return True
        kinds: dict[Term, set[str]] = {}
        for word, id, *_ in self.facts:
            kinds.setdefault(id, set()).add(word)
        for several in kinds.values():
            elements = several & {"entity", "activity", "agent"}
            named = several & {*RELATIONS, "wasDerivedFrom", "wasInfluencedBy"}
            if (elements and named) or len(several & set(RELATIONS)) > 1:
                return True
        return False

    def disordered(self) -> bool:
        """Constraints 30 to 49: whether some event is strictly before itself."""
        edges: dict[tuple[Term, Term], bool] = {}

        def put(one: Term, other: Term, strict: bool = False) -> None:
            edges[one, other] = edges.get((one, other), False) or strict

        def of(word: str, name: Term) -> list[Term]:
            return [f[1] for f in self.all(word) if f[2] == name]

        def each(first: list[Term], second: list[Term], strict: bool = False) -> None:
            for one, other in product(first, second):
                put(one, other, strict)

        gen, inv, start, end = "wasGeneratedBy", "wasInvalidatedBy", "wasStartedBy", "wasEndedBy"
        for name in {term for fact in self.facts for term in fact[1:]}:
            for word in (gen, inv, start, end):
                each(of(word, name), of(word, name))
            each(of(start, name), of(end, name))
            each(of(gen, name), of(inv, name))
        for _, use, activity, entity, _ in self.all("used"):
            each(of(start, activity), [use])
            each([use], of(end, activity))
            each(of(gen, entity), [use])
            each([use], of(inv, entity))
        for _, id, _, activity, _ in self.all(gen):
            each(of(start, activity), [id])
            each([id], of(end, activity))
        for _, _, informed, informant in self.all("wasInformedBy"):
            each(of(start, informant), of(end, informed))
        for word in (start, end):
            for _, id, _, trigger, _, _ in self.all(word):
                each(of(gen, trigger), [id])
                each([id], of(inv, trigger))
        for _, _, made, source, activity, g, u in self.all("wasDerivedFrom"):
            if activity != NONE:
                put(u, g)
            each(of(gen, source), of(gen, made), True)
        for _, _, one, general in self.all("specializationOf"):
            each(of(gen, general), of(gen, one))
            each(of(inv, one), of(inv, general))
        for _, _, activity, agent, _ in self.all("wasAssociatedWith"):
            each(of(start, activity), of(inv, agent) + of(end, agent))
            each(of(gen, agent) + of(start, agent), of(end, activity))
        for _, _, entity, agent in self.all("wasAttributedTo"):
            each(of(gen, agent) + of(start, agent), of(gen, entity))
        for _, _, delegate, boss, _ in self.all("actedOnBehalfOf"):
            each(of(gen, boss), of(inv, delegate))
            each(of(start, boss), of(end, delegate))
        nodes = {node for edge in edges for node in edge}
        for middle, one, other in product(nodes, repeat=3):
            if (one, middle) in edges and (middle, other) in edges:
                put(one, other, edges[one, middle] or edges[middle, other])
        return any(edges.get((node, node), False) for node in nodes)


def is_valid(statements: list[Statement]) -> bool:
    """Whether a document is valid by the Recommendation."""
    chase = _Chase(statements)
    try:
        chase.run()
    except Contradiction:
        return False
    return not chase.impossible() and not chase.disordered()

"""Random values, logs and expressions for `random_chains`.

Kinds are single letters: N number, B boolean, T text, R record, M map.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

__all__ = ["FIELDS", "Pipe", "Writer"]

FIELDS = {"x": "N", "y": "N", "b": "B", "c": "T", "k": "T"}
"""The fields of a record; ``l`` holds lists and serves as a key only."""

Json = Any


@dataclass(frozen=True)
class Pipe:
    """What the draw knows of a pipe: the kind of its events, and whether they are raw."""

    kind: str
    raw: bool = False
    regular: bool = True

    def but(self, **changes: bool) -> Pipe:
        """The same with some facts changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


class Writer:
    """Draws values and expressions."""

    def __init__(self, random: Random) -> None:
        """Draw from one source; some logs have many missing values, some few."""
        self.random = random
        self.missing = random.choice((0, 0.03, 0.2))

    def present(self, kind: str) -> Any:
        """A value that is not missing."""
        if kind == "N":
            return self.random.choice((0, 0, 1, 2, 3, -1, -2))
        if kind == "B":
            return self.random.random() < 0.5
        if kind == "T":
            return self.random.choice("abc")
        return {
            "x": self.maybe("N"),
            "y": self.random.choice((0.0, 0.5, 1.0, -2.0, 2.5)),
            "b": self.maybe("B"),
            "c": self.maybe("T"),
            "k": self.maybe("T"),
            "l": self.random.choice((["a"], ["a", "b"], ["b", "c"], [])),
        }

    def maybe(self, kind: str) -> Any:
        """A value, now and then the missing one."""
        return None if self.random.random() < self.missing else self.present(kind)

    def written_value(self, kind: str) -> Json:
        """A value as chain files write it."""
        value = self.maybe(kind)
        return {"record": value} if isinstance(value, dict) else value

    def log(self, kind: str, length: int) -> list[Any]:
        """Events of one kind; a field may be absent."""
        events = []
        for _ in range(length):
            value = self.present("R") if kind == "R" else self.maybe(kind)
            if kind == "R" and self.random.random() < self.missing:
                del value[self.random.choice("xbck")]
            events.append(value)
        return events

    def key(self, pipes: list[Pipe]) -> tuple[dict[str, Any], bool]:
        """A slice key over a front, and whether its value is given."""
        pipe = pipes[0]
        if pipe.kind == "R" and self.random.random() < 0.75:
            name = self.random.choice("kkkcbxl")
            return {"field": name}, pipe.raw
        if pipe.kind != "M" and pipe.kind != "R" and self.random.random() < 0.4:
            return {"input": 0}, pipe.raw
        wanted = self.random.choice("NBT")
        expression = self.expression(wanted, pipes, 2)
        if self.random.random() < 0.3:
            other = self.random.choice((wanted, "B"))  # the keys 1 and true are two
            expression = {"list": [expression, self.expression(other, pipes, 1)]}
        if not isinstance(expression, dict) or set(expression) <= {"field", "input"}:
            # Never a bare field, which would be a raw key.
            expression = {"if": [self.expression("B", pipes, 1), expression, self.present(wanted)]}
        return expression, False

    def condition(self, pipes: list[Pipe]) -> Json:
        """A boolean expression."""
        return self.expression("B", pipes, self.random.randint(1, 2))

    def expression(self, kind: str, pipes: list[Pipe], depth: int) -> Json:
        """An expression of some kind over a front."""
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf(kind, pipes)
        if self.random.random() < 0.1:
            return self.choice(kind, pipes, depth)
        if kind == "N":
            return self.number(pipes, depth)
        if kind == "B":
            return self.boolean(pipes, depth)
        return self.leaf(kind, pipes)

    def leaf(self, kind: str, pipes: list[Pipe]) -> Json:
        """What a front holds of that kind, or a constant."""
        found: list[Json] = []
        for number, pipe in enumerate(pipes):
            at = {"input": number} if number else {}
            if pipe.kind == kind:
                found.append({"input": number})
            elif pipe.kind == "R":
                found += [{"field": f, **at} for f, k in FIELDS.items() if k == kind]
        if found and self.random.random() < 0.85:
            return self.random.choice(found)
        if kind == "B" and self.random.random() < 0.7:
            return {"is_missing": {"input": self.random.randrange(len(pipes))}}
        return self.present(kind)

    def choice(self, kind: str, pipes: list[Pipe], depth: int) -> Json:
        """If-then-else, at times with a missing branch."""
        branches = [self.expression(kind, pipes, depth - 1) for _ in range(2)]
        if self.random.random() < 0.3:
            branches[self.random.randrange(2)] = None
        if self.random.random() < 0.4:
            return {"coalesce": [*branches, *[self.present(kind)] * self.random.randrange(2)]}
        return {"if": [self.expression("B", pipes, depth - 1), *branches]}

    def number(self, pipes: list[Pipe], depth: int) -> Json:
        """Arithmetic."""
        name = self.random.choice(
            ("add", "sub", "product", "product", "product", "min", "max", "abs")
        )
        count = {"sub": 2, "abs": 1}.get(name, self.random.choice((2, 2, 3)))
        return {name: [self.expression("N", pipes, depth - 1) for _ in range(count)]}

    def boolean(self, pipes: list[Pipe], depth: int) -> Json:
        """Comparisons and connectives."""
        if self.random.random() < 0.5:
            name = self.random.choice(("lt", "le", "gt", "ge", "eq", "ne"))
            kind = self.random.choice("NNT")
            return {name: [self.expression(kind, pipes, depth - 1) for _ in range(2)]}
        name = self.random.choice(("and", "or", "implies", "not", "xor", "and", "or"))
        count = {"implies": 2, "not": 1}.get(name, self.random.choice((2, 2, 3)))
        return {name: [self.expression("B", pipes, depth - 1) for _ in range(count)]}

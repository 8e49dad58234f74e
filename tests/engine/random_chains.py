"""Random chains and logs: every processor, nested, over several logs, kinds kept right.

Everything is drawn from one seed, so that a failure is repeated by its number. A case is built from
few kinds of processors, drawn anew for each: rules that seldom meet would else hardly ever do so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from tests.engine.random_expressions import Pipe, Writer
from whence.engine.errors import EventError, LogError
from whence.engine.language.chain import Chain
from whence.engine.language.definition import chain_from_tree
from whence.engine.language.expression import pipes_read
from whence.engine.language.notation import expression_from_json

__all__ = ["TAGS", "Case", "Logs", "random_case", "refusals_skipped"]

Logs = dict[str, list[Any]]
Tree = dict[str, Any]
Made = tuple[Tree, Pipe]

NESTING = ("window", "slice", "group")
TAGS = (
    *("apply", "cumulate", "decimate", "trim", "filter", "fork", "turn_into", "passthrough"),
    *("freeze", "insert", "stutter", "multiplex", "moore", "ltl", *NESTING),
)


@dataclass
class Case:
    """A chain with logs to run it on.

    Attributes:
        seed: what it was drawn from.
        tree: the chain as in a chain file.
        logs: events by log name.
        closed: whether the logs are closed at the end.
        given: the fields that are raw slice keys and must keep their values; ``None`` stands for
            whole events.
    """

    seed: int
    tree: Tree
    logs: Logs
    closed: bool
    given: set[str | None] = field(default_factory=set)

    def chain(self) -> Chain:
        """The chain; the same one every time."""
        return chain_from_tree(self.tree, make_ids=True, formulas=False)


@contextmanager
def refusals_skipped() -> Iterator[None]:
    """Skip the test where a drawn chain or the record refuses the log that was drawn for it.

    Nothing else is a reason to skip: what the store, a runner or a question refuses is a failure.
    """
    try:
        yield
    except (EventError, LogError) as error:
        pytest.skip(f"the chain refuses its log: {error}")


def random_case(seed: int, tags: Collection[str] = ()) -> Case:
    """Draw a case, from some kinds of processors if they are named."""
    return _Draw(seed, tags).case()


class _Draw:
    def __init__(self, seed: int, tags: Collection[str]) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.write = Writer(self.random)
        self.given: set[str | None] = set()
        self.budget = self.random.randint(2, 8)
        some = self.random.sample(TAGS, self.random.randint(2, 6))
        self.tags = [t for t in TAGS if t in (tags or some) or t == "apply"]
        self.wanted = "NNBBBT" + "BBBBBB" * ("ltl" in self.tags)
        self.makers: dict[str, Callable[[str, list[Pipe], int], Made | None]] = {
            **dict.fromkeys(("passthrough", "freeze", "fork"), self.copying),
            **dict.fromkeys(("decimate", "trim", "stutter"), self.counting),
            **dict.fromkeys(NESTING, self.nesting),
            "insert": self.inserting,
            "turn_into": self.turning,
            "filter": self.filtering,
            "multiplex": self.multiplexing,
            "apply": self.applying,
            "cumulate": self.folding,
            "ltl": self.deciding,
            "moore": self.moore,
        }

    def case(self) -> Case:
        names = ["log", "more"][: self.random.choice((1, 1, 2))]
        kinds = [self.random.choice("RRRRNB" + "BB" * ("ltl" in self.tags)) for _ in names]
        logs = {
            name: self.write.log(kind, self.random.randint(3, 8))
            for name, kind in zip(names, kinds, strict=True)
        }
        pipes = [Pipe(kind, raw=True) for kind in kinds]
        if self.random.random() < 0.02:
            tree, _ = self.input_only(dict(zip(names, pipes, strict=True)))
        elif len(names) == 1 and self.random.random() < 0.5:
            tree, _ = self.line(pipes[0], 0)
        else:
            tree, _ = self.graph(dict(zip(names, pipes, strict=True)), 0)
        return Case(self.seed, tree, logs, self.random.random() < 0.4, self.given)

    def chain(self, pipes: list[Pipe], depth: int) -> Made:
        """P for a Window, Slice or Group over some pipes; now and then nothing but one of them."""
        if self.random.random() < 0.08:
            return self.input_only({f"in{n}": pipe for n, pipe in enumerate(pipes)})
        if len(pipes) == 1 and self.random.random() < 0.7:
            return self.line(pipes[0], depth)
        return self.graph({f"in{n}": pipe for n, pipe in enumerate(pipes)}, depth)

    def input_only(self, inputs: dict[str, Pipe]) -> Made:
        name = self.random.choice([*inputs])
        tree = {"graph": {"inputs": [*inputs], "nodes": {}, "output": name}}
        return tree, inputs[name]

    def line(self, pipe: Pipe, depth: int) -> Made:
        parts = []
        for _ in range(self.random.randint(1, 3 if depth else 4)):
            part, pipe, _ = self.processor([pipe], depth, fork=False)
            parts.append(part)
        return {"line": parts} if len(parts) > 1 else parts[0], pipe

    def graph(self, inputs: dict[str, Pipe], depth: int) -> Made:
        known = dict(inputs)
        nodes: dict[str, Tree] = {}
        unread = list(known)
        for number in range(self.random.randint(1, 4 if depth else 6)):
            name = f"n{depth}{number}"
            # What nothing reads yet is preferred, so that most of the graph leads to the output.
            reads = [
                self.random.choice(unread if unread and self.random.random() < 0.7 else [*known])
                for _ in range(self.random.choice((1, 1, 2, 2, 3)))
            ]
            part, pipe, used = self.processor([known[r] for r in reads], depth)
            nodes[name] = {"from": reads[:used], "is": part}
            made = [f"{name}.0", f"{name}.1"] if "fork" in part else [name]
            unread = [u for u in unread if u not in reads[:used]] + made
            known.update(dict.fromkeys(made, pipe))
        output = unread[-1]
        tree: Tree = {"graph": {"inputs": list(inputs), "nodes": nodes, "output": output}}
        if depth == 0 and self.random.random() < 0.2:
            del tree["graph"]["output"]
            tree["graph"]["outputs"] = unread
        return tree, known[output]

    def processor(self, pipes: list[Pipe], depth: int, fork: bool = True) -> tuple[Tree, Pipe, int]:
        """One processor that can read these pipes, what it gives, and how many of them it reads."""
        self.budget -= 1
        fitting = [tag for tag in self.tags if fork or tag != "fork"]
        made: Made | None = None
        for tag in [*self.random.choices(fitting, k=5), "apply"]:
            made = self.makers[tag](tag, pipes, depth)
            if made is not None:
                break
        assert made is not None
        part, pipe = made
        return part, pipe, part.pop("uses", 1)

    def copying(self, tag: str, pipes: list[Pipe], depth: int) -> Made:
        return {tag: 2 if tag == "fork" else {}}, pipes[0]

    def counting(self, tag: str, pipes: list[Pipe], depth: int) -> Made:
        return {tag: self.random.randint(0 if tag == "trim" else 1, 3)}, pipes[0]

    def inserting(self, tag: str, pipes: list[Pipe], depth: int) -> Made | None:
        if pipes[0].kind == "M":
            return None
        value = self.write.written_value(pipes[0].kind)
        return {tag: {"n": self.random.randint(0, 2), "value": value}}, pipes[0]

    def turning(self, tag: str, pipes: list[Pipe], depth: int) -> Made:
        wanted = self.random.choice("NBT")
        return {tag: self.write.written_value(wanted)}, Pipe(wanted, regular=pipes[0].regular)

    def filtering(self, tag: str, pipes: list[Pipe], depth: int) -> Made | None:
        pipe = pipes[0].but(regular=False)
        if len(pipes) > 1 and pipes[1].kind == "B":
            return {tag: {}, "uses": 2}, pipe
        return {tag: {"where": self.write.condition(pipes[:1])}}, pipe

    def multiplexing(self, tag: str, pipes: list[Pipe], depth: int) -> Made | None:
        if len(pipes) < 2 or len({p.kind for p in pipes}) > 1:
            return None
        regular, raw = all(p.regular for p in pipes), all(p.raw for p in pipes)
        return {tag: {}, "uses": len(pipes)}, pipes[0].but(regular=regular, raw=raw)

    def applying(self, tag: str, pipes: list[Pipe], depth: int) -> Made:
        wanted = self.random.choice(self.wanted)
        expression = self.write.expression(wanted, pipes, self.random.choice((0, 1, 1, 2, 3)))
        uses = pipes_read(expression_from_json(expression))
        if self.random.random() < 0.3:
            uses = len(pipes)  # it waits for pipes that it does not name, too
        regular = all(p.regular for p in pipes[:uses])
        return {tag: expression, "uses": uses}, Pipe(wanted, regular=regular)

    def folding(self, tag: str, pipes: list[Pipe], depth: int) -> Made | None:
        kind = pipes[0].kind
        names = {"N": ("add", "product", "product", "min", "max"), "B": ("and", "or")}.get(kind)
        if names is None:
            return None
        value: Any = self.random.choice(names)
        if self.random.random() < 0.2:
            value = {"function": value, "start": self.write.present(kind)}
        return {tag: value}, Pipe(kind, regular=pipes[0].regular)

    def deciding(self, tag: str, pipes: list[Pipe], depth: int) -> Made | None:
        if pipes[0].kind != "B":
            return None
        if len(pipes) > 1 and pipes[1].kind == "B":
            return {tag: "U", "uses": 2}, Pipe("B", regular=False)
        symbol = self.random.choice("GFX")
        return {tag: symbol}, Pipe("B", regular=symbol == "X" and pipes[0].regular)

    def moore(self, tag: str, pipes: list[Pipe], depth: int) -> Made:
        states = [f"s{n}" for n in range(self.random.randint(2, 4))]
        wanted = self.random.choice("NBT")
        symbols = {s: self.write.written_value(wanted) for s in states}
        if self.random.random() < 0.4:
            del symbols[self.random.choice(states)]
        value = {
            "initial": states[0],
            "states": symbols,
            "transitions": [
                [self.random.choice(states), self.write.condition(pipes[:1]), to]
                for to in self.random.choices(states, k=self.random.randint(1, 5))
            ],
            "otherwise": {s: self.random.choice((s, *states)) for s in states},
        }
        regular = pipes[0].regular and len(symbols) == len(states)
        return {tag: value}, Pipe(wanted, regular=regular)

    def nesting(self, tag: str, pipes: list[Pipe], depth: int) -> Made | None:
        if depth > 2 or self.budget < 0:
            return None
        uses = len(pipes)
        regular = all(p.regular for p in pipes)
        if tag == "group":
            tree, pipe = self.chain(pipes, depth + 1)
            return {tag: tree, "uses": uses}, pipe
        tree, inner = self.chain([p.but(regular=True) for p in pipes], depth + 1)
        if tag == "window":
            value = {"n": self.random.randint(1, 4), "of": tree}
            made = inner.but(regular=regular, raw=inner.raw and inner.regular)
            return {tag: value, "uses": uses}, made
        return self.slicing(pipes, tree, inner)

    def slicing(self, pipes: list[Pipe], tree: Tree, inner: Pipe) -> Made:
        key, given = self.write.key(pipes)
        if given:
            self.given.add(key.get("field"))
        fitting = {
            "B": ("and", "or", "and", "or", "count", None),
            "N": ("add", "product", "product", "min", "max", "count", None),
            "T": ("min", "max", "count", None),
        }.get(inner.kind, ("count", None))
        combine = self.random.choice(fitting)
        value: Tree = {"by": key, "of": tree}
        if combine is not None:
            value["combine"] = combine
        if self.random.random() < 0.2:
            value["take"] = "first"
        kind = "M" if combine is None else "N" if combine == "count" else inner.kind
        # Whether a closed run adds an output is not followed here.
        return {"slice": value, "uses": len(pipes)}, Pipe(kind, regular=False)

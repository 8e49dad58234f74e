"""Random chains and logs: every processor, nested, over several logs, kinds kept right.

Everything is drawn from one seed, so that a failure is repeated by its number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.engine.random_expressions import Pipe, Writer
from whence.engine.chain import Chain
from whence.engine.definition import chain_from_tree
from whence.engine.expression import pipes_read
from whence.engine.notation import expression_from_json

__all__ = ["Case", "Logs", "random_case"]

Logs = dict[str, list[Any]]
Tree = dict[str, Any]


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


def random_case(seed: int) -> Case:
    """Draw a case; larger numbers give no larger cases."""
    return _Draw(seed).case()


class _Draw:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.write = Writer(self.random)
        self.given: set[str | None] = set()
        self.budget = self.random.randint(1, 7)

    def case(self) -> Case:
        names = ["log", "more"][: self.random.choice((1, 1, 2))]
        kinds = [self.random.choice("RRRRNB") for _ in names]
        logs = {
            name: self.write.log(kind, self.random.randint(3, 9))
            for name, kind in zip(names, kinds, strict=True)
        }
        pipes = [Pipe(kind, raw=True) for kind in kinds]
        if len(names) == 1 and self.random.random() < 0.6:
            tree, _ = self.line(pipes[0], 0)
        else:
            tree, _ = self.graph(dict(zip(names, pipes, strict=True)), 0)
        closed = self.random.random() < 0.4
        return Case(self.seed, tree, logs, closed, self.given)

    def chain(self, pipes: list[Pipe], depth: int) -> tuple[Tree, Pipe]:
        """P for a Window, Slice or Group over some pipes."""
        if len(pipes) == 1 and self.random.random() < 0.7:
            return self.line(pipes[0], depth)
        return self.graph({f"in{n}": pipe for n, pipe in enumerate(pipes)}, depth)

    def line(self, pipe: Pipe, depth: int) -> tuple[Tree, Pipe]:
        parts = []
        for _ in range(self.random.randint(1, 3 if depth else 4)):
            part, pipe = self.processor([pipe], depth)
            parts.append(part)
            self.budget -= 1
        return {"line": parts} if len(parts) > 1 else parts[0], pipe

    def graph(self, inputs: dict[str, Pipe], depth: int) -> tuple[Tree, Pipe]:
        known = dict(inputs)
        nodes: dict[str, Tree] = {}
        unread = list(known)
        for number in range(self.random.randint(1, 4 if depth else 5)):
            name = f"n{depth}{number}"
            count = self.random.choice((1, 1, 2, 2, 3))
            # What nothing reads yet goes first, so that most of the graph leads to the output.
            reads = [self.random.choice(unread[-2:] or list(known)) for _ in range(count)]
            reads[1:] = [self.random.choice(list(known)) for _ in reads[1:]]
            if self.random.random() < 0.12:
                nodes[name] = {"from": [reads[0]], "is": {"fork": 2}}
                made = {f"{name}.{n}": known[reads[0]] for n in (0, 1)}
            else:
                part, pipe = self.processor([known[r] for r in reads], depth)
                used = part.pop("uses", len(reads))
                reads = reads[:used]
                nodes[name] = {"from": reads, "is": part}
                made = {name: pipe}
            unread = [u for u in unread if u not in reads] + list(made)
            known.update(made)
            self.budget -= 1
        output = unread[-1]
        tree = {"graph": {"inputs": list(inputs), "nodes": nodes, "output": output}}
        return tree, known[output]

    def processor(self, pipes: list[Pipe], depth: int) -> tuple[Tree, Pipe]:
        """One processor that can read these pipes, and what it gives."""
        makers = [self.copying, self.applying, self.applying, self.folding, self.deciding]
        if len(pipes) > 1:
            makers += [self.joining, self.joining]
        if depth < 3 and self.budget > 0:
            makers += [self.nesting, self.nesting, self.nesting]
        part, pipe = self.random.choice(makers)(pipes, depth)
        if "uses" not in part:
            part["uses"] = 1
        if len(pipes) == 1:
            del part["uses"]
        return part, pipe

    def copying(self, pipes: list[Pipe], depth: int) -> tuple[Tree, Pipe]:
        pipe = pipes[0]
        kind = self.random.choice(
            ("passthrough", "decimate", "trim", "freeze", "insert", "stutter", "where", "turn_into")
        )
        number = self.random.randint(1, 3)
        if kind in ("passthrough", "freeze"):
            return {kind: {}}, pipe
        if kind == "insert":
            return {kind: {"n": number, "value": self.write.written_value(pipe.kind)}}, pipe
        if kind == "where":
            return {"filter": {"where": self.write.condition([pipe])}}, pipe.but(regular=False)
        if kind == "turn_into":
            wanted = self.random.choice("NBT")
            return {kind: self.write.written_value(wanted)}, Pipe(wanted, regular=pipe.regular)
        return {kind: number - (kind == "trim")}, pipe

    def applying(self, pipes: list[Pipe], depth: int) -> tuple[Tree, Pipe]:
        wanted = self.random.choice("NNBBBT")
        expression = self.write.expression(wanted, pipes, self.random.randint(1, 3))
        uses = pipes_read(expression_from_json(expression))
        if uses == 1 and self.random.random() < 0.3:
            uses = len(pipes)  # it waits for pipes that it does not name, too
        regular = all(p.regular for p in pipes[:uses])
        return {"apply": expression, "uses": uses}, Pipe(wanted, regular=regular)

    def folding(self, pipes: list[Pipe], depth: int) -> tuple[Tree, Pipe]:
        pipe = pipes[0]
        if pipe.kind == "N":
            name = self.random.choice(("add", "product", "product", "min", "max"))
        elif pipe.kind == "B":
            name = self.random.choice(("and", "or"))
        else:
            return self.applying(pipes, depth)
        value: Any = name
        if self.random.random() < 0.2:
            value = {"function": name, "start": self.write.present(pipe.kind)}
        return {"cumulate": value}, Pipe(pipe.kind, regular=pipe.regular)

    def deciding(self, pipes: list[Pipe], depth: int) -> tuple[Tree, Pipe]:
        pipe = pipes[0]
        if pipe.kind == "B" and self.random.random() < 0.7:
            if len(pipes) > 1 and pipes[1].kind == "B" and self.random.random() < 0.5:
                return {"ltl": "U", "uses": 2}, Pipe("B", regular=False)
            symbol = self.random.choice("GFX")
            return {"ltl": symbol}, Pipe("B", regular=symbol == "X" and pipe.regular)
        return self.moore(pipe)

    def moore(self, pipe: Pipe) -> tuple[Tree, Pipe]:
        states = [f"s{n}" for n in range(self.random.randint(2, 4))]
        wanted = self.random.choice("NBT")
        symbols = {s: self.write.written_value(wanted) for s in states}
        if self.random.random() < 0.4:
            del symbols[self.random.choice(states)]
        steps = [
            [
                self.random.choice(states),
                self.write.condition([pipe]),
                self.random.choice(states),
            ]
            for _ in range(self.random.randint(1, 5))
        ]
        otherwise = {s: self.random.choice((s, s, *states)) for s in states}
        regular = pipe.regular and len(symbols) == len(states)
        return {
            "moore": {
                "initial": states[0],
                "states": symbols,
                "transitions": steps,
                "otherwise": otherwise,
            }
        }, Pipe(wanted, regular=regular)

    def joining(self, pipes: list[Pipe], depth: int) -> tuple[Tree, Pipe]:
        if pipes[1].kind == "B" and self.random.random() < 0.6:
            return {"filter": {}, "uses": 2}, pipes[0].but(regular=False)
        same = [p for p in pipes if p.kind == pipes[0].kind]
        if len(same) == len(pipes):
            regular, raw = all(p.regular for p in pipes), all(p.raw for p in pipes)
            return {"multiplex": {}, "uses": len(pipes)}, pipes[0].but(regular=regular, raw=raw)
        return self.applying(pipes, depth)

    def nesting(self, pipes: list[Pipe], depth: int) -> tuple[Tree, Pipe]:
        self.budget -= 1
        kind = self.random.choice(("window", "window", "slice", "slice", "slice", "group"))
        regular = all(p.regular for p in pipes)
        uses = len(pipes)
        if kind == "group":
            tree, pipe = self.chain(pipes, depth + 1)
            return {"group": tree, "uses": uses}, pipe
        tree, inner = self.chain([p.but(regular=True) for p in pipes], depth + 1)
        if kind == "window":
            n = self.random.randint(1, 4)
            raw = inner.raw and inner.regular
            made = inner.but(regular=regular, raw=raw)
            return {"window": {"n": n, "of": tree}, "uses": uses}, made
        return self.slicing(pipes, tree, inner)

    def slicing(self, pipes: list[Pipe], tree: Tree, inner: Pipe) -> tuple[Tree, Pipe]:
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
        # A closed run may add an output; whether it does is no matter of kinds.
        return {"slice": value, "uses": len(pipes)}, Pipe(kind, regular=False)

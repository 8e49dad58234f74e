"""Read a chain from the tree that a chain file holds (JSON or YAML, already parsed)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from whence.engine.errors import (
    ChainError,
    DefinitionError,
    FormulaError,
    ParameterError,
    RunnerError,
    WhenceError,
)
from whence.engine.functions import BY_NAME, OwnFunctions
from whence.engine.language.chain import Chain, Connection
from whence.engine.language.expression import Expression, Field
from whence.engine.language.log import COLUMN_KINDS, DECLARABLE, Log, check_kind
from whence.engine.language.notation import expression_from_json
from whence.engine.language.processor import Processor
from whence.engine.language.registry import processor_types, temporal_formula, types_with_tag
from whence.engine.values import ValueFault
from whence.engine.values.value_json import value_from_json

__all__ = ["chain_from_tree"]

Path = tuple[str | int, ...]


def chain_from_tree(
    tree: Any, *, make_ids: bool = False, formulas: bool = True, own: OwnFunctions = BY_NAME
) -> Chain:
    """Read a chain.

    Args:
        tree: from `Chain.tree`: a processor, a ``line`` or a ``graph``, with ``logs`` next to it.
        make_ids: name processors without an id after their tag, instead of refusing them.
        formulas: a text in place of an expression is formula text, else a constant.
        own: finds the functions of the user's own that it calls; unless given, they are read by
            name, and refuse to compute if this process has not loaded them.

    Raises:
        DefinitionError: with the path of what is wrong in ``error.path``.

    >>> chain_from_tree({"line": [{"id": "skip", "trim": 2}, {"id": "two", "stutter": 2}]}).outputs
    ('two',)
    """
    with own.reading():
        reader = _DefinitionReader(make_ids=make_ids, formulas=formulas, own=own)
        return reader.chain(tree, top=True)


class _DefinitionReader:
    """Reads trees and knows, for errors, where in the tree it is."""

    def __init__(self, *, make_ids: bool, formulas: bool, own: OwnFunctions) -> None:
        self.make_ids = make_ids
        self.formulas = formulas
        self.own = own
        self.path: Path = ()
        self.root: Any = None
        self._made: dict[str, int] = {}
        self._read: dict[str, Callable[..., Any]] = {
            "expression": self.expression,
            "chain": self.chain,
            "value": value_from_json,
            "keys": self.keys,
        }

    @contextmanager
    def at(self, *steps: str | int) -> Iterator[None]:
        """Go to a place in the tree; errors from there carry its path."""
        before = self.path
        self.path = (*before, *steps)
        try:
            yield
        except DefinitionError as error:
            if error.path is None:
                error.path = self.path
            raise
        except (ParameterError, ChainError, FormulaError, ValueFault) as fault:
            raise DefinitionError(str(fault), self.path) from fault
        except (TypeError, AttributeError, KeyError, ValueError) as fault:
            # A value of a shape that no reader foresaw, such as a list where a name belongs.
            written = repr(self._here())
            shown = written if len(written) <= 60 else written[:57] + "..."
            msg = (
                f"a chain file: expected another shape here; got {shown}; "
                "try the form on the reference page of chain files"
            )
            raise DefinitionError(msg, self.path) from fault
        self.path = before

    def refuse(self, what: str, expected: str, got: object, hint: str) -> DefinitionError:
        """An error at the present place."""
        return DefinitionError(f"{what}: expected {expected}; got {got!r}; try {hint}", self.path)

    def keys(self, value: Any, allowed: set[str], required: set[str]) -> None:
        """Check the keys of a mapping."""
        if not isinstance(value, dict):
            raise self.refuse("a parameter", "a mapping", value, "{" + ", ".join(allowed) + "}")
        for key in value:
            if key not in allowed:
                near = get_close_matches(str(key), allowed, n=1)
                hint = f"{near[0]!r} (did you mean that?)" if near else " or ".join(sorted(allowed))
                with self.at(key):
                    raise self.refuse("a key", "one of " + ", ".join(sorted(allowed)), key, hint)
        for key in sorted(required - set(value)):
            raise self.refuse("a key", f"the key {key!r}", sorted(value), f"adding {key!r}")

    def expression(self, written: Any, key: bool = False) -> Expression:
        """Read an expression; with ``key`` a text is a field even where text is a constant."""
        if key and isinstance(written, str) and not self.formulas:
            return Field(written)
        if self.formulas:
            from whence.engine.language.formula import parse_expression

            try:
                return expression_from_json(
                    written, lambda text: parse_expression(text, self.own), own=self.own
                )
            except RunnerError:
                raise  # a function that is not loaded: the text itself is as it should be
            except (WhenceError, ValueFault) as fault:
                raise DefinitionError(str(fault), (*self.path, *self._steps_to(written))) from fault
        return expression_from_json(written, own=self.own)

    def _here(self) -> Any:
        here = self.root
        for step in self.path:
            here = here[step]
        return here

    def names(self, written: Any) -> list[str]:
        """Read the name of a pipe, or a list of such names."""
        names = written if isinstance(written, list) else [written]
        for name in names:
            if not isinstance(name, str):
                raise self.refuse("a pipe", "its name", name, "a log's name or a node's")
        return names

    def _steps_to(self, part: Any) -> Path:
        """From the present place to a part of it that a processor took out by itself."""
        # Breadth first: what a processor takes out lies just below.
        waiting: list[tuple[Path, Any]] = [((), self._here())]
        for steps, item in waiting:
            if item is part:
                return steps
            if isinstance(item, dict):
                waiting += [((*steps, key), value) for key, value in item.items()]
            elif isinstance(item, list):
                waiting += [((*steps, number), value) for number, value in enumerate(item)]
        return ()

    def chain(self, tree: Any, top: bool = False) -> Chain:
        """Read a processor, a line or a graph as a chain."""
        self.root = tree if top else self.root
        with self.at(*self._steps_to(tree)):
            if not isinstance(tree, dict):
                raise self.refuse("a chain", "a mapping", tree, "{line: [...]}")
            logs: dict[str, Log] = {}
            if top and "logs" in tree:
                with self.at("logs"):
                    logs = self._logs(tree["logs"])
                tree = {k: v for k, v in tree.items() if k != "logs"}
            if "line" in tree:
                self.keys(tree, {"line"}, {"line"})
                return self._line(tree["line"], logs)
            if "graph" in tree:
                self.keys(tree, {"graph"}, {"graph"})
                with self.at("graph"):
                    return self._graph(tree["graph"], logs)
            return self._with_logs(Chain.of(self.processor(tree)), logs)

    def _with_logs(self, chain: Chain, logs: dict[str, Log]) -> Chain:
        return Chain(chain.inputs, chain.connections, chain.outputs, logs) if logs else chain

    def _line(self, parts: Any, logs: dict[str, Log]) -> Chain:
        if not isinstance(parts, list):
            raise self.refuse("a line", "a list of processors", parts, "line: [{id: …, trim: 2}]")
        if not parts:
            return Chain.graph(["log"], [], logs=logs)
        chain: Chain | None = None
        inputs: tuple[str, ...] = ()
        made: dict[str, Connection] = {}
        for number, part in enumerate(parts):
            with self.at("line", number):
                processor = self.processor(part)
                after = Chain.of(processor)
                if chain is not None and (processor.id in made or not _one_to_one(chain, after)):
                    # Let the whole chain so far say what does not fit.
                    chain = Chain(inputs, tuple(made.values()), chain.outputs) | processor
                if chain is None:
                    inputs = after.inputs
                read = inputs if chain is None else chain.outputs
                made[processor.id] = Connection(processor, read)
                chain = after
        assert chain is not None
        return Chain(inputs, tuple(made.values()), chain.outputs, logs)

    def _graph(self, graph: Any, logs: dict[str, Log]) -> Chain:
        self.keys(graph, {"inputs", "nodes", "output", "outputs"}, {"inputs", "nodes"})
        with self.at("nodes"):
            if not isinstance(graph["nodes"], dict):
                raise self.refuse("a graph", "nodes by name", graph["nodes"], "nodes: {NAME: …}")
            made = []
            for name, node in graph["nodes"].items():
                with self.at(name):
                    self.keys(node, {"from", "is"}, {"from", "is"})
                    with self.at("from"):
                        sources = self.names(node["from"])
                    with self.at("is"):
                        made.append((self.processor(node["is"], name), sources))
        if "output" in graph and "outputs" in graph:
            raise self.refuse("a graph", "`output` or `outputs`", "both", "only one of them")
        outputs = None
        for key in graph.keys() & {"output", "outputs"}:
            with self.at(key):
                outputs = self.names(graph[key])
        with self.at("inputs"):
            inputs = self.names(graph["inputs"])
        try:
            return Chain.graph(inputs, made, outputs, logs)
        except ChainError as fault:
            # The message names the processor; its node is where to look.
            named = [p.id for p, _ in made if f"{p.id!r}: " in str(fault)]
            with self.at(*(("nodes", named[0]) if named else ())):
                raise

    def processor(self, tree: Any, name: str | None = None) -> Processor:
        """Read one processor: an object with its tag and its id."""
        if not isinstance(tree, dict):
            raise self.refuse("a processor", "a mapping", tree, "{id: skip, trim: 2}")
        tags = [key for key in tree if key != "id"]
        if len(tags) != 1:
            raise self.refuse(
                "a processor", "an id and one tag", sorted(tree), "{id: skip, trim: 2}"
            )
        (tag,) = tags
        known = [*processor_types(), "line", "graph", "formula"]
        if tag not in known:
            near = get_close_matches(str(tag), known, n=1)
            hint = f"{near[0]!r} (did you mean that?)" if near else "one of " + ", ".join(known)
            with self.at(tag):
                raise self.refuse("a processor", "a known tag", tag, hint)
        if name is not None and tree.get("id", name) != name:
            raise self.refuse("a node", f"the id {name!r}, its name", tree["id"], "no id here")
        if tag == "formula":
            with self.at(tag):
                return temporal_formula(tree[tag], self._id(tree, tag, name))
        if tag in ("line", "graph"):
            # A chain in place of a processor is a Group.
            inner, tree = {tag: tree[tag]}, {**tree, "group": None}
            with self.at():
                found = types_with_tag("group")[0]
                return found.from_parameters(self._id(tree, "group", name), inner, self._read)  # type: ignore[no-any-return]
        with self.at(tag):
            types = types_with_tag(tag)
            fitting = [kind for kind in types if kind.accepts(tree[tag])]
            if not fitting:
                symbols = ", ".join(str(getattr(kind, "symbol", kind.__name__)) for kind in types)
                what = f"a processor {tag!r}"
                raise self.refuse(what, f"one of {symbols}", tree[tag], symbols)
            return fitting[0].from_parameters(self._id(tree, tag, name), tree[tag], self._read)  # type: ignore[no-any-return]

    def _id(self, tree: dict[str, Any], tag: str, name: str | None) -> str:
        if name is not None:
            return name
        if "id" in tree:
            return tree["id"]  # type: ignore[no-any-return]
        if not self.make_ids:
            raise self.refuse(
                "a processor", f"an id beside {tag!r}", "none", f"{{id: my-{tag}, {tag}: …}}"
            )
        self._made[tag] = self._made.get(tag, 0) + 1
        return f"{tag}{self._made[tag]}"

    def _logs(self, tree: Any) -> dict[str, Log]:
        if not isinstance(tree, dict):
            raise self.refuse("logs", "logs by name", tree, "logs: {log: {columns: {x: integer}}}")
        logs = {}
        for name, declared in tree.items():
            with self.at(name):
                self.keys(declared, set(DECLARABLE), set())
                with self.at("columns"):
                    for column, kind in (declared.get("columns") or {}).items():
                        if not check_kind(kind):
                            with self.at(column):
                                what = f"column {column!r}"
                                kinds = " or ".join(COLUMN_KINDS)
                                raise self.refuse(what, "a kind", kind, kinds)
                logs[name] = Log(**declared)
        return logs


def _one_to_one(before: Chain, after: Chain) -> bool:
    return len(before.outputs) == 1 and len(after.inputs) == 1

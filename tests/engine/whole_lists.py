"""A second reading of the specification: processors as functions of whole lists.

It shares nothing with the engine: no machines, no terms, no functions. Every event is a pair of its
value and the set of input events that explain it, so that explanations compose by themselves.
"""

from __future__ import annotations

from typing import Any

from tests.engine.whole_expressions import Pair, evaluate, fold, key_of, neutral, true

__all__ = ["outputs_of"]

Pipe = list[Pair]
Tree = dict[str, Any]
NOTHING: frozenset[Any] = frozenset()


def outputs_of(tree: Tree, logs: dict[str, list[Any]], closed: bool) -> list[Pipe]:
    """The output pipes of a chain over logs."""
    pipes = [
        [(value, frozenset({(name, k)})) for k, value in enumerate(events)]
        for name, events in logs.items()
    ]
    return _chain(tree, pipes, closed)


def _chain(tree: Tree, pipes: list[Pipe], closed: bool) -> list[Pipe]:
    if "line" in tree:
        for part in tree["line"]:
            pipes = _processor(part, pipes, closed)
        return pipes
    if "graph" not in tree:
        return _processor(tree, pipes, closed)
    graph = tree["graph"]
    known = dict(zip(graph["inputs"], pipes, strict=True))
    for name, node in graph["nodes"].items():
        made = _processor(node["is"], [known[source] for source in node["from"]], closed)
        known[name] = made[0]
        known.update({f"{name}.{number}": pipe for number, pipe in enumerate(made)})
    return [known[name] for name in graph.get("outputs", [graph.get("output")])]


def _processor(tree: Tree, pipes: list[Pipe], closed: bool) -> list[Pipe]:
    ((tag, value),) = tree.items()
    if tag == "group":
        return _chain(value, pipes, closed)
    fronts = list(zip(*pipes, strict=False))
    if tag == "fork":
        return [pipes[0]] * int(value)
    if tag == "ltl":
        return [_verdicts(value, fronts, closed)]
    if tag == "slice":
        return [_slice(value, fronts, closed)]
    return [_RULES[tag](value, fronts)]


def _copies(value: Any, fronts: list[tuple[Pair, ...]]) -> Pipe:
    return [front[0] for front in fronts]


def _filter(value: Any, fronts: list[tuple[Pair, ...]]) -> Pipe:
    if "where" in value:
        fronts = [(front[0], evaluate(value["where"], front)) for front in fronts]
    return [(e[0], e[1] | c[1]) for e, c in fronts if true(c[0])]


def _window(value: Any, fronts: list[tuple[Pair, ...]]) -> Pipe:
    n = value["n"]
    made: Pipe = []
    for k in range(len(fronts) - n + 1):
        inside = fronts[k : k + n]
        said = _chain(value["of"], [list(p) for p in zip(*inside, strict=True)], False)[0]
        made.append(said[-1] if said else (None, _all(inside)))
    return made


def _all(fronts: list[tuple[Pair, ...]]) -> frozenset[Any]:
    return NOTHING.union(*(why for front in fronts for _, why in front))


def _moore(value: Any, fronts: list[tuple[Pair, ...]]) -> Pipe:
    state = value["initial"]
    vector: list[tuple[str, frozenset[Any]]] = [(state, NOTHING)]
    made: Pipe = []
    for front in fronts:
        for start, guard, to in value["transitions"]:
            if start == state and true(evaluate(guard, front)[0]):
                state = to
                break
        else:
            state = value["otherwise"][state]
        vector.append((state, front[0][1]))
        if state in value["states"]:
            made.append((value["states"][state], NOTHING.union(*(why for _, why in vector))))
        earliest = [name for name, _ in vector].index(state)
        vector = vector[: earliest + 1]
    return made


def _verdicts(symbol: str, fronts: list[tuple[Pair, ...]], closed: bool) -> Pipe:
    made: Pipe = []
    for k in range(len(fronts)):
        verdict = _verdict(symbol, fronts[k:])
        if verdict is None and closed:
            verdict = (symbol == "G", _all(fronts[k:]))
        if verdict is None:
            break
        made.append(verdict)
    return made


def _verdict(symbol: str, suffix: list[tuple[Pair, ...]]) -> Pair | None:
    if symbol == "X":
        return (true(suffix[1][0][0]), suffix[1][0][1]) if len(suffix) > 1 else None
    for i, front in enumerate(suffix):
        p = front[0]
        if symbol in "GF" and true(p[0]) == (symbol == "F"):
            return symbol == "F", p[1]
        if symbol == "U":
            q = front[1]
            if true(q[0]):
                return True, q[1].union(*(f[0][1] for f in suffix[:i]))
            if not true(p[0]):
                return False, p[1].union(*(f[1][1] for f in suffix[: i + 1]))
    return None


def _slice(value: Any, fronts: list[tuple[Pair, ...]], closed: bool) -> Pipe:
    inside: dict[object, list[tuple[Pair, ...]]] = {}
    keys: dict[object, object] = {}
    heads: dict[object, Pipe] = {}
    made: Pipe = []

    def said(name: object, at_end: bool) -> Pipe:
        pipes = [list(p) for p in zip(*inside[name], strict=True)]
        return _chain(value["of"], pipes, at_end)[0]

    for number, front in enumerate(fronts):
        key = evaluate(value["by"], front)[0]
        for one in key if isinstance(key, list) else [key]:
            name = key_of(one)
            keys.setdefault(name, one)
            if not inside.get(name) or inside[name][-1] is not front:
                inside.setdefault(name, []).append(front)
            heads[name] = said(name, False)
        made.append(_combine(value, keys, heads, _all(fronts[: number + 1])))
    if closed:
        before = {name: len(pipe) for name, pipe in heads.items()}
        heads = {name: said(name, True) for name in heads}
        if any(len(pipe) > before[name] for name, pipe in heads.items()):
            made.append(_combine(value, keys, heads, _all(fronts)))
    return made


def _combine(
    value: Any, keys: dict[object, object], heads: dict[object, Pipe], everything: frozenset[Any]
) -> Pair:
    place = 0 if value.get("take") == "first" else -1
    spoken = {name: heads[name][place] for name in keys if heads.get(name)}
    combine = value.get("combine")
    if combine is None:
        why = NOTHING.union(*(w for _, w in spoken.values())) if spoken else everything
        return [(keys[name], v) for name, (v, _) in spoken.items()], why
    if not spoken:
        return neutral(combine), everything
    if combine == "count":
        return len(spoken), NOTHING.union(*(w for _, w in spoken.values()))
    return fold(combine, list(spoken.values()))


def _cumulate(value: Any, fronts: list[tuple[Pair, ...]]) -> Pipe:
    name = value if isinstance(value, str) else value["function"]
    start: Pipe = [(value["start"], NOTHING)] if isinstance(value, dict) else []
    inputs = [front[0] for front in fronts]
    return [fold(name, start + inputs[: k + 1]) for k in range(len(inputs))]


_RULES: dict[str, Any] = {
    "passthrough": _copies,
    "decimate": lambda n, fronts: _copies(n, fronts)[::n],
    "trim": lambda n, fronts: _copies(n, fronts)[n:],
    "stutter": lambda n, fronts: [e for e in _copies(n, fronts) for _ in range(n)],
    "freeze": lambda _, fronts: _copies(_, fronts[:1]) * len(fronts),
    "insert": lambda v, fronts: (
        [evaluate({"constant": v["value"]}, ())] * v["n"] + _copies(v, fronts)
    ),
    "turn_into": lambda v, fronts: [(v, why) for _, why in _copies(v, fronts)],
    "multiplex": lambda _, fronts: [e for front in fronts for e in front],
    "apply": lambda v, fronts: [evaluate(v, front) for front in fronts],
    "filter": _filter,
    "window": _window,
    "moore": _moore,
    "cumulate": _cumulate,
}

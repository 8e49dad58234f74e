"""An explanation step by step: the events that lead to an output, and the ways through them.

`Steps` is what drawings, routes and words are made of, wherever the steps come from: the tracker in
memory (`steps_of`), or a graph that kept them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count

from whence.engine.language.events import Event
from whence.engine.lineage.terms import Edge, edges_below
from whence.engine.values import Value

__all__ = ["NOT_TOLD", "Route", "Step", "StepEdge", "Steps", "routes", "steps_of"]


class _NotTold:
    """The value of an event is not known here."""

    def __repr__(self) -> str:
        return "NOT_TOLD"


NOT_TOLD = _NotTold()


@dataclass(frozen=True)
class Step:
    """An event on the way, or neighbouring input events that stand together.

    Attributes:
        name: its name for people, such as ``total@41`` or ``log@3-9``.
        processor: the full id of the processor that said it; ``None`` for input events.
        value: what it is; `NOT_TOLD` where that is not known, and for several events.
        many: how many events it stands for.
    """

    name: str
    processor: str | None
    value: Value | _NotTold = NOT_TOLD
    many: int = 1

    @property
    def is_input(self) -> bool:
        """Whether it is of a log."""
        return self.processor is None


@dataclass(frozen=True)
class StepEdge:
    """One step of an explanation.

    Attributes:
        source: the name of the event that is explained.
        target: the name of the event that it derives from.
        fields: the fields of the target that matter; ``None`` for all of it.
    """

    source: str
    target: str
    fields: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Steps:
    """The events that lead to an output, each once, and what each derives from.

    Attributes:
        output: the name of the output.
        steps: every event by its name, the output first.
        below: the edges that leave an event, by its name.
    """

    output: str
    steps: Mapping[str, Step]
    below: Mapping[str, tuple[StepEdge, ...]] = field(repr=False)

    @property
    def inputs(self) -> list[Step]:
        """The input events."""
        return [step for step in self.steps.values() if step.is_input]


def steps_of(event: Event) -> Steps:
    """The steps of a tracked event; where there are alternatives, the first.

    >>> from whence.engine import ApplyFunction, Cumulate
    >>> from whence.engine.interpreter import interpret
    >>> from whence.engine.lineage.tracker import MemoryTracker
    >>> chain = Cumulate("all", "and") | ApplyFunction("no", "not value")
    >>> result = interpret(chain, [True, False, True], tracker=MemoryTracker())
    >>> list(steps_of(result.explain(2).event).steps)
    ['no@2', 'all@2', 'log@1']
    """
    names = _Names()
    steps: dict[str, Step] = {}
    below: dict[str, tuple[StepEdge, ...]] = {}
    stack = [event]
    while stack:
        here = stack.pop()
        name = names.of(here)
        if name in steps:
            continue
        stream = here.stream
        is_log = stream is not None and stream.is_log
        steps[name] = Step(name, None if is_log or stream is None else stream.name, here.value)
        found = [] if is_log else _visible(here)
        below[name] = _joined(
            StepEdge(
                name,
                names.of(edge.target),
                None if edge.fields is None else tuple(sorted(edge.fields)),
            )
            for edge in found
        )
        stack.extend(edge.target for edge in reversed(found))
    return Steps(names.of(event), steps, below)


def _visible(event: Event) -> list[Edge]:
    """The edges that leave an event, past what only stands between events."""
    found: list[Edge] = []
    seen: set[int] = set()
    stack = list(reversed(edges_below(event.why)))
    while stack:
        edge = stack.pop()
        stream = edge.target.stream
        if stream is None or not stream.hidden:
            found.append(edge)
        elif id(edge.target) not in seen:
            seen.add(id(edge.target))
            stack.extend(reversed(edges_below(edge.target.why)))
    return found


class _Names:
    """Names that are unique: inside a Window events of several windows would share theirs."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.taken: dict[str, int] = {}

    def of(self, event: Event) -> str:
        known = self.names.get(id(event))
        if known is not None:
            return known
        label = event.label
        times = self.taken.get(label, 0)
        self.taken[label] = times + 1
        name = label if not times else f"{label} ({times + 1})"
        self.names[id(event)] = name
        return name


def _joined(edges: Iterable[StepEdge]) -> tuple[StepEdge, ...]:
    """One edge for each target: where one asks for all of it, fields go without saying."""
    fields: dict[str, tuple[str, ...] | None] = {}
    source = ""
    for edge in edges:
        source = edge.source
        if edge.target not in fields:
            fields[edge.target] = edge.fields
            continue
        known = fields[edge.target]
        if known is not None:
            both = None if edge.fields is None else tuple(sorted({*known, *edge.fields}))
            fields[edge.target] = both
    return tuple(StepEdge(source, target, asked) for target, asked in fields.items())


@dataclass(frozen=True)
class Route:
    """One way from an output to an input event, or to an event that nothing explains.

    Attributes:
        steps: the events, the output first.
        edges: the edges between them.
    """

    steps: tuple[Step, ...]
    edges: tuple[StepEdge, ...]

    def __len__(self) -> int:
        """How many edges it has."""
        return len(self.edges)


def routes(found: Steps, most: int = 1) -> tuple[tuple[Route, ...], bool]:
    """The shortest routes, and whether there are more.

    Args:
        found: the steps.
        most: how many are wanted.

    >>> edges = {"o@0": (StepEdge("o@0", "a@0"), StepEdge("o@0", "log@1")),
    ...          "a@0": (StepEdge("a@0", "log@0"),), "log@0": (), "log@1": ()}
    >>> found = Steps("o@0", {n: Step(n, None if "log" in n else n[0]) for n in edges}, edges)
    >>> [[step.name for step in route.steps] for route in routes(found, 2)[0]]
    [['o@0', 'log@1'], ['o@0', 'a@0', 'log@0']]
    """
    left = _distances(found)
    order = count()
    # Each entry says how long a route through here is at the least, so that the shortest one is
    # complete before a longer one is taken up; of equals the one that has come furthest goes on,
    # or all of them would be begun. So there are as many steps as the answer has.
    waiting: list[tuple[int, int, int, str, _Way | None]] = [
        (left[found.output], 0, next(order), found.output, None)
    ]
    answer: list[Route] = []
    while waiting:
        if len(answer) == most:
            return tuple(answer), True
        _, _, _, name, way = heapq.heappop(waiting)
        edges = found.below.get(name, ())
        if not edges:
            answer.append(_route(found, name, way))
            continue
        gone = 0 if way is None else way.length
        for edge in edges:
            to, far = edge.target, gone + 1
            heapq.heappush(waiting, (far + left[to], -far, next(order), to, _Way(edge, way, far)))
    return tuple(answer), False


@dataclass(frozen=True, slots=True)
class _Way:
    edge: StepEdge
    before: _Way | None
    length: int


def _distances(found: Steps) -> dict[str, int]:
    """From each event, how many edges there are at the least to where nothing is below."""
    above: dict[str, list[str]] = {}
    for name, edges in found.below.items():
        for edge in edges:
            above.setdefault(edge.target, []).append(name)
    distance = {name: 0 for name in found.steps if not found.below.get(name)}
    layer = list(distance)
    while layer:
        following = []
        for name in layer:
            for source in above.get(name, ()):
                if source not in distance:
                    distance[source] = distance[name] + 1
                    following.append(source)
        layer = following
    return distance


def _route(found: Steps, last: str, way: _Way | None) -> Route:
    edges: list[StepEdge] = []
    while way is not None:
        edges.append(way.edge)
        way = way.before
    edges.reverse()
    names = [edge.source for edge in edges] + [last]
    return Route(tuple(found.steps[name] for name in names), tuple(edges))

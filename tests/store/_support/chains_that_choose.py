"""Random chains over whose outputs another alternative than the first one decides."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from tests.engine.random_chains import Case, random_case
from whence.engine.errors import WhenceError
from whence.engine.interpreter import interpret
from whence.engine.lineage.terms import flatten, stands
from whence.engine.lineage.tracker import MemoryTracker

__all__ = ["choosing_case"]

Place = tuple[str, int]
TAGS = (
    ("apply", "cumulate"),
    ("cumulate", "slice"),
    ("apply", "slice"),
    ("apply", "window", "cumulate", "filter"),
    ("cumulate", "ltl", "trim", "fork"),
    (),
)
"""Kinds of processors to draw from, in turns; alternatives are rare where all take part."""
SMALLEST = 4
"""Outputs and input events that must be there, so that there is something to ask about."""


def choosing_case(number: int) -> tuple[Case, tuple[Place, ...]]:
    """The case of this number, and the inputs that the first support of an output needs in vain."""
    while len(_cases) <= number:
        _cases.append(next(_searching))
    return _cases[number]


def _search() -> Iterator[tuple[Case, tuple[Place, ...]]]:
    turns = count()
    turn = next(turns)
    for seed in count():
        case = random_case(seed, TAGS[turn % len(TAGS)])
        needless = _needless(case)
        if needless:
            yield case, needless
            turn = next(turns)


def _needless(case: Case) -> tuple[Place, ...]:
    """Inputs in the first support of an output that stands without them, by another alternative."""
    tracker = MemoryTracker("all")
    try:
        result = interpret(case.chain(), case.logs, tracker=tracker, closed=case.closed)
    except WhenceError:
        return ()
    if len(result.outputs) < SMALLEST:
        return ()
    places = {
        (log, position): None
        for output in result.outputs
        for log, position in flatten(output.event, support=True)
        if isinstance(position, int) and stands(output.event, {(log, position)})
    }
    return tuple(places)


_cases: list[tuple[Case, tuple[Place, ...]]] = []
_searching = _search()

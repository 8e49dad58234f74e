"""See all that a run gave: values, explanations and supports, in a form that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from tests.engine.corruptor import equal
from whence.engine.interpreter import Output
from whence.engine.lineage.tracker import Explanation

__all__ = ["Seen", "interleaved", "relations", "same", "seen"]

Relation = list[tuple[tuple[str, Any], list[str] | None]]
Seen = list[tuple[str, int, object, Relation, Relation]]


def relations(output: Output) -> tuple[Relation, Relation]:
    """What explains an output and what supports it: input events with their fields, in order."""
    explanation = Explanation(output.event)
    return tuple(  # type: ignore[return-value]
        sorted((place, None if f is None else sorted(f)) for place, f in inputs.items())
        for inputs in (explanation.inputs, explanation.support)
    )


def seen(outputs: Iterable[Output]) -> Seen:
    """Every output with its explanation and its support, by pipe and position."""
    found = [(o.name, o.position, o.value, *relations(o)) for o in outputs]
    return sorted(found, key=lambda o: o[:2])


def same(left: Seen, right: Seen) -> bool:
    """Whether two runs gave the same outputs for the same reasons."""
    return len(left) == len(right) and all(
        a[:2] == b[:2] and equal(a[2], b[2]) and a[3:] == b[3:]
        for a, b in zip(left, right, strict=True)
    )


def interleaved(logs: Mapping[str, Sequence[Any]], random: Random) -> Iterator[tuple[str, Any]]:
    """The events of all logs, each log in its order, the logs mixed at random."""
    left = {name: list(events) for name, events in logs.items()}
    while any(left.values()):
        name = random.choice([n for n, events in left.items() if events])
        yield name, left[name].pop(0)

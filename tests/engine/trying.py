"""Try a processor: outputs, explanations, supports and open inputs as plain lists and sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from whence.engine import Chain, MemoryTracker, interpret
from whence.engine.errors import WhenceError
from whence.engine.language.processor import Processor

__all__ = ["Tried", "refusal", "try_out"]

Place = int | str


@dataclass(frozen=True)
class Tried:
    """What a run gave: positions for one log, names such as ``p@3`` for several."""

    values: list[object]
    explained_by: list[set[Place]]
    supported_by: list[set[Place]]
    alternatives: list[list[set[Place]]]
    names: list[list[str]]
    open: set[Place]
    moments: list[int]


def try_out(
    chain: Chain | Processor,
    logs: Iterable[Any] | Mapping[str, Iterable[Any]],
    *,
    closed: bool = False,
    output: str | None = None,
) -> Tried:
    """Run a chain with all witnesses kept and look at everything."""
    if isinstance(logs, Mapping) and isinstance(chain, Processor):
        chain = Chain.graph(list(logs), [(chain, list(logs))])
    result = interpret(chain, logs, tracker=MemoryTracker("all"), closed=closed)
    single = len(result.interpreter.chain.inputs) == 1

    def shown(places: Iterable[tuple[str, Any]]) -> set[Place]:
        return {position if single else f"{log}@{position}" for log, position in places}

    outputs = result.of(output)
    whys = [result.explain(o.position, output) for o in outputs]
    return Tried(
        [o.value for o in outputs],
        [shown(why.inputs) for why in whys],
        [shown(why.support) for why in whys],
        [[shown(s) for s in why.alternatives.sets] for why in whys],
        [why.names for why in whys],
        shown(result.interpreter.open_inputs(output)),
        [o.moment for o in outputs],
    )


def refusal(build: Callable[[], object]) -> str:
    """The message with which a declaration is refused: one line in three parts."""
    with pytest.raises(WhenceError) as caught:
        build()
    message = str(caught.value)
    assert "\n" not in message
    assert "expected " in message
    assert "; got " in message
    assert "; try " in message
    return message

"""List in, list out: try a processor or a chain in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from whence.engine.interpreter import interpret
from whence.engine.language.chain import Chain
from whence.engine.language.processor import Processor
from whence.engine.lineage.terms import Inputs
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.values import Value

__all__ = ["run"]

Explained = tuple[Value, set[int] | set[str]]


def run(
    chain: Chain | Processor,
    logs: Mapping[str, Iterable[Value]] | Iterable[Value],
    *,
    closed: bool = False,
) -> list[Explained] | list[list[Explained]]:
    """Run a chain and return each output with what explains it.

    Args:
        chain: a processor or a chain.
        logs: a list of events; or, for several logs, a list per name (a single processor then
            reads them in that order).
        closed: close the logs after the last event.

    Returns:
        Pairs of value and explanation: positions for one log, names such as ``p@3`` for several.
        With several output pipes, a list of such pairs per pipe.

    >>> from whence.engine.processors import Window, Cumulate
    >>> run(Window("two", n=2, of=Cumulate("sum", "add")), [1, 2, 3])
    [(3, {0, 1}), (5, {1, 2})]
    """
    if isinstance(chain, Processor) and isinstance(logs, Mapping):
        names = [str(name) for name in logs]
        chain = Chain.graph(names, [(chain, names)])
    result = interpret(chain, logs, tracker=MemoryTracker(), closed=closed)
    outputs = result.interpreter.chain.outputs
    single = len(result.interpreter.chain.inputs) == 1
    pipes: list[list[Explained]] = [
        [
            (output.value, _shown(result.explain(output.position, name).inputs, single))
            for output in result.of(name)
        ]
        for name in outputs
    ]
    return pipes[0] if len(pipes) == 1 else pipes


def _shown(inputs: Inputs, single: bool) -> set[int] | set[str]:
    if single:
        return {position for _, position in inputs if isinstance(position, int)}
    return {f"{log}@{position}" for log, position in inputs}

"""Why an output has its value, step by step in words, without values that may not be revealed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from whence.engine.errors import WhenceError
from whence.engine.language.definition import chain_from_tree
from whence.engine.lineage.steps import NOT_TOLD, StepEdge, Steps
from whence.engine.lineage.words import in_words
from whence.exporters.evidence.asking import Asked
from whence.store import Connection
from whence.store.questions import Why, since_event, steps_recorded

__all__ = ["said_in_words", "without_values"]

Fields = tuple[str, ...] | None

_MOST = 20_000
"""Events that are run again for it."""


def said_in_words(
    connection: Connection,
    asked: Asked,
    reveal: Collection[str],
    subject: Collection[tuple[str, int]],
) -> list[str] | None:
    """A sentence for each step from the output to the events that explain it.

    Args:
        connection: where the graph is.
        asked: the question and its answer.
        reveal: the fields whose values may be revealed.
        subject: the events, by log and position, of which everything may be revealed.

    Returns:
        The sentences; ``None`` if the question is not about an output, values of the log were
        erased, or the log is long.
    """
    tree = asked.record.manifest.chain
    if not isinstance(asked.answer, Why) or tree is None:
        return None
    if any(log.manifest.erased for log in asked.logs.values()):
        return None
    try:
        found = steps_recorded(asked.record, asked.answer, most=_MOST)
        chain = chain_from_tree(tree)
    except WhenceError:
        return None
    columns = {name: frozenset(log.columns) for name, log in asked.logs.items()}

    def may_be_told(name: str, fields: Fields) -> bool:
        log, _, at = name.rpartition("@")
        if at.isdigit() and (log, int(at)) in subject:
            return True
        return (columns.get(log, {"?"}) if fields is None else set(fields)) <= set(reveal)

    hidden = set(_not_to_be_told(found, may_be_told))
    since = since_event(connection, asked.answer)
    return in_words(without_values(found, hidden), chain, since=since)


def without_values(found: Steps, hidden: Collection[str]) -> Steps:
    """The same steps, of some of which nothing is known but their names."""
    told = {
        name: replace(step, value=NOT_TOLD) if name in hidden else step
        for name, step in found.steps.items()
    }
    return Steps(found.output, told, found.below)


def _not_to_be_told(found: Steps, may_be_told: Callable[[str, Fields], bool]) -> Iterator[str]:
    """Events whose values may not be revealed, and all that is made from them but for the output.

    The output is the one in question.
    """
    above: dict[str, list[StepEdge]] = {}
    for edges in found.below.values():
        for edge in edges:
            above.setdefault(edge.target, []).append(edge)
    waiting = [
        step.name
        for step in found.inputs
        if not all(may_be_told(step.name, edge.fields) for edge in above.get(step.name, ()))
    ]
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        if name != found.output:
            yield name
        new = {edge.source for edge in above.get(name, ())} - seen
        seen |= new
        waiting += sorted(new)

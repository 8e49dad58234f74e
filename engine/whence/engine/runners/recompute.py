"""One event of a run, recomputed from the record with every step that it is derived from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whence.engine.errors import ParameterError, RunnerError
from whence.engine.functions import LOADED
from whence.engine.interpreter import Interpreter
from whence.engine.language.definition import chain_from_tree
from whence.engine.language.events import Event, Position
from whence.engine.lineage.tracker import MemoryTracker, Witnesses
from whence.engine.record import LogRecord, RunRecord
from whence.engine.runners.local import in_rounds
from whence.engine.values import Value
from whence.engine.values.limits import RunLimits, limited

__all__ = ["MOST_EVENTS", "again"]

MOST_EVENTS = 1_000_000
"""Number of input events whose steps fit into a few gigabytes of memory."""


def again(
    record: RunRecord,
    processor: str,
    pipe: int,
    position: Position,
    moment: int,
    *,
    witnesses: Witnesses = "first",
    most: int = MOST_EVENTS,
) -> Event:
    """Run the chain again, as far as one event, and return it with all that explains it.

    Args:
        record: the run.
        processor: the full id of the processor that output it.
        pipe: its output pipe.
        position: the event's position there; inside a Slice the pair (outer position, index).
        moment: the input position after which it appeared.
        witnesses: which alternatives to keep.
        most: maximum number of input events.

    Raises:
        RunnerError: there are more, the event does not come again, or the chain calls functions of
            the user's own that this process has not loaded.
    """
    manifest = record.manifest
    chain = chain_from_tree(manifest.chain, own=LOADED)
    logs = {name: record.log(name) for name in manifest.logs}
    needed = sum(min(log.length, moment + 1) for log in logs.values())
    name = f"{processor}@{position if isinstance(position, int) else position[0]}"
    if needed > most:
        msg = (
            f"{name}: expected at most {most:,} input events to compute its steps from; "
            f"got {needed:,}; try a run with --detail steps, whose graph has them"
        )
        raise RunnerError(msg)
    tracker = MemoryTracker(witnesses)
    interpreter = Interpreter(chain, tracker, closed=manifest.options.closed)
    with limited(RunLimits.of_json(manifest.options.limits)):
        interpreter.begin()
        for log, value in _until(chain.inputs, logs, moment):
            interpreter.feed(log, value)
        found = _found(tracker, processor, pipe, position)
        if found is None:
            interpreter.close()
            found = _found(tracker, processor, pipe, position)
    if found is None:
        msg = (
            f"{name}: expected the record to give it again; got nothing of that name by input "
            f"{moment}; try whence runs verify {record.id}"
        )
        raise RunnerError(msg)
    return found


def _until(names: Any, logs: Mapping[str, LogRecord], moment: int) -> Iterator[tuple[str, Value]]:
    for position, name, value in in_rounds(names, logs):
        if position > moment:
            return
        yield name, value


def _found(tracker: MemoryTracker, processor: str, pipe: int, position: Position) -> Event | None:
    try:
        return tracker.event(processor, pipe, position)
    except ParameterError:
        return None

"""How a run is cut for Spark: what can be done in several tasks exactly, and what in one.

A plan that cannot be exact is never made: whatever fits nowhere passes through one task.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from whence.engine.interpreter.plan import Options, Plan
from whence.engine.kernels.slice_apart import COMBINES
from whence.engine.language.chain import Chain
from whence.engine.language.expression import Field, Input
from whence.engine.palettes.ltl import F, G
from whence.engine.processors.slice import Slice
from whence.engine.record.logs import LogRecord
from whence.engine.runners.options import RunOptions

__all__ = ["AT_LEAST", "Cut", "cores_of_master", "plan_run"]

AT_LEAST = 4
"""Fewer cores than these do not make up for what it takes to send events about."""

LONG = 1_000_000
"""A log that is shorter is through one task before several have begun."""

_KEYS = ("text", "integer", "boolean", "instant", "duration")
"""Kinds of keys that Spark distinguishes exactly as Whence does."""

_UNTIL = {"G": "the first false", "F": "the first true"}

_READ = (-1, 0)
"""The first log, as the plan of a chain names pipes."""


@dataclass(frozen=True)
class Cut:
    """How a run is cut.

    Attributes:
        kind: ``one task``; ``slices``: the events by their keys; ``chunks``: by their positions.
        tasks: how many tasks work at the same time.
        why: what decided it, for a person.
        halo: of chunks, how many events each reads beyond its end.
        key: of slices, the column by which events are sent about.
        reads_on: of chunks, whether each reads on from there to the event that decides its last
            outputs.
    """

    kind: Literal["one task", "slices", "chunks"]
    tasks: int
    why: str
    halo: int = 0
    key: str = ""
    reads_on: bool = False


def cores_of_master(master: str) -> int | None:
    """How many tasks a master of this name can do at the same time; ``None`` if it does not say.

    >>> cores_of_master("local[3]"), cores_of_master("local-cluster[2,4,1024]")
    (3, 8)
    """
    local = re.fullmatch(r"local(?:\[(\*|\d+)(?:,\s*\d+)?\])?", master)
    if local is not None:
        told = local[1] or "1"
        return (os.cpu_count() or 1) if told == "*" else int(told)
    several = re.fullmatch(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*\d+\s*\]", master)
    return int(several[1]) * int(several[2]) if several is not None else None


def plan_run(
    chain: Chain,
    logs: Mapping[str, LogRecord],
    options: RunOptions,
    *,
    cores: int,
    partitions: int | None = None,
) -> Cut:
    """Decide how a run is cut.

    Args:
        chain: what to run.
        logs: the record's logs, by their names in the chain.
        options: what to keep and how.
        cores: how many tasks can work at the same time.
        partitions: how many are wanted; unless given, as many as pay.
    """
    if options.witnesses == "all":
        return _one("--witnesses all is only supported by the interpreter; using it")
    if len(logs) > 1:
        return _one("the chain reads several logs")
    (log,) = logs.values()
    plan = Plan(
        chain,
        chain.input_traits(),
        Options(options.tracked, False, options.closed),
        keep=False,
    )
    kind, halo, why, reads_on = _exact(plan, log, options)
    if kind == "one task" or not log.length:
        return _one(why if log.length else "the log has no events")
    if partitions is None:
        if cores < AT_LEAST:
            return _one(f"{why}; but {cores} cores are too few for that to pay")
        if log.length < LONG:
            return _one(f"{why}; but {log.length:,} events are too few for that to pay")
        partitions = cores
    if kind == "chunks":
        partitions = min(partitions, -(-log.length // options.chunk))
    if partitions < 2:
        return _one(f"{why}; but there is one partition only")
    key = _key(plan, log) if kind == "slices" else ""
    return Cut(kind, partitions, why, halo, key, reads_on)


def _one(why: str) -> Cut:
    return Cut("one task", 1, why)


def _exact(
    plan: Plan, log: LogRecord, options: RunOptions
) -> tuple[Literal["one task", "slices", "chunks"], int, str, bool]:
    """What can be done exactly, how many events that reaches beyond, why, and whether it waits."""
    first = plan.steps[0]
    if isinstance(first.processor, Slice):
        refused = _not_by_slices(plan, log, options)
        if refused is None:
            why = f"the Slice {first.name!r} at the head keeps the events of each key together"
            return "slices", 0, why, False
        return "one task", 0, refused, False
    halo, waits = 0, ""
    for number, step in enumerate(plan.steps):
        if step.processor.local and not (options.closed and step.processor.closes):
            halo += int(step.processor.delay)
        elif _decides_last(plan, number) and not waits:
            # Whatever it says of an event, no event before that matters.
            kind = type(step.processor).__name__
            waits = f"; {kind} {step.name!r} on {_UNTIL[kind]} from there on"
        else:
            kind = type(step.processor).__name__
            why = f"what {kind} {step.name!r} gives depends on all events before it"
            return "one task", 0, why, False
    reach = f"and the {halo} after it" if halo else "alone"
    return "chunks", halo, f"every output depends on one event {reach}{waits}", bool(waits)


def _decides_last(plan: Plan, number: int) -> bool:
    """Whether a step is a G or F that nothing else reads: when it outputs depends on values."""
    read = any(source[0] == number for step in plan.steps for source in step.sources)
    return isinstance(plan.steps[number].processor, (G, F)) and not read


def _not_by_slices(plan: Plan, log: LogRecord, options: RunOptions) -> str | None:
    """Why the Slice at the head cannot be cut by its keys; ``None`` if it can."""
    first = plan.steps[0]
    declared = cast(Slice, first.processor)
    name = f"the Slice {first.name!r}"
    kind = _key_kind(declared, log)
    if kind not in _KEYS:
        got = "is computed" if kind is None else f"is of the kind {kind}"
        return f"the key of {name} {got}"
    if declared.combine not in COMBINES:
        return f"{name} combines by {declared.combine!r}, for which every head counts"
    if any(_READ in step.sources for step in plan.steps[1:]) or _READ in plan.exits:
        return f"other processors read what {name} reads"
    if options.closed and declared.inner.closes:
        return f"closing the log makes the slices of {name} give more"
    if not plan.inner[0].outputs[0].regular:
        return f"how much P gives inside {name} depends on values"
    return None


def _key_kind(declared: Slice, log: LogRecord) -> str | None:
    """The kind of the key's column; ``None`` if the key is no column."""
    key = declared.key
    if log.manifest.plain:
        whole = isinstance(key, Input) or (isinstance(key, Field) and key.name == "value")
        return log.columns["value"] if whole else None
    return log.columns.get(key.name) if isinstance(key, Field) else None


def _key(plan: Plan, log: LogRecord) -> str:
    """The column by which a run is cut into slices."""
    key = cast(Slice, plan.steps[0].processor).key
    return "value" if log.manifest.plain else cast(Field, key).name

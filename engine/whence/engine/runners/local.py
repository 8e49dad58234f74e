"""Run a chain in this process, one event at a time, and leave a record."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import zip_longest
from pathlib import Path
from typing import Any

from whence.engine.errors import WhenceError
from whence.engine.interpreter import Interpreter
from whence.engine.language.chain import Chain
from whence.engine.language.events import Event
from whence.engine.language.where import where_holds
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.progress import Listener, Reporter
from whence.engine.record.listing import new_run_id
from whence.engine.record.logs import LogRecord
from whence.engine.record.run_writer import RunWriter
from whence.engine.record.runs import RunRecord
from whence.engine.runners.options import RunOptions
from whence.engine.runners.parts import PartCutter
from whence.engine.values import Value
from whence.engine.values.limits import limited

__all__ = ["Arrivals", "described", "in_rounds", "run_recorded", "selector"]

"""Called with how many input events are done and how many there are."""

Arrivals = Iterator[tuple[int, str, Value]]
"""Events as they arrive: position, log, value."""

_END = object()


def run_recorded(
    root: Path,
    chain: Chain,
    logs: Mapping[str, LogRecord],
    options: RunOptions | None = None,
    *,
    runner: str = "interpreter",
    run_id: str | None = None,
    events: Arrivals | None = None,
    progress: Listener | None = None,
    began: Callable[[RunRecord], None] | None = None,
) -> RunRecord:
    """Run a chain over logs of the record; outputs and associations are written part by part.

    Args:
        root: the record's place.
        chain: what to run.
        logs: the record's logs, by their names in the chain.
        options: what to keep and how.
        runner: the name that the manifest gives to this way of running.
        run_id: the new run's id, if it is known already.
        events: the events of the logs if someone else reads them; else they are read here.
        progress: called with the progress so far.
        began: called as soon as the run is in the record, so that loading can begin.
    """
    options = (options or RunOptions()).fitted(chain)
    interpreter = Interpreter(chain, MemoryTracker(options.witnesses), closed=options.closed)
    cutter = PartCutter(
        interpreter,
        options.detail,
        None if options.tracked and options.where is None else selector(options),
        options.chunk,
        options.limits,
    )
    writer = RunWriter(
        root,
        run_id or new_run_id(),
        {
            "chain": chain.tree(),
            **described(chain, logs, options, runner),
            "streams": cutter.streams(),
        },
    )
    try:
        if began is not None:
            began(writer)
        total = sum(log.length for log in logs.values())
        arrivals = in_rounds(chain.inputs, logs) if events is None else events
        with limited(options.limits):
            _feed(interpreter, arrivals, total, cutter, writer, progress)
    except KeyboardInterrupt:
        writer.leave()  # interrupted: the same command resumes it
        raise
    except BaseException as error:
        # Stored in the record too, so that a reader sees why it ends here.
        message = str(error) if isinstance(error, WhenceError) else type(error).__name__
        writer.finish("failed", error=message)
        raise
    writer.finish("complete", pending=interpreter.pending())
    return RunRecord(root, writer.id)


def described(
    chain: Chain, logs: Mapping[str, LogRecord], options: RunOptions, runner: str
) -> dict[str, Any]:
    """What identifies a run, apart from its time: the beginning of its manifest."""
    return {
        "chain_digest": chain.digest,
        "logs": {name: log.id for name, log in logs.items()},
        "runner": runner,
        "options": options.as_json(),
        "versions": versions(),
        "metadata": dict(options.metadata),
        "chunk": options.chunk,
    }


def _feed(
    interpreter: Interpreter,
    events: Arrivals,
    total: int,
    cutter: PartCutter,
    writer: RunWriter,
    progress: Listener | None,
) -> None:
    report = Reporter(progress, "running", "events")
    interpreter.begin()
    cutter.saw(-1)
    moment = -1
    for done, (position, name, value) in enumerate(events, start=1):
        interpreter.feed(name, value)
        moment = max(moment, position)
        cutter.saw(moment)
        if done % cutter.chunk == 0:
            if cutter.write(writer):
                writer.publish()
            report(done, total, "running")
    interpreter.close()
    cutter.saw(moment)
    cutter.write(writer, last=True)
    report(total, total, "running")


def in_rounds(names: Sequence[str], logs: Mapping[str, LogRecord]) -> Arrivals:
    """The events of the logs position by position, the logs in the chain's order."""
    fronts = zip_longest(*(logs[name].read() for name in names), fillvalue=_END)
    for position, front in enumerate(fronts):
        for name, value in zip(names, front, strict=True):
            if value is not _END:
                yield position, name, value


def selector(options: RunOptions) -> Callable[[Event], bool]:
    """Which outputs are tracked: none in an untracked run, else those that ``where`` is true of."""
    if not options.tracked or options.where is None:
        return lambda event: options.tracked
    holds = where_holds(options.where)
    return lambda event: holds(event.value)


def versions() -> dict[str, str]:
    """What ran: Whence, Python, and the packages that compute or write."""
    found = {"python": platform.python_version()}
    for package in ("whence", "pyarrow", "pyspark"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found

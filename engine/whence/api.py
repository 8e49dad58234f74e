"""Run a chain, keep what explains its outputs, and ask: in a few lines of Python.

::

    from whence.api import connect, run

    graph = connect()                                    # the local Neo4j, or your own
    result = run("lifecycle.yaml", "payments.csv", connection=graph)
    why = result.explain(result.first(False))            # which few events made it false
    result.never_matters()                               # which events never matter
    result.impact({"payments": [17, 52]})                # what stands if these were wrong
    result.what_if("payments@17.amount=100")             # and had they been right?
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from whence.engine.chain import Chain
from whence.engine.chain_file import load_chain
from whence.engine.errors import ParameterError
from whence.engine.log import Log
from whence.engine.processor import Processor
from whence.engine.progress import Listener, Progress, tells
from whence.engine.record import (
    LogRecord,
    RunRecord,
    interrupted_run,
    new_run_id,
    record_place,
)
from whence.engine.runners import CHUNK, RunOptions, described, run_recorded
from whence.engine.runners.given_logs import Given, kept_logs, named_logs
from whence.engine.runners.options import chunk_for
from whence.results import Answer, Answers, Result, Selection
from whence.store import Connection, connect
from whence.store.loading import Loading, LoadOptions
from whence.streams import stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from whence.engine.analysis import Analysis
    from whence.engine.runners.plans import Cut
    from whence.store.questions import Rows

__all__ = [
    "Answer",
    "Answers",
    "LoadOptions",
    "Progress",
    "Result",
    "Runner",
    "Selection",
    "analyse",
    "ask",
    "connect",
    "open_run",
    "plan",
    "run",
    "stream",
]

Runner = Literal["spark", "local", "interpreter"]


def run(
    chain: str | Path | Chain | Processor,
    logs: Given | Mapping[str, Given],
    *,
    declare: Log | Mapping[str, Log] | None = None,
    runner: Runner = "spark",
    options: RunOptions | None = None,
    record: str | Path | None = None,
    connection: Connection | None = None,
    load: LoadOptions | None = None,
    session: SparkSession | None = None,
    master: str = "local[*]",
    partitions: int | None = None,
    tracked: bool | None = None,
    progress: Listener | None = None,
) -> Result:
    """Run a chain over logs; with a connection, the graph is loaded while the run goes on.

    If the same was begun before and interrupted (the process was killed), that run is taken up
    again under its id: what was loaded of it stays, and nothing is there twice.

    Args:
        chain: a chain, or the path of a chain file.
        logs: a file, a list of `Path`, a folder, a source, a Spark DataFrame, or events; by log
            name if the chain has several.
        declare: what is known of the log, on top of what the chain says of it: kinds, mapping,
            format, order; by log name if there are several.
        runner: ``spark``; ``local`` for this process, batch by batch; ``interpreter`` for this
            process, one event after the other.
        options: what to keep and how.
        record: where the record is; else ``WHENCE_RECORD`` or the user's data folder.
        connection: the graph to load.
        load: how much of the machine loading takes, and where to if there is no connection yet.
        session: a Spark session of your own.
        master: where Spark runs, if a session has to be started.
        partitions: into how many tasks Spark cuts the run, where that is exact; unless given, as
            many as pay (see `plan`).
        tracked: keep what explains each output, or do not, whatever the options say.
        progress: called with a `Progress` now and then, while a log is read, Spark is started, the
            chain runs and the graph is loaded.
    """
    made = load_chain(chain) if isinstance(chain, (str, Path)) else Chain.of(chain)
    how = load or LoadOptions()
    settings = how.settings or (None if connection is None else connection.settings)
    if options is None:
        chunk = chunk_for(loaded=settings is not None and tracked is not False)
        options = RunOptions() if runner == "interpreter" else RunOptions(chunk=chunk)
    if tracked is not None:
        options = replace(options, tracked=tracked)
    root = record_place(record)
    reading = tells(progress, "reading", "bytes")
    running = tells(progress, "running", "events")
    made, kept = kept_logs(root, made, named_logs(made, logs), declare, reading)
    interrupted = interrupted_run(root, described(made, kept, options, runner))
    run_id = interrupted or new_run_id()
    with ExitStack() as stack:
        loading = None
        if settings is not None and options.tracked:
            told = tells(progress, "loading", "parts")
            beside = Loading(
                root, run_id, settings, told, priority=how.priority, writers=how.writers
            )
            loading = stack.enter_context(beside)
        if runner == "spark":
            from whence.engine.runners.spark_batch import run_on_spark

            found = run_on_spark(
                root,
                made,
                kept,
                options,
                session=session,
                master=master,
                run_id=run_id,
                partitions=partitions,
                progress=progress,
            )
        elif runner == "local":
            found = _by_kernels(root, made, kept, options, run_id, interrupted is not None, running)
        elif runner == "interpreter":
            found = run_recorded(
                root,
                made,
                kept,
                options,
                run_id=run_id,
                progress=lambda done, total: running(done, total, "running"),
            )
        else:
            msg = f"a runner: expected spark, local or interpreter; got {runner!r}; try 'spark'"
            raise ParameterError(msg)
    again = interrupted is not None
    if loading is None:
        return Result(found, again=again)
    return Result(found, connection, loading.report, loading.error, again)


def plan(
    chain: str | Path | Chain | Processor,
    logs: Given | Mapping[str, Given],
    *,
    declare: Log | Mapping[str, Log] | None = None,
    options: RunOptions | None = None,
    record: str | Path | None = None,
    session: SparkSession | None = None,
    master: str = "local[*]",
    partitions: int | None = None,
    progress: Listener | None = None,
) -> Cut:
    """How `run` would cut this run for Spark, and why; nothing is run.

    The logs are put into the record, where the run will find them.

    Args:
        chain: a chain, or the path of a chain file.
        logs: as `run` takes them.
        declare: as `run` takes it.
        options: what to keep and how.
        record: where the record is.
        session: a Spark session of your own.
        master: where Spark would run.
        partitions: into how many tasks it should be cut.
        progress: called with a `Progress` now and then.
    """
    from whence.engine.runners.plans import cores_of_master, plan_run

    made = load_chain(chain) if isinstance(chain, (str, Path)) else Chain.of(chain)
    tell = tells(progress, "reading", "bytes")
    made, kept = kept_logs(record_place(record), made, named_logs(made, logs), declare, tell)
    cores = cores_of_master(master) if session is None else None
    if cores is None:
        from whence.engine.runners.spark_batch import cores_of
        from whence.engine.runners.spark_session import spark_session

        cores = cores_of(session or spark_session(master))
    return plan_run(
        made, kept, options or RunOptions(chunk=CHUNK), cores=cores, partitions=partitions
    )


def _by_kernels(
    root: Path,
    chain: Chain,
    logs: Mapping[str, LogRecord],
    options: RunOptions,
    run_id: str,
    again: bool,
    tell: Callable[[int, int, str], None],
) -> RunRecord:
    """Run in this process on batches, or go on where that was interrupted."""
    from whence.engine.runners.local_kernels import resume, run_kernels

    before = (0, time.monotonic())

    def progress(done: int, total: int) -> None:
        nonlocal before
        now = time.monotonic()
        rate = (done - before[0]) / max(now - before[1], 1e-9)
        before = (done, now)
        tell(done, total, f"running, {rate:,.0f} events/s")

    if again:
        return resume(root, run_id, progress=progress)
    return run_kernels(root, chain, logs, options, run_id=run_id, progress=progress)


def open_run(
    run: str = "latest",
    *,
    record: str | Path | None = None,
    connection: Connection | None = None,
) -> Result:
    """Find a run of the record again."""
    return Result(RunRecord(record_place(record), run), connection)


def analyse(chain: str | Path | Chain | Processor, *, closed: bool = False) -> Analysis:
    """What a chain can ever need, over all logs and without any run.

    >>> from whence.engine import Chain, CountDecimate, Trim
    >>> found = analyse(Chain.of(Trim("late", n=2)) | CountDecimate("third", n=3))
    >>> [position for position in range(9) if found.logs[0].matters(position)]
    [2, 5, 8]

    Args:
        chain: a chain, or the path of a chain file.
        closed: the logs will be closed at the end.
    """
    from whence.engine.analysis import analyse as ask_chain

    made = load_chain(chain) if isinstance(chain, (str, Path)) else Chain.of(chain)
    return ask_chain(made, closed=closed)


def ask(
    connection: Connection,
    cypher: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    timeout: float = 30.0,
    most: int = 1000,
) -> Rows:
    """Rows of a Cypher query of your own; it may read the graph, and nothing else.

    Args:
        connection: where the graph is.
        cypher: the query.
        parameters: its parameters, by name.
        timeout: seconds after which the server gives up.
        most: so many rows; the answer says whether there are more.
    """
    from whence.store.questions import ask as ask_graph

    return ask_graph(connection, cypher, parameters, timeout=timeout, most=most)

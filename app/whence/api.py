"""Run a chain, keep what explains its outputs, and ask: in a few lines of Python.

::

    from whence.api import connect, run

    graph = connect()                                    # the local Neo4j, or your own
    result = run("lifecycle.yaml", "payments.csv", connection=graph)
    why = result.explain(result.first(False))            # which few events made it false
    result.never_matters()                               # which events never matter
    result.impact({"payments": [17, 52]})                # what holds if these were wrong
    result.what_if("payments@17.amount=100")             # and had they been right?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from whence.committing import Committing
from whence.engine.disk import clear_about_disks
from whence.engine.errors import ParameterError
from whence.engine.language.chain import Chain
from whence.engine.language.log import Log
from whence.engine.language.processor import Processor
from whence.engine.progress import Listener, Progress
from whence.engine.record import (
    LogRecord,
    RunRecord,
    interrupted_run,
    new_run_id,
    record_place,
)
from whence.engine.runners import CHUNK, RunOptions, described, run_recorded
from whence.engine.runners.given_logs import DeclaredLogs, Given, kept_logs
from whence.engine.runners.options import OptionWords, chosen_options, chunk_for
from whence.load_notices import NotLoadedWarning, WaitingLines, warn_if_not_loaded
from whence.results import Answer, Answers, Result, Selection
from whence.store import Connection, connect
from whence.store.allowing import given_chain, load_own_functions
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
    "NotLoadedWarning",
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


@clear_about_disks
def run(
    chain: str | Path | Chain | Processor,
    logs: Given | Mapping[str, Given] | DeclaredLogs,
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
    allow: Iterable[str] = (),
    progress: Listener | None = None,
    fresh: bool = False,
    sign_with: str | Path | None = None,
    timestamp: str | None = None,
    **words: Unpack[OptionWords],
) -> Result:
    """Run a chain over logs; with a connection, the graph is loaded during the run.

    If the same run was interrupted before (its process was killed), it is resumed under its id:
    what was loaded stays, and nothing is duplicated. A complete run that is not loaded yet is only
    loaded.

    Args:
        chain: a chain, or the path of a chain file.
        logs: a file, a list of `Path`, a folder, a source, a DataFrame of Spark, pandas or Polars,
            a table of Arrow, or events; by log name if the chain has several.
        declare: kinds, mapping, format and order of the log, in addition to the chain's own
            declaration; by log name if there are several.
        runner: ``spark``; ``local`` for this process, batch by batch; ``interpreter`` for this
            process, one event after the other.
        options: what to store and how, as a whole; or as keywords, see ``words``.
        record: where the record is; else ``WHENCE_RECORD`` or the user's data folder.
        connection: the graph to load. If the run is not loaded completely, a `NotLoadedWarning` is
            issued; the run itself is complete in the record.
        load: how much of the machine loading may use, and its target if there is no connection yet.
        session: a Spark session of your own.
        master: where Spark runs, if a session has to be started.
        partitions: the number of Spark tasks, if the run can be partitioned; if not given, as many
            as are worthwhile (see `plan`).
        tracked: whether to store what explains each output; overrides the options.
        allow: modules whose functions a chain file may call, on top of those of the configuration.
        progress: called with a `Progress` now and then, while a log is read, Spark is started, the
            chain runs and the graph is loaded. If not given, lines on stderr report the loading
            that remains after the run.
        fresh: start a new run, even if the same run was interrupted before.
        sign_with: the name or the file of the key that the run's root is signed with; else
            ``WHENCE_KEY``, else the key ``default`` if there is one.
        timestamp: an RFC 3161 server that certifies the time of the root.
        words: single options of `RunOptions`: ``closed=True``, ``where="value = false"``,
            ``detail="steps"``, ``witnesses="all"``, ``metadata={...}``.
    """
    committing = Committing.given(sign_with, timestamp)
    made = given_chain(chain, allow)
    how = load or LoadOptions()
    settings = how.settings or (None if connection is None else connection.settings)
    chunk = chunk_for(loaded=settings is not None and tracked is not False)
    usual = RunOptions() if runner == "interpreter" else RunOptions(chunk=chunk)
    options = chosen_options(options, words, usual, others=signature(run).parameters)
    if tracked is not None:
        options = replace(options, tracked=tracked)
    options = options.fitted(made)
    root = record_place(record)
    made, kept = kept_logs(root, made, logs, declare, progress)
    loads = settings is not None and options.tracked
    same = described(made, kept, options, runner)
    interrupted = None if fresh else interrupted_run(root, same, loading=loads)
    run_id = interrupted or new_run_id()
    before = None if interrupted is None else RunRecord(root, interrupted)
    lines = WaitingLines()
    with ExitStack() as stack:
        loading = None
        if settings is not None and options.tracked:
            told = lines if progress is None else progress
            beside = Loading(
                root, run_id, settings, told, priority=how.priority, writers=how.writers
            )
            loading = stack.enter_context(beside)
        if before is not None and before.manifest.is_complete:
            found = before
        elif runner == "spark":
            from whence.engine.runners.spark.batch import run_on_spark

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
            found = _by_kernels(
                root, made, kept, options, run_id, interrupted is not None, progress
            )
        elif runner == "interpreter":
            found = run_recorded(
                root,
                made,
                kept,
                options,
                run_id=run_id,
                progress=progress,
            )
        else:
            msg = f"a runner: expected spark, local or interpreter; got {runner!r}; try 'spark'"
            raise ParameterError(msg)
        lines.begin()
    again, committed = interrupted is not None, committing.commit(found)
    if loading is None:
        return Result(found, again=again, committed=committed)
    result = Result(found, connection, loading.report, loading.error, again, committed)
    warn_if_not_loaded(result)
    return result


def plan(
    chain: str | Path | Chain | Processor,
    logs: Given | Mapping[str, Given] | DeclaredLogs,
    *,
    declare: Log | Mapping[str, Log] | None = None,
    options: RunOptions | None = None,
    record: str | Path | None = None,
    session: SparkSession | None = None,
    master: str = "local[*]",
    partitions: int | None = None,
    allow: Iterable[str] = (),
    progress: Listener | None = None,
    **words: Unpack[OptionWords],
) -> Cut:
    """How `run` would partition this run on Spark, and why; nothing is run.

    The logs are stored in the record, where the run will find them.

    Args:
        chain: a chain, or the path of a chain file.
        logs: as `run` takes them.
        declare: as `run` takes it.
        options: what to store and how.
        record: where the record is.
        session: a Spark session of your own.
        master: where Spark would run.
        partitions: the number of tasks.
        allow: modules whose functions a chain file may call.
        progress: called with a `Progress` now and then.
        words: single options, as `run` takes them.
    """
    from whence.engine.runners.plans import cores_of_master, plan_run

    usual = RunOptions(chunk=CHUNK)
    options = chosen_options(options, words, usual, others=signature(plan).parameters)
    made = given_chain(chain, allow)
    made, kept = kept_logs(record_place(record), made, logs, declare, progress)
    cores = cores_of_master(master) if session is None else None
    if cores is None:
        from whence.engine.runners.spark.batch import cores_of
        from whence.engine.runners.spark_session import spark_session

        cores = cores_of(session or spark_session(master))
    return plan_run(made, kept, options, cores=cores, partitions=partitions)


def _by_kernels(
    root: Path,
    chain: Chain,
    logs: Mapping[str, LogRecord],
    options: RunOptions,
    run_id: str,
    again: bool,
    progress: Listener | None,
) -> RunRecord:
    """Run in this process on batches, or resume an interrupted run."""
    from whence.engine.runners.local_kernels import resume, run_kernels

    if again:
        return resume(root, run_id, progress=progress)
    return run_kernels(root, chain, logs, options, run_id=run_id, progress=progress)


def open_run(
    run: str = "latest",
    *,
    record: str | Path | None = None,
    connection: Connection | None = None,
    allow: Iterable[str] = (),
) -> Result:
    """Open a run of the record.

    Args:
        run: its id, or ``latest``.
        record: where the record is.
        connection: the graph, if the run was loaded.
        allow: modules whose functions its chain may call when it is run again, on top of those of
            the configuration; for steps and corrections.
    """
    found = RunRecord(record_place(record), run)
    load_own_functions(found.manifest.chain, allow)
    return Result(found, connection)


def analyse(
    chain: str | Path | Chain | Processor, *, closed: bool = False, allow: Iterable[str] = ()
) -> Analysis:
    """What a chain can need at all, for any log, without a run.

    >>> from whence.engine import Chain, CountDecimate, Trim
    >>> found = analyse(Chain.of(Trim("late", n=2)) | CountDecimate("third", n=3))
    >>> [position for position in range(9) if found.logs[0].matters(position)]
    [2, 5, 8]

    Args:
        chain: a chain, or the path of a chain file.
        closed: the logs will be closed at the end.
        allow: modules whose functions a chain file may call.
    """
    from whence.engine.analysis import analyse as ask_chain

    made = given_chain(chain, allow)
    return ask_chain(made, closed=closed)


def ask(
    connection: Connection,
    cypher: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    timeout: float = 30.0,
    most: int = 1000,
) -> Rows:
    """The rows of your own Cypher query, which may only read the graph.

    Args:
        connection: where the graph is.
        cypher: the query.
        parameters: its parameters, by name.
        timeout: timeout in seconds.
        most: maximum number of rows; the answer says whether there are more.
    """
    from whence.store.questions import ask as ask_graph

    return ask_graph(connection, cypher, parameters, timeout=timeout, most=most)

"""Follow a log that is still being written, from Python; see `whence.api`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from whence.engine.chain import Chain
from whence.engine.chain_file import load_chain
from whence.engine.log import Log
from whence.engine.processor import Processor
from whence.engine.record import RunRecord, record_place
from whence.engine.runners.options import RunOptions, chunk_for
from whence.engine.sources.opening_streams import open_stream
from whence.engine.sources.stream import Stream
from whence.results import Result
from whence.store.loading import Loading, LoadOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from whence.engine.runners.spark_stream import StreamProgress
    from whence.store import Connection

__all__ = ["stream"]


def stream(
    chain: str | Path | Chain | Processor,
    place: str | Path | Stream,
    *,
    declare: Log | None = None,
    available_now: bool = False,
    every: float = 1.0,
    options: RunOptions | None = None,
    tracked: bool | None = None,
    record: str | Path | None = None,
    connection: Connection | None = None,
    load: LoadOptions | None = None,
    session: SparkSession | None = None,
    master: str = "local[*]",
    stop: threading.Event | None = None,
    progress: Callable[[StreamProgress], None] | None = None,
) -> Result:
    """Run a chain on a log that is still being written, until it is stopped.

    A run that was stopped goes on when the same is asked for again; it is complete when it has come
    to its end with ``available_now``. Outputs and explanations are those of one run over the whole
    log.

    Args:
        chain: a chain, or the path of a chain file; it reads one log.
        place: a folder that files are put into, or ``kafka://HOST:PORT/TOPIC``.
        declare: what is known of the log, on top of what the chain says of it.
        available_now: take what has arrived, then end the run; else wait for more.
        every: seconds from one batch to the next.
        options: what to keep and how.
        tracked: keep what explains each output, or do not, whatever the options say.
        record: where the record is; a folder of this machine.
        connection: the graph to load while the run goes on.
        load: how much of the machine loading takes, and where to if there is no connection yet.
        session: a Spark session of your own.
        master: where Spark runs, if a session has to be started.
        stop: set by somebody else, such as another thread, to stop.
        progress: called now and then with a `StreamProgress`: events, rate, outputs, what waits.
    """
    from whence.engine.runners.spark_stream import run_stream

    made = load_chain(chain) if isinstance(chain, (str, Path)) else Chain.of(chain)
    if isinstance(place, (str, Path)):
        below = made.logs.get(made.inputs[0]) if len(made.inputs) == 1 else None
        place = open_stream(place, (declare or Log()).over(below))
    how = load or LoadOptions()
    settings = how.settings or (None if connection is None else connection.settings)
    loaded = settings is not None and tracked is not False
    kept = options or RunOptions(chunk=chunk_for(loaded=loaded))
    if tracked is not None:
        kept = replace(kept, tracked=tracked)
    root = record_place(record)
    loading: Loading | None = None
    with ExitStack() as stack:

        def began(run: RunRecord) -> None:
            nonlocal loading
            if settings is not None and kept.tracked:
                beside = Loading(
                    root,
                    run.id,
                    settings,
                    lambda done, all, text: None,
                    priority=how.priority,
                    writers=how.writers,
                )
                loading = stack.enter_context(beside)

        found = run_stream(
            root,
            made,
            place,
            kept,
            available_now=available_now,
            every=every,
            session=session,
            master=master,
            stop=stop,
            tell=progress,
            began=began,
        )
    if loading is None:
        return Result(found)
    return Result(found, connection, loading.report, loading.error)

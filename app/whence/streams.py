"""Follow a log that is still being written, from Python; see `whence.api`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from whence.committing import Committing
from whence.engine.disk import clear_about_disks
from whence.engine.language.chain import Chain
from whence.engine.language.log import Log
from whence.engine.language.processor import Processor
from whence.engine.record import RunRecord, record_place
from whence.engine.runners.options import OptionWords, RunOptions, chosen_options, chunk_for
from whence.engine.sources.opening_streams import open_stream
from whence.engine.sources.stream import Stream
from whence.load_notices import WaitingLines, warn_if_not_loaded
from whence.results import Result
from whence.store.allowing import given_chain
from whence.store.loading import Loading, LoadOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from whence.engine.runners.stream.on_spark import StreamProgress
    from whence.store import Connection

__all__ = ["stream"]


@clear_about_disks
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
    allow: Iterable[str] = (),
    progress: Callable[[StreamProgress], None] | None = None,
    began: Callable[[RunRecord], None] | None = None,
    sign_with: str | Path | None = None,
    timestamp: str | None = None,
    **words: Unpack[OptionWords],
) -> Result:
    """Run a chain on a log that is still being written, until it is stopped.

    The same call resumes a run that was stopped; ``available_now`` completes it. Outputs and
    explanations are those of one run over the whole log.

    Args:
        chain: a chain, or the path of a chain file; it reads one log.
        place: a folder that receives files, or ``kafka://HOST:PORT/TOPIC``.
        declare: kinds, mapping and format of the log, in addition to the chain's own declaration.
        available_now: read what has arrived, then end the run; otherwise wait for more.
        every: seconds between batches.
        options: what to store and how.
        tracked: whether to store what explains each output; overrides the options.
        record: where the record is; a folder of this machine.
        connection: the graph to load during the run.
        load: how much of the machine loading may use, and its target if there is no connection yet.
        session: a Spark session of your own.
        master: where Spark runs, if a session has to be started.
        stop: set by the caller, such as another thread, to stop.
        allow: modules whose functions a chain file may call.
        progress: called now and then with a `StreamProgress`: events, rate, outputs, backlog. If
            not given, lines on stderr report the loading that remains after the run.
        began: called once, with the run, before it takes its first event.
        sign_with: as `whence.api.run` takes it; a run that is stopped has no root yet.
        timestamp: as `whence.api.run` takes it.
        words: single options, as `run` takes them.
    """
    committing = Committing.given(sign_with, timestamp)
    from whence.engine.runners.stream.on_spark import run_stream

    made = given_chain(chain, allow)
    if isinstance(place, (str, Path)):
        below = made.logs.get(made.inputs[0]) if len(made.inputs) == 1 else None
        place = open_stream(place, (declare or Log()).over(below))
    how = load or LoadOptions()
    settings = how.settings or (None if connection is None else connection.settings)
    loaded = settings is not None and tracked is not False
    usual = RunOptions(chunk=chunk_for(loaded=loaded))
    kept = chosen_options(options, words, usual, others=signature(stream).parameters)
    if tracked is not None:
        kept = replace(kept, tracked=tracked)
    root = record_place(record)
    loading: Loading | None = None
    again = False
    lines = WaitingLines()
    with ExitStack() as stack:

        def begin(run: RunRecord) -> None:
            nonlocal loading, again
            again = (run.folder / "stream" / "checkpoint").exists()
            if began is not None:
                began(run)
            if settings is not None and kept.tracked:
                beside = Loading(
                    root,
                    run.id,
                    settings,
                    lines if progress is None else None,
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
            began=begin,
        )
        lines.begin()
    committed = committing.commit(found)
    if loading is None:
        return Result(found, again=again, committed=committed)
    result = Result(found, connection, loading.report, loading.error, again, committed)
    if result.not_loaded is not None or found.manifest.is_complete:
        warn_if_not_loaded(result)
    return result

"""Run a chain on a stream: Spark follows a folder or a topic, kernels take each batch here.

Spark's Structured Streaming says what belongs to which batch and hands batches over again after a
failure. The kernels run in the driver, since one call a batch is many times faster than state that
Spark keeps key by key. What a run leaves is the record of a local run over the same events.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from whence.engine.errors import ChainError, ParameterError
from whence.engine.functions import LOADED
from whence.engine.kernels.state import UnsavedError
from whence.engine.language.chain import Chain
from whence.engine.language.definition import chain_from_tree
from whence.engine.record.folders import log_folder
from whence.engine.record.growing import GrowingLog
from whence.engine.record.interrupted import interrupted_run
from whence.engine.record.listing import new_run_id
from whence.engine.record.logs import LogRecord
from whence.engine.record.runs import RunRecord
from whence.engine.runners.kernel_parts import KernelParts
from whence.engine.runners.local import described, versions
from whence.engine.runners.local_kernels import kernel_work, told_where
from whence.engine.runners.options import CHUNK, RunOptions
from whence.engine.runners.spark.shipping import ship
from whence.engine.runners.stream.following import Following, StreamProgress, Tell
from whence.engine.runners.write_behind import WriterBehind
from whence.engine.sources.declared import with_source
from whence.engine.sources.source import Source
from whence.engine.sources.stream import Stream
from whence.engine.spark_session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["EVERY", "StreamProgress", "run_stream"]

EVERY = 1.0
"""Seconds from one batch to the next, and at most from one stored state to the next."""


def run_stream(
    root: Path,
    chain: Chain,
    stream: Stream,
    options: RunOptions | None = None,
    *,
    available_now: bool = False,
    every: float = EVERY,
    session: SparkSession | None = None,
    master: str = "local[*]",
    stop: threading.Event | None = None,
    tell: Tell | None = None,
    began: Callable[[RunRecord], None] | None = None,
) -> RunRecord:
    """Run a chain on a stream until it is stopped, or until all that is there was taken.

    The same call resumes a run that was stopped or killed. It is complete when
    it has come to its end with ``available_now``.

    Args:
        root: the record's place.
        chain: what to run; it reads one log.
        stream: where events come from.
        options: what to keep and how.
        available_now: take what has arrived, then end the run; else wait for more.
        every: seconds from one batch to the next.
        session: a Spark session; else one is found or started.
        master: where a session is started.
        stop: set by the caller to stop.
        tell: called now and then with its state.
        began: called as soon as the run is in the record, so that loading can begin.

    Raises:
        WhenceError: it cannot be run as a stream, or an event cannot be taken.
    """
    options = (options or RunOptions(chunk=CHUNK)).fitted(chain)
    stop = stop or threading.Event()
    _check(chain, options)
    asked = {"from": stream.origin, "asked": _digest(chain, stream)}
    found = interrupted_run(
        root, {"stream": asked, "options": options.as_json(), "chunk": options.chunk}
    )
    source = None
    if found is None:
        source = stream.learn(None if available_now else lambda: not stop.wait(0.5))
        chain = with_source(chain, chain.inputs[0], source, stream.declared)
        chain.check()
        _check_saved(chain, options)
    session = session or spark_session(master)
    ship(session, chain)
    if source is not None:
        running = _begun(root, chain, source, stream, options, asked)
    else:
        assert found is not None
        running = _taken_up(root, found, stream, options)
    running.stop, running.every = stop, every
    running.tell = tell or (lambda progress: None)
    try:
        if began is not None:
            began(running.writer)
        if not running.reached.ending:
            running.follow(session, available_now=available_now)
        if running.reached.ending or (available_now and not stop.is_set()):
            running.end()
        else:
            running.writer.leave()
    except BaseException as error:
        running.broken(error)
        raise
    finally:
        running.commits.checkpoint.close()
    return RunRecord(root, running.writer.id)


def _check(chain: Chain, options: RunOptions) -> None:
    """Refuse what cannot be a stream."""
    if len(chain.inputs) != 1:
        msg = (
            f"a stream: expected a chain that reads one log; got {', '.join(chain.inputs)}; "
            "try --log for each when they are complete"
        )
        raise ChainError(msg)
    if options.witnesses == "all":
        msg = (
            "a stream: expected witnesses 'first'; got 'all', which the interpreter alone can do; "
            "try it without, or --log when it is complete"
        )
        raise ParameterError(msg)


def _digest(chain: Chain, stream: Stream) -> str:
    told = json.dumps([chain.tree(), stream.declared.tree()], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def _check_saved(chain: Chain, options: RunOptions) -> None:
    """Refuse a chain whose state cannot be stored."""
    try:
        kernel_work(chain, options).state()
    except UnsavedError as error:
        msg = (
            "a stream: expected processors whose state can be stored; "
            f"got {error.processor}, which runs event by event; try --log when the log is complete"
        )
        raise ChainError(msg) from error


def _begun(
    root: Path,
    chain: Chain,
    source: Source,
    stream: Stream,
    options: RunOptions,
    asked: dict[str, str],
) -> Following:
    """A new run, without events."""
    (name,) = chain.inputs
    run_id = new_run_id()
    declared = chain.logs[name]
    log = GrowingLog.begin(
        root, name, source, declared, options.chunk, origin=stream.origin, apart=run_id
    )
    parts = KernelParts(kernel_work(chain, options), told_where(options), options.chunk)
    writer = WriterBehind(
        root,
        run_id,
        {
            "chain": chain.tree(),
            **described(chain, {name: log.record}, options, "stream"),
            "stream": asked,
            "known": stream.remember(),
            "streams": list(parts.streams()),
        },
    )
    return Following(parts, writer, log, stream)


def _taken_up(root: Path, run: str, stream: Stream, options: RunOptions) -> Following:
    """A run that was stopped, as it was then."""
    manifest = RunRecord(root, run).manifest
    mine, theirs = versions().get("whence"), manifest.versions.get("whence")
    if mine != theirs:
        msg = (
            f"run {run}: expected a run of Whence {mine}; got one of {theirs}; "
            f"try that version, or another --record to start over"
        )
        raise ParameterError(msg)
    chain = chain_from_tree(manifest.chain, own=LOADED)
    (name,) = chain.inputs
    log = GrowingLog(root, LogRecord.open(log_folder(root, manifest.logs[name])))
    stream.recall(manifest.known or {}, log.record.columns)
    parts = KernelParts(kernel_work(chain, options), told_where(options), options.chunk)
    running = Following(parts, WriterBehind.again(root, run), log, stream)
    try:
        running.restore()
    except BaseException:
        running.writer.leave()
        running.commits.checkpoint.close()
        raise
    return running

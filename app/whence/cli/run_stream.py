"""``whence run --stream``: follow a log that is still being written, and report the progress."""

from __future__ import annotations

import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from whence.cli.connecting import Server
from whence.cli.loading_options import Loaded, Reached
from whence.cli.output import LINE_EVERY_SECONDS, output, several
from whence.cli.run_recorded import end_committed, print_result
from whence.engine.analysis.advice import warnings_of
from whence.engine.interpreter.pending import pending_count
from whence.engine.record import RunRecord
from whence.engine.sources.stream import StoppedError
from whence.engine.values.printable import printable
from whence.load_notices import load_command

if TYPE_CHECKING:
    from whence.cli.stream_options import Streaming
    from whence.engine.language.chain import Chain
    from whence.engine.language.log import Log
    from whence.engine.runners import RunOptions
    from whence.engine.runners.stream.on_spark import StreamProgress
    from whence.results import Result

__all__ = ["stream_and_print"]


def stream_and_print(
    made: Chain,
    reading: Log,
    streaming: Streaming,
    options: RunOptions,
    *,
    record: Path | None,
    master: str,
    server: Server | None,
    loaded: Loaded,
    limit: int | None,
    sign_with: str | None = None,
    timestamp: str | None = None,
) -> None:
    """Follow a stream until it is stopped, or until all that is there was taken.

    Args:
        made: the chain.
        reading: what the options say of the log.
        streaming: where events come from, and until when.
        options: what to keep and how.
        record: where the record is.
        master: where Spark runs.
        server: the graph to load; ``None`` if none is to be loaded.
        loaded: how it is loaded.
        limit: how many outputs to print at the end.
        sign_with: the key that the run's root is signed with.
        timestamp: a server to ask for the time of the root.
    """
    from whence.api import NotLoadedWarning, stream

    out = output()
    for line in warnings_of(made):
        out.warn(line)
    declared = reading.over(made.logs.get(made.inputs[0])) if len(made.inputs) == 1 else reading
    place = streaming.open(declared)
    with ExitStack() as stack:
        stopping = stack.enter_context(_Stopping())
        reached = Reached()
        if server is not None and options.tracked:
            reached = loaded.reach(server, stack)

        def began(run: RunRecord) -> None:
            stopping.listen()
            out.message(f"run {run.id}, following {place.origin}; Ctrl-C stops it")

        with _shown() as tell, warnings.catch_warnings():
            # The report lists what is not in the graph.
            warnings.simplefilter("ignore", NotLoadedWarning)
            try:
                result = stream(
                    made,
                    place,
                    available_now=streaming.available_now,
                    every=streaming.every,
                    options=options,
                    record=record,
                    connection=reached.connection,
                    load=reached.options,
                    master=master,
                    stop=stopping.asked,
                    progress=tell,
                    began=began,
                    sign_with=sign_with,
                    timestamp=timestamp,
                )
            except StoppedError:
                out.message("stopped before the first event")
                return
    if reached.options is None:
        result = replace(result, not_loaded=reached.away)
    if not result.record.manifest.is_complete:
        _print_stopped(result, result.record.log(made.inputs[0]).length)
        return
    print_result(result, options, result.not_loaded, limit)
    end_committed(result.committed, asked=sign_with is not None or timestamp is not None)


def _print_stopped(result: Result, events: int) -> None:
    """Print what the run has so far, what of it is not in the graph, and how to resume."""
    out, run, not_loaded = output(), result.record, result.not_loaded
    manifest = run.manifest
    pipes = manifest.outputs
    outputs = sum(stream.length for stream in pipes)
    if out.json:
        told = None if not_loaded is None else str(not_loaded)
        stopped = {"run": run.id, "status": "stopped", "events": events, "outputs": outputs}
        out.result({**stopped, "not_loaded": told})
        return
    lines = [
        f"stopped; run {run.id} has {several(outputs, 'output')} in the record so far",
        f"  record: {run.folder}",
        *([] if not_loaded is None else [f"  not all in Neo4j: {not_loaded}"]),
        *([] if not_loaded is None else [f"load what is there: {load_command(result)}"]),
        "resume: run the same command; --available-now reads what has arrived and ends",
    ]
    out.text("\n".join(lines))


class _Stopping:
    """Asks a stream to stop on Ctrl-C or a request to end; a second Ctrl-C aborts immediately.

    Attributes:
        asked: set when it is to stop.
    """

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._before: dict[int, Any] = {}
        self.listen()

    def listen(self) -> None:
        """Listen, also after Spark, which sets its own handlers when it starts."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before.setdefault(number, signal.getsignal(number))
                signal.signal(number, self._ask)

    def _ask(self, number: int, frame: Any) -> None:
        if self.asked.is_set():
            raise KeyboardInterrupt
        self.asked.set()
        output().message("stopping; saving progress …")

    def __enter__(self) -> _Stopping:
        return self

    def __exit__(self, *raised: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


@contextmanager
def _shown() -> Iterator[Any]:
    """Show the progress: one line that changes in a terminal, else one now and then."""
    out = output()
    if out.quiet:
        yield lambda progress: None
        return
    if sys.stderr.isatty():
        with out.console(sys.stderr).status("waiting …") as line:
            yield lambda progress: line.update(Text(printable(_text(progress))))
        return
    last = 0.0

    def report(progress: StreamProgress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_EVERY_SECONDS:
            last = now
            out.status(_text(progress))

    yield report


def _text(progress: StreamProgress) -> str:
    """The progress on one line."""
    pending = sum(map(pending_count, progress.pending.values()))
    return (
        f"{progress.events:,} events, {progress.rate:,.0f} events/s; waiting: {progress.lag}; "
        f"last position {progress.position:,}; {progress.outputs:,} outputs, "
        f"{pending:,} pending verdict{'' if pending == 1 else 's'}"
    )

"""``whence run --stream``: follow a log that is still being written, and tell how it stands."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from whence.cli.connecting import Server
from whence.cli.loading_options import Loaded, Reached
from whence.cli.output import LINE_EVERY_SECONDS, output
from whence.cli.run_recorded import load_command, print_result
from whence.engine.chain_file import load_chain
from whence.engine.record import RunRecord, record_place
from whence.engine.sources.stream import StoppedError

if TYPE_CHECKING:
    from whence.cli.stream_options import Streaming
    from whence.engine.log import Log
    from whence.engine.runners import RunOptions
    from whence.engine.runners.spark_stream import StreamProgress
    from whence.results import Result

__all__ = ["stream_and_tell"]


def stream_and_tell(
    chain: Path,
    reading: Log,
    streaming: Streaming,
    options: RunOptions,
    *,
    record: Path | None,
    master: str,
    server: Server | None,
    loaded: Loaded,
    limit: int | None,
    csv: bool,
) -> None:
    """Follow a stream until it is stopped, or until all that is there was taken.

    Args:
        chain: the chain file.
        reading: what the options say of the log.
        streaming: where events come from, and until when.
        options: what to keep and how.
        record: where the record is.
        master: where Spark runs.
        server: the graph to load; ``None`` if none is to be loaded.
        loaded: how it is loaded.
        limit: how many outputs to print at the end.
        csv: print them as CSV.
    """
    from whence.api import Result
    from whence.engine.runners.spark_stream import run_stream
    from whence.store.loading import Loading

    out, root = output(), record_place(record)
    made = load_chain(chain)
    declared = reading.over(made.logs.get(made.inputs[0])) if len(made.inputs) == 1 else reading
    stream = streaming.open(declared)
    loading: Loading | None = None
    again = False
    with ExitStack() as stack:
        stopping = stack.enter_context(_Stopping())
        reached = Reached()
        if server is not None and options.tracked:
            reached = loaded.reach(server, stack)

        def began(run: RunRecord) -> None:
            nonlocal loading, again
            stopping.listen()
            again = (run.folder / "stream" / "checkpoint").exists()
            out.say(escape(f"run {run.id}, following {stream.origin}; Ctrl-C stops it"))
            if reached.options is not None and reached.options.settings is not None:
                beside = Loading(
                    root,
                    run.id,
                    reached.options.settings,
                    lambda done, total, text: None,
                    priority=loaded.priority,
                    writers=loaded.writers,
                )
                loading = stack.enter_context(beside)

        with _shown() as tell:
            try:
                found = run_stream(
                    root,
                    made,
                    stream,
                    options,
                    available_now=streaming.available_now,
                    every=streaming.every,
                    master=master,
                    stop=stopping.asked,
                    tell=tell,
                    began=began,
                )
            except StoppedError:
                out.say("stopped before anything had arrived; the same command waits again")
                return
    complete = found.manifest["status"] == "complete"
    report = None if loading is None else loading.report
    failed = None if loading is None else loading.error
    away = reached.away if loading is None else failed
    result = Result(found, reached.connection, report, away, again)
    if complete:
        print_result(result, options, away, limit, csv=csv)
        return
    _tell_stopped(result, found.log(made.inputs[0]).length)


def _tell_stopped(result: Result, events: int) -> None:
    """Say what there is by now, what of it is not in the graph, and how to go on."""
    out, run, not_loaded = output(), result.record, result.not_loaded
    manifest = run.manifest
    pipes = [s for s in manifest["streams"] if s["role"] == "output"]
    outputs = sum(stream["length"] for stream in pipes)
    if out.json:
        told = None if not_loaded is None else str(not_loaded)
        stopped = {"run": run.id, "status": "stopped", "events": events, "outputs": outputs}
        out.result({**stopped, "not_loaded": told})
        return
    lines = [
        f"stopped; run {run.id} has {outputs:,} outputs in the record so far",
        f"  record: {run.folder}",
        *([] if not_loaded is None else [f"  not all in Neo4j: {not_loaded}"]),
        *([] if not_loaded is None else [f"load what there is: {load_command(result)}"]),
        "go on: the same command again; with --available-now it takes what is there and ends",
    ]
    out.tell(escape("\n".join(lines)))


class _Stopping:
    """Asks a stream to stop on Ctrl-C or a request to end; whoever insists ends it at once.

    Attributes:
        asked: set when it is to stop.
    """

    def __init__(self) -> None:
        """Listen."""
        self.asked = threading.Event()
        self._before: dict[int, Any] = {}
        self.listen()

    def listen(self) -> None:
        """Listen, also if somebody else has begun to: Spark does when it is started."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before.setdefault(number, signal.getsignal(number))
                signal.signal(number, self._ask)

    def _ask(self, number: int, frame: Any) -> None:
        if self.asked.is_set():
            raise KeyboardInterrupt
        self.asked.set()
        output().say("stopping: what was taken is being kept …")

    def __enter__(self) -> _Stopping:
        """Listen as long as the stream is followed."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Let others listen again."""
        for number, handler in self._before.items():
            signal.signal(number, handler)


@contextmanager
def _shown() -> Iterator[Any]:
    """Show how the stream stands: one line that changes in a terminal, else one now and then."""
    out = output()
    if out.quiet:
        yield None
        return
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(file=sys.stderr, no_color=not out.color or None).status("waiting …") as line:
            yield lambda progress: line.update(escape(_text(progress)))
        return
    last = 0.0

    def tell(progress: StreamProgress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_EVERY_SECONDS:
            last = now
            print(_text(progress), file=sys.stderr, flush=True)

    yield tell


def _text(progress: StreamProgress) -> str:
    """How it stands, on one line."""
    pending = sum(progress.pending.values())
    return (
        f"{progress.events:,} events, {progress.rate:,.0f} events/s; waiting: {progress.lag}; "
        f"last position {progress.position:,}; {progress.outputs:,} outputs, "
        f"{pending:,} pending verdict{'' if pending == 1 else 's'}"
    )

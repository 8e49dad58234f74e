"""``whence run``: write a record, load the graph, print the outputs and the next commands."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from whence.cli.connecting import Server
from whence.cli.loading_options import Loaded, Reached
from whence.cli.output import output, several
from whence.cli.reading import report_mapping, report_read
from whence.cli.run_report import Report, outputs_text, values_text
from whence.engine.errors import MissingExtraError, WhenceError
from whence.load_notices import load_command

if TYPE_CHECKING:
    from whence.api import Result, Runner
    from whence.cli.chain_options import Prepared
    from whence.engine.record import RunRecord
    from whence.engine.record.manifest import StreamInfo
    from whence.engine.runners import RunOptions
    from whence.exporters.evidence.committing import Committed

__all__ = ["end_committed", "print_result", "report_problems", "run_and_print"]

FIRST = 10
"""Number of outputs shown to a person by default; programs are given all."""


def run_and_print(
    prepared: Prepared,
    options: RunOptions,
    *,
    runner: Runner,
    record: Path | None,
    master: str,
    partitions: int | None,
    server: Server | None,
    loaded: Loaded,
    limit: int | None,
    fresh: bool = False,
    sign_with: str | None = None,
    timestamp: str | None = None,
) -> None:
    """Run a chain, load the graph if requested, and print the result.

    Args:
        prepared: the chain and its logs.
        options: what to keep and how.
        runner: what runs it.
        record: where the record is.
        master: where Spark runs.
        partitions: into how many tasks Spark cuts the run, where that is exact.
        server: the graph to load; ``None`` if none is to be loaded.
        loaded: how it is loaded.
        limit: how many outputs to print.
        fresh: make a new run, also if the same was interrupted before.
        sign_with: the key that the run's root is signed with.
        timestamp: a server to ask for the time of the root.
    """
    from whence.api import NotLoadedWarning, run

    out = output()
    with ExitStack() as stack:
        reached = Reached()
        if server is not None and options.tracked:
            reached = loaded.reach(server, stack)
        for name, source in prepared.logs.sources.items():
            report_mapping(source, prepared.logs.stated[name])
        if runner == "local" and options.witnesses == "all":
            out.message("--witnesses all is only supported by the interpreter; using it")
        with out.progress() as advance, _hint_at_the_interpreter(), warnings.catch_warnings():
            # The report lists what is not in the graph.
            warnings.simplefilter("ignore", NotLoadedWarning)
            prepared.progress.to = advance
            result = run(
                prepared.logs.chain,
                prepared.logs,
                runner=runner,
                options=options,
                record=record,
                connection=reached.connection,
                load=reached.options,
                master=master,
                partitions=partitions,
                progress=advance,
                fresh=fresh,
                sign_with=sign_with,
                timestamp=timestamp,
            )
        for source in prepared.logs.sources.values():
            report_read(source, always=True)
    away = reached.away if reached.options is None else result.not_loaded
    print_result(result, options, away, limit)
    end_committed(result.committed, asked=sign_with is not None or timestamp is not None)


def report_problems(committed: Committed | None) -> None:
    """Say what could not be done when the root of a run was committed."""
    for problem in () if committed is None else committed.problems:
        output().message(problem)


def end_committed(committed: Committed | None, *, asked: bool) -> None:
    """Report what failed, and exit with code 1 if it was requested."""
    report_problems(committed)
    if asked and committed is not None and committed.problems:
        raise typer.Exit(1)


@contextmanager
def _hint_at_the_interpreter() -> Iterator[None]:
    """Suggest the interpreter when Spark is missing."""
    try:
        yield
    except MissingExtraError as error:
        msg = f"{error}, or --runner interpreter"
        raise MissingExtraError(msg) from error


def print_result(
    result: Result, options: RunOptions, away: WhenceError | None, limit: int | None
) -> None:
    """Print the outputs of a run that is complete, how many there are, and the next commands.

    Args:
        result: the run.
        options: what it stores.
        away: why it is not in the graph.
        limit: how many outputs to print.
    """
    out, manifest = output(), result.record.manifest
    most = FIRST if limit is None and out.form == "table" else limit
    pipes = manifest.outputs
    count = sum(stream.length for stream in pipes)
    shown = count if most is None else min(most, count)
    report = Report(len(pipes) > 1, track=False, support=False, witnesses="first")
    end = {
        "outputs": count,
        "shown": shown,
        "pending": manifest.pending,
        "run": result.id,
        "record": str(result.record.folder),
        "tracked": sum(stream.tracked for stream in pipes),
        "loaded": None if result.loaded is None else result.loaded.complete,
        "events": None if result.loaded is None else result.loaded.events,
        "relationships": None if result.loaded is None else result.loaded.edges,
        "not_loaded": None if away is None else str(away),
        **_committed(result.committed),
    }
    report.print(islice(_rows(result.record, pipes), shown), end)
    if out.json:
        return
    lines = [outputs_text(count, shown, manifest.pending)]
    lines += [_pipe_text(result.record, stream) for stream in pipes if stream.length]
    lines += _kept_text(result, options, away)
    out.text("\n".join(lines))


def _committed(committed: Committed | None) -> dict[str, Any]:
    if committed is None:
        return {}
    return {"root": committed.root, "key": committed.key, "stamped": committed.stamped}


def _rows(record: RunRecord, pipes: Sequence[StreamInfo]) -> Iterator[dict[str, Any]]:
    """The outputs of all pipes in order of appearance, read as far as they are wanted."""

    def of(number: int, stream: StreamInfo) -> Iterator[tuple[int, int, int, str]]:
        for part in stream.outputs:
            table = record.outputs(stream.name, part.part)
            columns = (table.column(name).to_pylist() for name in ("moment", "position", "value"))
            for moment, position, value in zip(*columns, strict=True):
                yield moment, number, position, value

    from json import loads

    for moment, number, position, value in merge(*(of(n, s) for n, s in enumerate(pipes))):
        row: dict[str, Any] = {"pipe": pipes[number].name} if len(pipes) > 1 else {}
        yield {**row, "position": position, "moment": moment, "value": loads(value)}


def _pipe_text(record: RunRecord, stream: StreamInfo) -> str:
    """How often a pipe gave which value."""
    counts: Counter[str] = Counter()
    for part in stream.outputs:
        found = record.outputs(stream.name, part.part).column("value").value_counts()
        for each in found.to_pylist():
            counts[each["values"]] += each["counts"]
    return f"  {values_text(stream.name, counts)}"


def _kept_text(result: Result, options: RunOptions, away: WhenceError | None) -> Iterator[str]:
    again = " (resumed after an interruption)" if result.again else ""
    yield f"run {result.id}{again}"
    yield f"  record: {result.record.folder}"
    if not options.tracked:
        yield "  not tracked: --track stores what explains each output"
        return
    if result.loaded is not None and result.loaded.complete:
        wrote = result.loaded
        edges = several(wrote.edges, "relationship")
        yield f"  in Neo4j: {several(wrote.events, 'event')} and {edges} written"
        yield f"ask: whence explain {result.id} POSITION   whence never-matters {result.id}"
        return
    yield f"  not in Neo4j: {'--no-load' if away is None else away}"
    yield f"load it: {load_command(result)}"

"""``whence run``: leave a record, load the graph, tell what came out and what is next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from whence.cli.connecting import Server
from whence.cli.loading_options import Loaded, Reached
from whence.cli.output import listening, output
from whence.cli.reading import tell_mapping, tell_read
from whence.cli.run_report import Report, outputs_text
from whence.engine.errors import MissingExtraError, WhenceError

if TYPE_CHECKING:
    from whence.api import Result, Runner
    from whence.cli.chain_options import Prepared
    from whence.engine.record import RunRecord
    from whence.engine.runners import RunOptions

__all__ = ["load_command", "print_result", "run_and_tell"]

FIRST = 10
"""So many outputs are shown to a person who does not say how many; programs are given all."""


def run_and_tell(
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
    csv: bool,
) -> None:
    """Run a chain, load the graph if that is wanted, and tell what came of it.

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
        csv: print them as CSV.
    """
    from whence.api import run

    out = output()
    with ExitStack() as stack:
        reached = Reached()
        if server is not None and options.tracked:
            reached = loaded.reach(server, stack)
        for name, source in prepared.sources.items():
            tell_mapping(source, prepared.stated[name])
        if runner == "local" and options.witnesses == "all":
            out.say("every alternative is asked for: the interpreter runs the chain")
        with out.progress() as advance, _hint_at_the_interpreter():
            prepared.progress.to = advance
            result = run(
                prepared.chain,
                dict(prepared.sources),
                runner=runner,
                options=options,
                record=record,
                connection=reached.connection,
                load=reached.options,
                master=master,
                partitions=partitions,
                progress=listening(advance),
            )
        for source in prepared.sources.values():
            tell_read(source, always=True)
    away = reached.away if reached.options is None else result.not_loaded
    print_result(result, options, away, limit, csv=csv)


@contextmanager
def _hint_at_the_interpreter() -> Iterator[None]:
    """Whoever has no Spark can look at a small log all the same."""
    try:
        yield
    except MissingExtraError as error:
        msg = f"{error}, or --runner interpreter"
        raise MissingExtraError(msg) from error


def print_result(
    result: Result, options: RunOptions, away: WhenceError | None, limit: int | None, *, csv: bool
) -> None:
    """Print the outputs of a run that is complete, how many there are, and what can be asked.

    Args:
        result: the run.
        options: what it kept.
        away: why it is not in the graph.
        limit: how many outputs to print.
        csv: print them as CSV.
    """
    out, manifest = output(), result.record.manifest
    most = FIRST if limit is None and not (csv or out.json) else limit
    pipes = [s for s in manifest["streams"] if s["role"] == "output"]
    count = sum(stream["length"] for stream in pipes)
    shown = count if most is None else min(most, count)
    report = Report(len(pipes) > 1, track=False, support=False, witnesses="first")
    end = {
        "outputs": count,
        "shown": shown,
        "pending": manifest["pending"],
        "run": result.id,
        "record": str(result.record.folder),
        "tracked": sum(stream["tracked"] for stream in pipes),
        "loaded": None if result.loaded is None else result.loaded.complete,
        "events": None if result.loaded is None else result.loaded.events,
        "relationships": None if result.loaded is None else result.loaded.edges,
        "not_loaded": None if away is None else str(away),
    }
    report.print(islice(_rows(result.record, pipes), shown), end, csv=csv)
    if out.json:
        return
    lines = [outputs_text(count, shown, manifest["pending"])]
    lines += [_pipe_text(result.record, stream) for stream in pipes if stream["length"]]
    lines += _kept_text(result, options, away)
    say = out.say if csv else out.tell  # a CSV holds nothing but rows
    say(escape("\n".join(lines)))


def _rows(record: RunRecord, pipes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The outputs of all pipes in order of appearance, read as far as they are wanted."""

    def of(number: int, stream: dict[str, Any]) -> Iterator[tuple[int, int, int, str]]:
        for part in stream["outputs"]:
            table = record.outputs(stream["name"], part["part"])
            columns = (table.column(name).to_pylist() for name in ("moment", "position", "value"))
            for moment, position, value in zip(*columns, strict=True):
                yield moment, number, position, value

    from json import loads

    for moment, number, position, value in merge(*(of(n, s) for n, s in enumerate(pipes))):
        row: dict[str, Any] = {"pipe": pipes[number]["name"]} if len(pipes) > 1 else {}
        yield {**row, "position": position, "moment": moment, "value": loads(value)}


def _pipe_text(record: RunRecord, stream: dict[str, Any]) -> str:
    """How often a pipe said what."""
    counts: Counter[str] = Counter()
    for part in stream["outputs"]:
        found = record.outputs(stream["name"], part["part"]).column("value").value_counts()
        for each in found.to_pylist():
            counts[each["values"]] += each["counts"]
    said = ", ".join(f"{_short(value)} {n:,} times" for value, n in counts.most_common(3))
    rest = len(counts) - 3
    return f"  {stream['name']} is {said}" + (f", and {rest:,} other values" if rest > 0 else "")


def _short(value: str) -> str:
    shown = "missing" if value == "null" else value
    return shown if len(shown) <= 40 else shown[:39] + "…"


def _kept_text(result: Result, options: RunOptions, away: WhenceError | None) -> Iterator[str]:
    again = " (taken up again: it had been interrupted)" if result.again else ""
    yield f"run {result.id}{again}"
    yield f"  record: {result.record.folder}"
    if not options.tracked:
        yield "  not tracked: with --track it keeps what explains each output"
        return
    if result.loaded is not None and result.loaded.complete:
        wrote = result.loaded
        yield f"  in Neo4j: {wrote.events:,} events and {wrote.edges:,} relationships written"
        yield f"ask: whence explain {result.id} POSITION   whence never-matters {result.id}"
        return
    yield f"  not in Neo4j: {'--no-load' if away is None else away}"
    yield f"load it: {load_command(result)}"


def load_command(result: Result) -> str:
    """The command that loads what is in the record of a run."""
    from whence.engine.record import record_place

    root = result.record.root
    return f"whence load {result.id}" + ("" if root == record_place() else f" --record {root}")

"""``whence run``: run a chain over logs and see what came out, and why."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from whence.cli.chain_options import ChainFile, Logs, Prepared, prepare
from whence.cli.connecting import Database, Insecure, PasswordFile, Uri, Username
from whence.cli.output import output
from whence.cli.reading import tell_read
from whence.cli.reading_options import reads_logs
from whence.engine.log import Log

if TYPE_CHECKING:
    from whence.engine.interpreter import RunResult
    from whence.engine.tracker import Tracker

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_SPARK: dict[str, Any] = {"rich_help_panel": "With --runner local or spark"}

RUNNERS = ("interpreter", "local", "spark")
"""What can run a chain."""


@app.command()
@reads_logs
def run(
    chain: ChainFile,
    reading: Log,
    log: Logs = None,
    runner: Annotated[
        str,
        typer.Option(
            help="interpreter: here and now, prints every output. local, spark: leave a record "
            "and, with --track, load the graph; local in this process, batch by batch."
        ),
    ] = "interpreter",
    track: Annotated[
        bool, typer.Option("--track", help="Print which input events explain each output.")
    ] = False,
    support: Annotated[
        bool, typer.Option("--support", help="Print which input events are enough for it.")
    ] = False,
    witnesses: Annotated[
        Literal["first", "all"],
        typer.Option(help="first: one explanation; all: every alternative. Implies --track."),
    ] = "first",
    closed: Annotated[
        bool, typer.Option("--closed", help="The logs are complete: give the remaining verdicts.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Print only the first N outputs.")
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print the outputs as CSV.")] = False,
    detail: Annotated[
        Literal["ends", "steps"],
        typer.Option(help="ends: from output to input; steps: every processor.", **_SPARK),
    ] = "ends",
    where: Annotated[
        str | None,
        typer.Option(help="Track only outputs that this is true of: value = false.", **_SPARK),
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Folder of the record (else WHENCE_RECORD).", **_SPARK)
    ] = None,
    master: Annotated[str, typer.Option(help="Where Spark runs.", **_SPARK)] = "local[*]",
    load: Annotated[
        bool, typer.Option("--load/--no-load", help="Load the graph while it runs.", **_SPARK)
    ] = True,
    uri: Uri = None,
    username: Username = None,
    password_file: PasswordFile = None,
    database: Database = None,
    insecure: Insecure = False,
) -> None:
    """Run a chain over CSV logs and print every output; with --track, why it came out so.

    Prints nothing but an error if anything goes wrong on the way. With --json every output is one
    line, and a last line tells how the run ended.
    """
    if runner not in RUNNERS:
        msg = f"expected one of {', '.join(RUNNERS)}; got {runner!r}; try the first"
        raise typer.BadParameter(msg, param_hint="--runner")
    if not log:
        raise typer.BadParameter("expected a log; got none; try --log FILE", param_hint="--log")
    if csv and output().json:
        raise typer.BadParameter("expected --csv or --json; got both; try one of them")
    from whence.cli.run_report import Report
    from whence.engine.chain_file import load_chain
    from whence.engine.tracker import MemoryTracker

    prepared = prepare(load_chain(chain), log, reading)
    track = track or witnesses == "all"
    if runner != "interpreter":
        from whence.cli.run_recorded import run_and_tell
        from whence.engine.runners import CHUNK, RunOptions
        from whence.store import resolve_settings

        run_and_tell(
            prepared,
            RunOptions(
                *(track, detail, witnesses, where, closed), 5000 if runner == "spark" else CHUNK
            ),
            runner="spark" if runner == "spark" else "local",
            record=record,
            master=master,
            settings=resolve_settings(
                uri=uri,
                username=username,
                password_file=password_file,
                database=database,
                insecure=insecure,
            ),
            load=load,
        )
        return
    tracker = MemoryTracker(witnesses) if track or support else None
    result = _interpreted(prepared, tracker, closed)
    report = Report(len(prepared.chain.outputs) > 1, track, support, witnesses)
    shown = result.outputs[:limit]
    if output().json:
        pending = result.interpreter.pending()
        end = {"outputs": len(result.outputs), "shown": len(shown), "pending": pending}
        report.print_json_lines(shown, end)
    elif csv:
        report.print_csv(shown)
    else:
        report.print_table(shown)
    for source in prepared.sources.values():
        tell_read(source)
    _tell(result, len(shown))


def _interpreted(prepared: Prepared, tracker: Tracker | None, closed: bool) -> RunResult:
    from whence.engine.interpreter import interpret

    with output().progress() as advance, TemporaryDirectory() as folder:
        prepared.progress.to = advance
        logs = {name: prepared.events(name, Path(folder)) for name in prepared.sources}
        return interpret(prepared.chain, logs, tracker=tracker, closed=closed)


def _tell(result: RunResult, shown: int) -> None:
    from rich.markup import escape

    count = len(result.outputs)
    text = f"{count} output{'' if count == 1 else 's'}"
    if shown < count:
        text += f", the first {shown} shown"
    pending = result.interpreter.pending()
    if pending:
        waiting = ", ".join(f"{name} {number}" for name, number in pending.items())
        text += f"; pending verdicts: {waiting} (--closed decides them)"
    output().say(escape(text))

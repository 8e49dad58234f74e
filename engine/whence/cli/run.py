"""``whence run``: run a chain over logs and see what came out, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from whence.cli.chain_options import ChainFile, Logs, prepare
from whence.cli.connecting import Server, connects
from whence.cli.loading_options import Loaded, loads
from whence.cli.output import output
from whence.cli.reading_options import reads_logs
from whence.cli.stream_options import Streaming, streams
from whence.engine.log import Log

if TYPE_CHECKING:
    from whence.api import Runner

__all__ = ["RUNNERS", "app"]

app = typer.Typer(add_completion=False)

_RECORDED: dict[str, Any] = {"rich_help_panel": "What is kept (not with --runner interpreter)"}

RUNNERS = ("spark", "local", "interpreter")
"""What can run a chain; the first is the default. All but the interpreter leave a record."""


@app.command()
@connects
@loads
@streams
@reads_logs
def run(
    chain: ChainFile,
    reading: Log,
    log: Logs = None,
    runner: Annotated[
        str,
        typer.Option(
            metavar="|".join(RUNNERS),
            help="spark: on Spark; leaves a record and, with --track, loads the graph. local: the "
            "same in this process, batch by batch. interpreter: event by event; leaves nothing.",
        ),
    ] = RUNNERS[0],
    track: Annotated[
        bool,
        typer.Option("--track", help="Keep (the interpreter: print) what explains each output."),
    ] = False,
    support: Annotated[
        bool,
        typer.Option("--support", help="Print what is enough for it (interpreter)."),
    ] = False,
    witnesses: Annotated[
        Literal["first", "all"],
        typer.Option(help="first: one explanation; all: every alternative. Implies --track."),
    ] = "first",
    closed: Annotated[
        bool, typer.Option("--closed", help="The logs are complete: give the remaining verdicts.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Print only the first N outputs; see the manual."),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print the outputs as CSV.")] = False,
    detail: Annotated[
        Literal["ends", "steps"],
        typer.Option(help="ends: from output to input; steps: every processor.", **_RECORDED),
    ] = "ends",
    where: Annotated[
        str | None,
        typer.Option(help="Track only outputs that this is true of: value = false.", **_RECORDED),
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata",
            metavar="WORD=TEXT",
            help="What the run is for: owner, purpose, …; may be repeated.",
            **_RECORDED,
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Folder or URI of the record (else WHENCE_RECORD).", **_RECORDED),
    ] = None,
    master: Annotated[str, typer.Option(help="Where Spark runs.", **_RECORDED)] = "local[*]",
    partitions: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Tasks, where that is exact (Spark).", **_RECORDED),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Say how Spark would cut the run, and why; run nothing."),
    ] = False,
    *,
    loaded: Loaded,
    streaming: Streaming,
    server: Server,
) -> None:
    """Run a chain over logs, on Spark unless told otherwise, and tell what came out.

    With --track the run keeps what explains each output and loads it into Neo4j, so that it can be
    asked about. Without a server the run finishes all the same, and whence load makes up for it.
    """
    _refuse_contradictions(
        runner,
        csv=csv,
        support=support,
        kept={
            "--detail": detail != "ends",
            "--where": where is not None,
            "--metadata": bool(metadata),
            "--record": record is not None and not any("run:" in each for each in log or ()),
            "--master": master != "local[*]",
            **loaded.given(),
            "--partitions": partitions is not None,
            "--plan": plan,
        },
    )
    if runner != "spark" and (plan or partitions is not None):
        msg = f"expected --runner spark; got {runner}; try leaving it out"
        raise typer.BadParameter(msg, param_hint="--plan" if plan else "--partitions")
    streaming.check(log, runner, {"--plan": plan, "--partitions": partitions is not None})
    track = track or witnesses == "all"
    from whence.engine.runners.options import RunOptions, chunk_for

    chunk = chunk_for(loaded=track and loaded.wanted)
    options = RunOptions(track, detail, witnesses, where, closed, chunk, _stated(metadata or []))
    if streaming.place is not None:
        from whence.cli.run_stream import stream_and_tell

        stream_and_tell(
            chain,
            reading,
            streaming,
            options,
            record=record,
            master=master,
            server=server if loaded.wanted else None,
            loaded=loaded,
            limit=limit,
            csv=csv,
        )
        return
    if not log:
        raise typer.BadParameter("expected a log; got none; try --log FILE", param_hint="--log")
    from whence.engine.chain_file import load_chain

    prepared = prepare(load_chain(chain), log, reading, record)
    if runner == "interpreter":
        from whence.cli.run_interpreted import interpret_and_tell

        interpret_and_tell(
            prepared,
            track,
            support=support,
            witnesses=witnesses,
            closed=closed,
            limit=limit,
            csv=csv,
        )
        return
    from whence.cli.run_recorded import run_and_tell

    if plan:
        from whence.cli.run_plan import tell_plan

        tell_plan(prepared, options, record=record, master=master, partitions=partitions)
        return
    run_and_tell(
        prepared,
        options,
        runner=cast("Runner", runner),
        record=record,
        master=master,
        partitions=partitions,
        server=server if loaded.wanted else None,
        loaded=loaded,
        limit=limit,
        csv=csv,
    )


def _stated(given: list[str]) -> dict[str, str]:
    """What is said of the run, by word."""
    found: dict[str, str] = {}
    for each in given:
        word, sign, text = each.partition("=")
        if not sign or not word.strip() or not text.strip():
            msg = f"expected WORD=TEXT; got {each!r}; try owner=Payments"
            raise typer.BadParameter(msg, param_hint="--metadata")
        found[word.strip()] = text.strip()
    return found


def _refuse_contradictions(runner: str, *, csv: bool, support: bool, kept: dict[str, bool]) -> None:
    """Refuse options that would be ignored: whoever gives them believes that they do something."""
    if runner not in RUNNERS:
        msg = f"expected one of {', '.join(RUNNERS)}; got {runner!r}; try the first"
        raise typer.BadParameter(msg, param_hint="--runner")
    if csv and output().json:
        raise typer.BadParameter("expected --csv or --json; got both; try one of them")
    if support and runner != "interpreter":
        msg = (
            f"expected --runner interpreter with --support; got {runner}; "
            "try that, or whence explain RUN POSITION --support when the run is loaded"
        )
        raise typer.BadParameter(msg, param_hint="--support")
    for option, given in kept.items():
        if given and runner == "interpreter":
            msg = (
                f"expected a runner that leaves a record with {option}; got the interpreter; "
                f"try --runner {RUNNERS[0]}, or leave {option} out"
            )
            raise typer.BadParameter(msg, param_hint=option)

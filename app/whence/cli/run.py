"""``whence run``: run a chain over logs and see what came out, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from whence.cli.chain_options import Allow, ChainFile, Logs, RunLimit, chain_in, prepare
from whence.cli.connecting import Server, connects
from whence.cli.examples import examples
from whence.cli.loading_options import Loaded, loads
from whence.cli.output import output
from whence.cli.reading_options import reads_logs
from whence.cli.stream_options import Streaming, streams
from whence.engine.language.log import Log

if TYPE_CHECKING:
    from whence.api import Runner

__all__ = ["RUNNERS", "app"]

app = typer.Typer(add_completion=False)

_WHAT: dict[str, Any] = {"rich_help_panel": "What is tracked"}
_RECORDED: dict[str, Any] = {"rich_help_panel": "The record (not with --runner interpreter)"}
_SPARK: dict[str, Any] = {"rich_help_panel": "Spark (with --runner spark)"}

RUNNERS = ("spark", "local", "interpreter")
"""What can run a chain; the first is the default. All but the interpreter leave a record."""


@app.command(
    epilog=examples(
        "whence run rules.yaml --log payments.csv --case case_id --track",
        "whence run rules.yaml --log payments.csv --runner local --csv",
        "whence run rules.yaml --stream inbox --available-now --track",
    )
)
@connects
@loads
@streams
@reads_logs
def run(
    chain: ChainFile,
    reading: Log,
    log: Logs = None,
    track: Annotated[
        bool,
        typer.Option("--track", help="Store what explains each output (interpreter: print it)."),
    ] = False,
    runner: Annotated[
        str,
        typer.Option(
            metavar="|".join(RUNNERS),
            help="spark: on Spark. local: in this process; the same results, starts at once. "
            "interpreter: event by event; stores nothing.",
        ),
    ] = RUNNERS[0],
    closed: Annotated[
        bool, typer.Option("--closed", help="The logs are complete: decide pending verdicts.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Print only the first N outputs; by default ten, or all from the interpreter and "
            "as JSON or CSV.",
            show_default=False,
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(help="Track only outputs that meet this condition: value = false.", **_WHAT),
    ] = None,
    detail: Annotated[
        Literal["ends", "steps"],
        typer.Option(help="ends: inputs and outputs only. steps: every processor.", **_WHAT),
    ] = "ends",
    witnesses: Annotated[
        Literal["first", "all"],
        typer.Option(
            help="first: one explanation. all: every alternative; implies --track.", **_WHAT
        ),
    ] = "first",
    support: Annotated[
        bool,
        typer.Option("--support", help="Print sufficient events (interpreter only).", **_WHAT),
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(help="Folder or URI of the record (else WHENCE_RECORD).", **_RECORDED),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Start a new run, even if the same run was interrupted.", **_RECORDED
        ),
    ] = False,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata",
            metavar="WORD=TEXT",
            help="Purpose of the run: owner, purpose, …; may be repeated.",
            **_RECORDED,
        ),
    ] = None,
    sign_with: Annotated[
        str | None,
        typer.Option(
            "--sign-with",
            metavar="KEY",
            help="Sign the run's root with this key: its name or file (else WHENCE_KEY, else "
            "default if there is one).",
            **_RECORDED,
        ),
    ] = None,
    timestamp: Annotated[
        str | None,
        typer.Option(
            "--timestamp",
            metavar="URL",
            help="Get a time stamp of the root from this server (RFC 3161).",
            **_RECORDED,
        ),
    ] = None,
    *,
    streaming: Streaming,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Show the execution plan and exit.", **_SPARK),
    ] = False,
    master: Annotated[str, typer.Option(help="Spark master URL.", **_SPARK)] = "local[*]",
    partitions: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Number of tasks, if the plan can be split.", **_SPARK
        ),
    ] = None,
    allow: Allow = None,
    run_limit: RunLimit = None,
    loaded: Loaded,
    server: Server,
) -> None:
    """Run a chain over logs and print the outputs.

    With --track, also store what explains each output and load it into Neo4j: whence explain then
    answers from there. Without a server the run still finishes; run whence load later.
    """
    _refuse_contradictions(
        runner,
        support=support,
        kept={
            "--detail": detail != "ends",
            "--where": where is not None,
            "--metadata": bool(metadata),
            "--sign-with": sign_with is not None,
            "--timestamp": timestamp is not None,
            "--record": record is not None and not any("run:" in each for each in log or ()),
            "--master": master != "local[*]",
            **loaded.given(),
            "--partitions": partitions is not None,
            "--plan": plan,
            "--fresh": fresh,
        },
    )
    if runner != "spark" and (plan or partitions is not None):
        msg = f"expected --runner spark; got {runner}; try leaving it out"
        raise typer.BadParameter(msg, param_hint="--plan" if plan else "--partitions")
    streaming.check(
        log, runner, {"--plan": plan, "--partitions": partitions is not None, "--fresh": fresh}
    )
    track = track or witnesses == "all"
    from whence.engine.runners.options import RunOptions, chunk_for

    chunk = chunk_for(loaded=track and loaded.wanted)
    options = RunOptions(track, detail, witnesses, where, closed, chunk, _stated(metadata or []))
    if streaming.place is not None:
        from whence.cli.run_stream import stream_and_print

        stream_and_print(
            chain_in(chain, allow),
            reading,
            streaming,
            options,
            record=record,
            master=master,
            server=server if loaded.wanted else None,
            loaded=loaded,
            limit=limit,
            sign_with=sign_with,
            timestamp=timestamp,
        )
        return
    if not log:
        raise typer.BadParameter("expected a log; got none; try --log FILE", param_hint="--log")
    from whence.engine.analysis.advice import warnings_of

    prepared = prepare(chain_in(chain, allow), log, reading, record)
    for line in warnings_of(prepared.logs.chain):
        output().warn(line)
    if runner == "interpreter":
        from whence.cli.run_interpreted import interpret_and_print

        interpret_and_print(
            prepared,
            track,
            support=support,
            witnesses=witnesses,
            closed=closed,
            limit=limit,
        )
        return
    from whence.cli.run_recorded import run_and_print

    if plan:
        from whence.cli.run_plan import print_plan

        print_plan(prepared, options, record=record, master=master, partitions=partitions)
        return
    run_and_print(
        prepared,
        options,
        runner=cast("Runner", runner),
        record=record,
        master=master,
        partitions=partitions,
        server=server if loaded.wanted else None,
        loaded=loaded,
        limit=limit,
        fresh=fresh,
        sign_with=sign_with,
        timestamp=timestamp,
    )


def _stated(given: list[str]) -> dict[str, str]:
    """The metadata of the run, by name."""
    found: dict[str, str] = {}
    for each in given:
        word, sign, text = each.partition("=")
        if not sign or not word.strip() or not text.strip():
            msg = f"expected WORD=TEXT; got {each!r}; try owner=Payments"
            raise typer.BadParameter(msg, param_hint="--metadata")
        found[word.strip()] = text.strip()
    return found


def _refuse_contradictions(runner: str, *, support: bool, kept: dict[str, bool]) -> None:
    """Refuse options that would have no effect."""
    if runner not in RUNNERS:
        msg = f"expected one of {', '.join(RUNNERS)}; got {runner!r}; try the first"
        raise typer.BadParameter(msg, param_hint="--runner")
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

"""``whence erase``: erase a person's data everywhere within reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.app import LEFT, WORDS
from whence.cli.asking import Record, print_text, ranges_text
from whence.cli.connecting import Server, connects
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.engine.lineage.positions import Intervals
    from whence.engine.record.erasing import Erasure
    from whence.exporters.evidence.erasing import Plan

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_COLUMNS = ["in", "name", "events", "where"]


@app.command()
@connects
def erase(
    ctx: typer.Context,
    case: Annotated[
        str | None, typer.Option("--case", help="Erase the events of this case, in every log.")
    ] = None,
    events: Annotated[
        str | None,
        typer.Option(
            "--events",
            metavar="POSITIONS",
            help="Erase these events of a run's log: 3,17-20 or LOG:3,OTHER:0-4.",
        ),
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why; stored permanently.")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option("--run", help="Only in the logs of this run (with --events: else latest)."),
    ] = None,
    verdicts: Annotated[
        bool,
        typer.Option(
            "--verdicts",
            help="Also erase verdicts (true, false, missing) that depend on other events, too.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only show what would be erased, and the consequences."),
    ] = False,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild/--no-rebuild", help="Rebuild the files of a local database at the end."
        ),
    ] = True,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    record: Record = None,
    *,
    server: Server,
) -> None:
    """Erase events: their values, and the values of every output that they explain.

    Positions and explanations stay, and so do verdicts that other events explain as well. Without
    --case and --events, finishes an interrupted erasure. The exit code is 4 if something is left to
    do after the values are erased; the output names it and the command.
    """
    from whence.cli.runs_removing import reachable_graph
    from whence.engine.record import record_place
    from whence.exporters.evidence.erasing import erase as erase_now
    from whence.exporters.evidence.erasing import go_on

    root = record_place(record)
    plan = _plan(root, case, events, run, verdicts)
    if dry_run and plan is not None:
        ctx.meta[WORDS] = _noted("--dry-run", record=record)
        _show_plan(plan)
        return
    if plan is not None and not reason:
        msg = "--reason: expected why it is erased; got nothing; try 'request of 1 March'"
        raise typer.BadParameter(msg)
    if plan is not None and not output().confirm(_question(plan), yes=yes):
        raise typer.Exit(1)
    with reachable_graph(server, wanted=True) as connection, output().progress() as advance:
        local = _local(server) if rebuild and connection is not None else None
        with _rest_named(ctx, root, record):
            if plan is None:
                done = go_on(root, None, connection, local=local, progress=advance)
            else:
                done = erase_now(plan, str(reason), connection, local=local, progress=advance)
    ctx.meta[WORDS] = _noted("--erasure", done.id, record=record)
    _show(done, root)
    if done.left:
        for line in done.left:
            output().error(f"left: {line}")
        raise typer.Exit(LEFT)


@contextmanager
def _rest_named(ctx: typer.Context, root: Path, record: Path | None) -> Iterator[None]:
    """An erasure that has begun and comes to no end: say what is left, and how to finish it."""
    from whence.engine.errors import WhenceError
    from whence.engine.record.erasing import unfinished

    try:
        yield
    except WhenceError as error:
        begun = unfinished(root)
        if begun is None or not begun.steps:
            raise
        ctx.meta[WORDS] = _noted("--erasure", begun.id, record=record)
        where = "" if record is None else f" --record {record}"
        output().error(
            f"erasure {begun.id} has begun and is not done: {error}; done: "
            f"{', '.join(begun.steps)}; left: all that follows, the graph at least; "
            f"finish with: whence erase{where}"
        )
        raise typer.Exit(LEFT) from error


def _noted(*words: str, record: Path | None) -> list[str]:
    """The words of the journal: nothing that names the person whose data is erased."""
    return ["erase", *words, *([] if record is None else ["--record", str(record)])]


def _plan(
    root: Path, case: str | None, events: str | None, run: str | None, verdicts: bool
) -> Plan | None:
    from whence.engine.errors import ParameterError
    from whence.engine.lineage.positions import joined
    from whence.engine.record import RunRecord
    from whence.exporters.evidence.erasing import plan_case, plan_events
    from whence.store.questions.naming import parse_positions

    if case is not None and events is not None:
        msg = "erase: expected --case or --events; got both; try one after the other"
        raise ParameterError(msg)
    if case is not None:
        return plan_case(root, case, run, verdicts=verdicts)
    if events is None:
        return None
    record = RunRecord(root, run or "latest")
    names = list(record.manifest.logs)
    meant: dict[str, Intervals] = {}
    for name, places in parse_positions(events).items():
        if name is None and len(names) > 1:
            msg = f"--events: expected LOG:POSITIONS; got no log; try {names[0]}:{events}"
            raise ParameterError(msg)
        meant[name or names[0]] = joined(places)
    return plan_events(root, record.id, meant, verdicts=verdicts)


def _local(server: Server) -> str | None:
    """The name of the local server that is meant; ``None`` if it is elsewhere."""
    from whence.cli.connecting import local_instance
    from whence.engine.errors import StoreError

    try:
        return local_instance(server)
    except StoreError:
        return None


def _question(plan: Plan) -> str:
    runs = len(plan.runs)
    return f"Erase {plan.touched.count:,} events of {len(plan.touched.logs)} logs and {runs} runs?"


def _rows(
    logs: Mapping[str, Intervals],
    streams: Mapping[str, Mapping[str, Intervals]],
    root: Path | None = None,
) -> list[dict[str, Any]]:
    """What goes, by log and stream.

    Args:
        logs: the events of logs.
        streams: the events of streams, by run.
        root: for people: the record, which determines how positions inside a Slice are counted.
    """
    from whence.engine.lineage.positions import count
    from whence.engine.record import RunRecord

    widths: dict[tuple[str, str], int] = {}
    if root is not None:
        for run in streams:
            for each in RunRecord(root, run).manifest.streams:
                widths[f"run {run}", each.name] = each.w
    rows = [("log", id, places) for id, places in logs.items()]
    rows += [
        (f"run {run}", name, places)
        for run, several in streams.items()
        for name, places in several.items()
    ]
    return [
        dict(
            zip(
                _COLUMNS,
                (where, name, count(at), ranges_text(at, w=widths.get((where, name), 1))),
                strict=True,
            )
        )
        for where, name, at in rows
    ]


def _show_plan(plan: Plan) -> None:
    from whence.engine.record import RunRecord
    from whence.engine.record.erasing import hold_of

    touched = plan.touched
    counted = None if output().json else plan.root
    rows = _rows(touched.logs, touched.streams, counted)
    held = [id for id in plan.runs if hold_of(RunRecord(plan.root, id)) is not None]
    if output().json:
        output().result(
            {
                "events": rows,
                "verdicts": _rows({}, touched.verdicts),
                "untracked": touched.untracked,
                "ended": list(plan.ended),
                "held": held,
            }
        )
        return
    output().table(rows, _COLUMNS)
    for row in _rows({}, touched.verdicts, counted):
        print_text(
            f"{row['in']}, {row['name']}: {row['events']:,} verdicts follow as well and stay, as "
            f"they rest on others' events too (--verdicts erases them): {row['where']}"
        )
    _show_more(touched.untracked, plan.ended)
    for id in held:
        print_text(f"run {id} has a legal hold: nothing would be erased")
    print_text(f"{touched.count:,} events would be erased; nothing was")


def _show_more(untracked: Mapping[str, tuple[str, ...]], ended: tuple[str, ...]) -> None:
    for id, names in untracked.items():
        print_text(
            f"run {id}: not all of {', '.join(names)} was tracked, so that every untracked output "
            "from the first of these events on counts"
        )
    for id in ended:
        print_text(
            f"run {id} is not over: its state and checkpoint are removed, and it cannot be resumed"
        )


def _show(done: Erasure, root: Path) -> None:
    rows = _rows(done.logs, done.streams, None if output().json else root)
    if output().json:
        output().result(
            {
                "erasure": done.id,
                "events": rows,
                "untracked": done.untracked,
                "ended": list(done.ended),
                "unreached": list(done.unreached),
                "left": list(done.left),
            }
        )
        return
    output().table(rows, _COLUMNS)
    _show_more(done.untracked, done.ended)
    print_text(f"erased with {done.id}: {done.reason}")
    print_text("not reached:")
    for line in done.unreached:
        print_text(f"  {line}")

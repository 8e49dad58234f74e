"""``whence runs``: which runs a record holds, what they are, whether they are whole."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from whence.cli.connecting import Server, connects
from whence.cli.output import output, several

if TYPE_CHECKING:
    from whence.engine.record import RunRecord
    from whence.engine.record.manifest import RunManifest, StreamInfo

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    help="List, show, verify and delete the runs of a record.",
    no_args_is_help=True,
)

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or latest.")]
Record = Annotated[
    Path | None, typer.Option(help="Folder or URI of the record (else WHENCE_RECORD).")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Only = Annotated[
    Literal["record", "graph"] | None,
    typer.Option("--only", help="Delete from one of the two places only."),
]

_PRUNED = ("run", "ended", "days", "record", "graph", "stays")
_LISTED = ("run", "status", "runner", "chain", "logs", "outputs", "tracked", "started")
_STATUSES = ("running", "complete", "failed", "interrupted")
_STREAMS = ("stream", "role", "events", "tracked", "parts", "associations")


@app.command("list")
def list_(
    status: Annotated[
        str | None, typer.Option("--status", help="Filter by status, e.g. complete.")
    ] = None,
    runner: Annotated[
        str | None, typer.Option("--runner", help="Only runs of this runner.")
    ] = None,
    chain: Annotated[
        str | None,
        typer.Option("--chain", help="Only runs with an output of this name, or this digest."),
    ] = None,
    log: Annotated[
        str | None, typer.Option("--log", help="Only runs that read this log: its name, or its id.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Only runs that began at this time or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="Only runs that began at this time or earlier.")
    ] = None,
    record: Record = None,
) -> None:
    """List the runs of a record, the oldest first; the options filter them."""
    from whence.engine.errors import ParameterError
    from whence.engine.record import RunRecord, list_runs, record_place
    from whence.engine.values import ValueFault
    from whence.engine.values.instants import parse_instant

    if status is not None and status not in _STATUSES:
        msg = f"--status: expected {', '.join(_STATUSES)}; got {status!r}; try complete"
        raise ParameterError(msg)
    for time in (since, until):
        try:
            parse_instant(time or "2026-03-01")
        except ValueFault as fault:
            msg = f"--since, --until: {fault}"
            raise ParameterError(msg) from fault
    root = record_place(record)
    found = [RunRecord(root, id) for id in list_runs(root)]
    kept = []
    for run in found:
        row, manifest = _row(run), run.manifest
        outputs = [s.name for s in manifest.outputs]
        digest = str(manifest.chain_digest)
        if (
            (status is None or row["status"] == status)
            and (runner is None or row["runner"] == runner)
            and (chain is None or chain in outputs or _begins(digest, chain))
            and (log is None or any(log in pair for pair in manifest.logs.items()))
            and (since is None or row["started"] >= since)
            and (until is None or row["started"][: len(until)] <= until)
        ):
            kept.append(row)
    output().table(kept, _LISTED)
    if len(kept) < len(found):
        output().message(f"{len(kept):,} of {len(found):,} runs")


def _begins(digest: str, wanted: str) -> bool:
    return len(wanted) >= 6 and digest.removeprefix("sha256:").startswith(
        wanted.removeprefix("sha256:")
    )


@app.command()
def show(run: Run = "latest", record: Record = None) -> None:
    """Show a run: chain, logs, options, versions, and the size of each stream."""
    from whence.engine.record import RunRecord, record_place

    found = RunRecord(record_place(record), run)
    manifest = found.manifest
    out = output()
    if out.json:
        out.result({"record": str(found.root), **manifest.json()})
        return
    rows = [_stream(stream) for stream in manifest.streams]
    if not out.csv:
        for name, value in _facts(found, manifest):
            out.text(f"{name}: {value}")
    out.table(rows, _STREAMS)


@app.command()
def verify(run: Run = "latest", record: Record = None) -> None:
    """Compare a run and its logs with their digests; the exit code is 1 if anything differs.

    The manifest holds a digest of every part, and the id of a log is the digest of its events.
    """
    from whence.engine.record import RunRecord, record_place
    from whence.engine.record.verifying import verify_run

    found = RunRecord(record_place(record), run)
    told = verify_run(found)
    out = output()
    if out.csv:
        out.table([{"problem": problem} for problem in told.problems], ["problem"])
    elif out.json:
        problems = list(told.problems)
        out.result(
            {
                "run": found.id,
                "parts": told.parts,
                "events": told.events,
                "problems": problems,
                "erased": list(told.erased),
            }
        )
    else:
        for line in (*told.erased, *told.problems):
            out.text(line)
        end = (
            "all as it was written" if not told.problems else several(len(told.problems), "problem")
        )
        if told.erased and not told.problems:
            end = "all as it was written, apart from what was erased"
        out.text(f"run {found.id}: {told.parts:,} parts, {told.events:,} events of logs: {end}")
    if told.problems:
        raise typer.Exit(1)


@app.command()
def hold(
    run: Run,
    reason: Annotated[
        str, typer.Option("--reason", help="The reason, shown when the hold refuses something.")
    ],
    record: Record = None,
) -> None:
    """Place a legal hold on a run: nothing of it is erased or removed until its release."""
    from whence.engine.record import RunRecord, record_place
    from whence.engine.record.erasing import hold_run

    laid = hold_run(RunRecord(record_place(record), run), reason)
    output().result(asdict(laid), f"run {laid.run} is held: {laid.reason}")


@app.command()
def release(run: Run, record: Record = None) -> None:
    """Release a run from its legal hold."""
    from whence.engine.record import RunRecord, record_place
    from whence.engine.record.erasing import release_run

    was = release_run(RunRecord(record_place(record), run))
    output().result(asdict(was), f"run {was.run} is released; it was held since {was.since}")


@app.command()
@connects
def remove(
    run: Run,
    record: Record = None,
    only: Only = None,
    yes: Yes = False,
    *,
    server: Server,
) -> None:
    """Delete a run from the record and from Neo4j; its logs stay in the record.

    In the graph a log's events stay as long as another run reads them.
    """
    from whence.cli.runs_removing import reachable_graph, remove_runs
    from whence.engine.record import RunRecord, latest_run, list_runs, record_place

    root = record_place(record)
    id = (latest_run(root) or run) if run == "latest" else run
    with reachable_graph(server, wanted=only != "record") as connection:
        if only != "graph" and connection is None and id not in list_runs(root):
            RunRecord(root, id)  # its error lists those that there are
        where = "the record and the graph" if only is None else f"the {only}"
        if not output().confirm(f"Delete the run {id} from {where}?", yes=yes):
            raise typer.Exit(1)
        (row,) = remove_runs(root, [id], connection, record=only != "graph")
    output().result(row, f"run {id} removed{_removed_from(row)}")


@app.command()
@connects
def prune(
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="90d, 12h or 6w.", show_default=False)
    ],
    record: Record = None,
    only: Only = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the runs that would be deleted.")
    ] = False,
    yes: Yes = False,
    *,
    server: Server,
) -> None:
    """Delete every run older than AGE from the record and from Neo4j.

    Active runs stay, and so do runs whose outputs a newer run read.
    """
    from whence.cli.runs_removing import age, old_runs, reachable_graph, remove_runs
    from whence.engine.record import record_place

    root, limit = record_place(record), age(older_than)
    with reachable_graph(server, wanted=only != "record") as connection:
        found = old_runs(root, connection, limit, record=only != "graph")
        going = [old.run for old in found if old.stays is None]
        if going and not dry_run:
            question = f"Delete {len(going)} runs that are older than {older_than}?"
            if not output().confirm(question, yes=yes):
                raise typer.Exit(1)
        if not dry_run:
            remove_runs(root, going, connection, record=only != "graph")
    output().table([asdict(old) for old in found], _PRUNED)
    if output().form == "table":
        verb = "would be removed" if dry_run else "removed"
        left = several(len(found) - len(going), "old run")
        output().text(f"{several(len(going), 'run')} {verb}; {left} left")


def _removed_from(row: dict[str, Any]) -> str:
    places = [name for name in ("record", "graph") if row[name]]
    logs = f"; with {len(row['logs'])} logs of the graph that no other run reads"
    return f" from the {' and the '.join(places)}{logs if row['logs'] else ''}"


def _row(run: RunRecord) -> dict[str, Any]:
    manifest = run.manifest
    pipes = manifest.outputs
    return {
        "run": run.id,
        "status": manifest.status,
        "runner": manifest.runner,
        "chain": ", ".join(s.name for s in pipes) or str(manifest.chain_digest)[:15],
        "logs": ", ".join(manifest.logs),
        "outputs": sum(s.length for s in pipes),
        "tracked": sum(s.tracked for s in pipes),
        "started": manifest.started,
    }


def _stream(stream: StreamInfo) -> dict[str, Any]:
    return {
        "stream": stream.name,
        "role": stream.role.value,
        "events": stream.length,
        "tracked": stream.tracked,
        "parts": len(stream.outputs),
        "associations": sum(part.rows for part in stream.associations),
    }


def _facts(run: RunRecord, manifest: RunManifest) -> list[tuple[str, str]]:
    from whence.engine.record.erasing import hold_of

    options = ", ".join(f"{k} {v}" for k, v in manifest.options.json().items() if v not in (None,))
    facts = [
        ("run", run.id),
        ("status", manifest.status),
        ("record", str(run.folder)),
        ("runner", manifest.runner),
        ("chain", str(manifest.chain_digest)),
        *((f"log {name}", id) for name, id in manifest.logs.items()),
        ("options", options),
        ("versions", ", ".join(f"{k} {v}" for k, v in manifest.versions.items())),
        ("started", manifest.started),
        ("ended", str(manifest.ended)),
    ]
    if manifest.plan:
        cut = manifest.plan
        facts.append(("plan", f"{cut.kind}, {cut.tasks} tasks, because {cut.why}"))
    if manifest.error:
        facts.append(("error", manifest.error))
    held = hold_of(run)
    if held is not None:
        facts.append(("held", f"since {held.since} by {held.who}: {held.reason}"))
    facts += [("erased with", id) for id in manifest.erasures]
    return facts

"""``whence runs``: which runs a record holds, what they are, whether they are whole."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.output import output

if TYPE_CHECKING:
    from whence.engine.record import RunRecord

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    help="Say which runs a record holds, what they are, and whether they are whole.",
    no_args_is_help=True,
)

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or latest.")]
Record = Annotated[Path | None, typer.Option(help="Folder of the record (else WHENCE_RECORD).")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print the rows as CSV.")]

_LISTED = ("run", "status", "runner", "chain", "logs", "outputs", "tracked", "started")
_STATUSES = ("running", "complete", "failed", "interrupted")
_STREAMS = ("stream", "role", "events", "tracked", "parts", "associations")


@app.command("list")
def list_(
    status: Annotated[
        str | None, typer.Option("--status", help="Only runs that stand so, such as complete.")
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
    csv: AsCsv = False,
) -> None:
    """List the runs of a record, the oldest first; only some of them, if asked."""
    from whence.engine.errors import ParameterError
    from whence.engine.functions.time import parse_instant
    from whence.engine.record import RunRecord, list_runs, record_place
    from whence.engine.values import ValueFault

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
        outputs = [s["name"] for s in manifest["streams"] if s["role"] == "output"]
        digest = str(manifest["chain_digest"])
        if (
            (status is None or row["status"] == status)
            and (runner is None or row["runner"] == runner)
            and (chain is None or chain in outputs or _begins(digest, chain))
            and (log is None or any(log in pair for pair in manifest["logs"].items()))
            and (since is None or row["started"] >= since)
            and (until is None or row["started"][: len(until)] <= until)
        ):
            kept.append(row)
    _print(kept, _LISTED, csv=csv)
    if len(kept) < len(found):
        output().say(f"{len(kept):,} of {len(found):,} runs")


def _begins(digest: str, wanted: str) -> bool:
    return len(wanted) >= 6 and digest.removeprefix("sha256:").startswith(
        wanted.removeprefix("sha256:")
    )


@app.command()
def show(run: Run = "latest", record: Record = None, csv: AsCsv = False) -> None:
    """Show what a run is: chain, logs, options, versions, and how much it holds of each stream."""
    from whence.engine.record import RunRecord, record_place

    found = RunRecord(record_place(record), run)
    manifest = found.manifest
    out = output()
    if out.json:
        out.result({"record": str(found.root), **manifest})
        return
    rows = [_stream(stream) for stream in manifest["streams"]]
    if not csv:
        for name, value in _facts(found, manifest):
            out.tell(f"{name}: {value}")
    _print(rows, _STREAMS, csv=csv)


@app.command()
def verify(run: Run = "latest", record: Record = None, csv: AsCsv = False) -> None:
    """Read a run and its logs whole and compare them with what was written; 1 if anything differs.

    Every part has a digest in the manifest, and a log is told by the digest of its events.
    """
    from whence.engine.record import RunRecord, record_place
    from whence.engine.record.verifying import verify_run

    found = RunRecord(record_place(record), run)
    told = verify_run(found)
    out = output()
    if csv:
        _print([{"problem": problem} for problem in told.problems], ("problem",), csv=True)
    elif out.json:
        problems = list(told.problems)
        out.result(
            {"run": found.id, "parts": told.parts, "events": told.events, "problems": problems}
        )
    else:
        for problem in told.problems:
            out.tell(problem)
        end = "all as it was written" if not told.problems else f"{len(told.problems)} problems"
        out.tell(f"run {found.id}: {told.parts:,} parts, {told.events:,} events of logs: {end}")
    if told.problems:
        raise typer.Exit(1)


@app.command()
def remove(
    run: Run,
    record: Record = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a run from the record; its logs, and what is in Neo4j, stay."""
    from whence.engine.errors import LogError
    from whence.engine.record import RunRecord, record_place

    found = RunRecord(record_place(record), run)
    if found.manifest["status"] == "running":
        msg = f"run {found.id}: expected one that is over; got one that is running; try later"
        raise LogError(msg)
    if not output().confirm(f"Delete the run {found.id} from the record?", yes=yes):
        raise typer.Exit(1)
    # What no manifest lists does not exist: without it there is no half of a run.
    (found.folder / "manifest.json").unlink()
    shutil.rmtree(found.folder)
    output().result({"run": found.id, "removed": True}, f"run {found.id} removed")


def _row(run: RunRecord) -> dict[str, Any]:
    manifest = run.manifest
    pipes = [s for s in manifest["streams"] if s["role"] == "output"]
    return {
        "run": run.id,
        "status": manifest["status"],
        "runner": manifest["runner"],
        "chain": ", ".join(s["name"] for s in pipes) or manifest["chain_digest"][:15],
        "logs": ", ".join(manifest["logs"]),
        "outputs": sum(s["length"] for s in pipes),
        "tracked": sum(s["tracked"] for s in pipes),
        "started": manifest["started"],
    }


def _stream(stream: dict[str, Any]) -> dict[str, Any]:
    return {
        "stream": stream["name"],
        "role": stream["role"],
        "events": stream["length"],
        "tracked": stream["tracked"],
        "parts": len(stream["outputs"]),
        "associations": sum(part["rows"] for part in stream["associations"]),
    }


def _facts(run: RunRecord, manifest: dict[str, Any]) -> list[tuple[str, str]]:
    options = ", ".join(f"{k} {v}" for k, v in manifest["options"].items() if v not in (None,))
    facts = [
        ("run", run.id),
        ("status", manifest["status"]),
        ("record", str(run.folder)),
        ("runner", manifest["runner"]),
        ("chain", manifest["chain_digest"]),
        *((f"log {name}", id) for name, id in manifest["logs"].items()),
        ("options", options),
        ("versions", ", ".join(f"{k} {v}" for k, v in manifest["versions"].items())),
        ("started", manifest["started"]),
        ("ended", str(manifest["ended"])),
    ]
    if manifest.get("plan"):
        cut = manifest["plan"]
        facts.append(("plan", f"{cut['kind']}, {cut['tasks']} tasks, because {cut['why']}"))
    if manifest.get("error"):
        facts.append(("error", manifest["error"]))
    return facts


def _print(rows: list[dict[str, Any]], columns: tuple[str, ...], *, csv: bool) -> None:
    if csv:
        from whence.cli.asking import print_csv

        print_csv(columns, rows)
    else:
        output().table(rows, columns)

"""``whence load``: bring the graph up to date with a run's record."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from whence.cli.asking import Record, Run
from whence.cli.connecting import Server, connects
from whence.cli.loading_options import Writers
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store.loading import LoadReport

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
@connects
def load(
    run: Run,
    record: Record = None,
    writers: Writers = None,
    *,
    server: Server,
) -> None:
    """Load a run from its record into Neo4j; data that is already there stays.

    Safe to interrupt and re-run: nothing is lost, nothing is written twice.
    """
    from whence.engine.record import RunRecord, record_place
    from whence.store.loading import load as load_run
    from whence.store.loading.loader import WRITERS

    root = record_place(record)
    wanted = RunRecord(root, run).id  # refused before a server is started
    with (
        server.connect() as connection,
        output().progress() as advance,
    ):
        report = load_run(root, wanted, connection, advance, writers=writers or WRITERS)
    added = f"{report.written} of {report.parts} parts written"
    added += f" ({report.events:,} events, {report.edges:,} relationships)"
    if not report.written:
        added = f"all {report.parts} parts were there"
    output().result(asdict(report), f"{report.run}: {added}{_ending(report)}")


def _ending(report: LoadReport) -> str:
    if report.status == "interrupted":
        return "; the run was interrupted; run the same whence run to resume it"
    if not report.complete:
        return f"; the run is {report.status}, load again for the rest"
    return "; the run failed" if report.status == "failed" else ""

"""``whence load``: bring the graph up to date with a run's record."""

from __future__ import annotations

from dataclasses import asdict

import typer

from whence.cli.asking import Record, Run, asked
from whence.cli.connecting import Database, Insecure, PasswordFile, Uri, Username
from whence.cli.output import output

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def load(
    run: Run,
    record: Record = None,
    uri: Uri = None,
    username: Username = None,
    password_file: PasswordFile = None,
    database: Database = None,
    insecure: Insecure = False,
) -> None:
    """Load a run from its record into Neo4j; what is there already is left alone.

    May be interrupted at any moment and run again: nothing is lost, nothing is written twice.
    """
    from whence.engine.record import RunRecord, record_place
    from whence.store.loading import load as load_run

    root = record_place(record)
    wanted = RunRecord(root, run).id  # refused before a server is started
    with (
        asked(uri, username, password_file, database, insecure) as connection,
        output().progress("parts") as advance,
    ):
        report = load_run(root, wanted, connection, advance)
    added = f"{report.written} of {report.parts} parts written"
    added += f" ({report.events:,} events, {report.edges:,} relationships)"
    if not report.written:
        added = f"all {report.parts} parts were there"
    ending = "" if report.complete else f"; the run is {report.status}, load again for the rest"
    output().result(asdict(report), f"{report.run}: {added}{ending}")

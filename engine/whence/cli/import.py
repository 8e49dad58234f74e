"""``whence import``: runs that were exported as W3C PROV, back into the record and the graph."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from whence.cli.asking import Record
from whence.cli.connecting import Server, connects
from whence.cli.output import output

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command("import")
@connects
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What whence export wrote; .gz is unpacked.")
    ],
    format: Annotated[
        Literal["prov-json", "nquads", "trig", "jsonld"] | None,
        typer.Option(help="By the ending of the file if not given."),
    ] = None,
    record: Record = None,
    *,
    server: Server,
) -> None:
    """Put the runs of a PROV file back: into the record, and from there into Neo4j.

    Questions then give the same answers. Values of input events do not come back.
    """
    from whence.engine.record import record_place
    from whence.exporters.importing import import_runs
    from whence.store.loading import load

    root = record_place(record)
    runs = import_runs(file, root, format)
    with server.connect() as connection, output().progress("parts") as advance:
        for run in runs:
            report = load(root, run, connection, advance)
            output().result(
                asdict(report),
                f"{run}: {report.events:,} events, {report.edges:,} relationships",
            )

"""``whence import``: runs that were exported as W3C PROV, back into the record and the graph."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.asking import Record
from whence.cli.connecting import Server, connects
from whence.cli.output import output
from whence.exporters.prov.formats import IMPORTED

__all__ = ["app"]

if TYPE_CHECKING:
    Format = str
else:
    Format = Literal[*IMPORTED]

app = typer.Typer(add_completion=False)


@app.command("import")
@connects
def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A file written by whence export; .gz is unpacked."),
    ],
    format: Annotated[
        Format | None,
        typer.Option(help="Default: by the file name's ending."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="MB", min=1, help="Maximum uncompressed size, in MB.")
    ] = 256,
    record: Record = None,
    *,
    server: Server,
) -> None:
    """Import the runs of a PROV file into the record and into Neo4j.

    Questions then give the same answers. Values of input events come back if the file has them
    (whence export --values). Reading the file takes about fifteen times its size in memory.
    """
    from whence.cli.run_recorded import report_problems
    from whence.committing import Committing
    from whence.engine.record import RunRecord, record_place
    from whence.exporters.importing import import_runs
    from whence.store.loading import load

    root = record_place(record)
    runs = import_runs(file, root, format, most=limit << 20)
    with server.connect() as connection, output().progress() as advance:
        for run in runs:
            report_problems(Committing().commit(RunRecord(root, run)))
            report = load(root, run, connection, advance)
            output().result(
                asdict(report),
                f"{run}: {report.events:,} events, {report.edges:,} relationships",
            )

"""``whence export``: a whole run as W3C PROV, for others to read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from whence.cli.asking import Record, Run
from whence.cli.output import output

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def export(
    run: Run,
    file: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write; .gz behind it compresses."
        ),
    ],
    format: Annotated[
        Literal["prov-json", "nquads", "trig"] | None,
        typer.Option(help="prov-json, nquads or trig; by the ending of the file if not given."),
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Write the values of input events too.")
    ] = False,
    record: Record = None,
) -> None:
    """Write a run as W3C PROV: who ran what on which log, and which events each output came from.

    The file appears when it is complete. The same run gives the same bytes each time.
    """
    from whence.engine.record import record_place
    from whence.exporters.saving import format_of
    from whence.exporters.shipping import save_run

    chosen = format_of(file, format)
    with output().progress("events") as advance:
        written = save_run(
            record_place(record),
            run,
            file,
            chosen,
            values=values,
            progress=lambda done, total: advance(done, total, f"writing {file.name}"),
        )
    size = written.stat().st_size
    output().result(
        {"file": str(written), "format": chosen, "bytes": size},
        f"{written}: {chosen}, {size:,} bytes",
    )

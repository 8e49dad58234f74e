"""``whence export``: whole runs as W3C PROV, for others to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.asking import Record
from whence.cli.output import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.exporters import RecordedRun

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_MOST = 1_000_000_000
"""More relations than these are not written out."""

Format = Literal[
    "prov-json",
    "prov-n",
    "prov-xml",
    "prov-jsonld",
    "nquads",
    "trig",
    "turtle",
    "jsonld",
    "openlineage",
]


@app.command()
def export(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="The ids of runs, or latest.")
    ],
    file: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write; .gz behind it compresses."
        ),
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="By the ending of the file if not given.")
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Write the values of input events too.")
    ] = False,
    expand: Annotated[
        bool, typer.Option("--expand", help="Write every pair of events, and no ranges.")
    ] = False,
    chained: Annotated[
        list[str],
        typer.Option(
            "--chained",
            metavar="LOG=RUN/STREAM",
            help="A log is an output of an earlier run: its events are the same.",
        ),
    ] = [],  # noqa: B006  typer copies it
    revised: Annotated[
        list[str],
        typer.Option("--revised", metavar="LOG=OLD", help="A log corrects the log of this id."),
    ] = [],  # noqa: B006  typer copies it
    emit: Annotated[
        str | None,
        typer.Option("--emit", metavar="URL", help="Send the runs to a server of OpenLineage."),
    ] = None,
    record: Record = None,
) -> None:
    """Write runs as W3C PROV: who ran what on which log, and which events each output came from.

    The file appears when it is complete. The same runs give the same bytes each time.
    """
    from whence.engine.record import record_place
    from whence.exporters import RecordedRun
    from whence.exporters.saving import RUN_FORMATS, format_of

    if file is None and emit is None:
        msg = "give a file with -o, or an address with --emit"
        raise typer.BadParameter(msg)
    chosen = None if file is None else format_of(file, format, RUN_FORMATS)
    ties = {"chained": _ties(chained, "--chained"), "revised": _ties(revised, "--revised")}
    place = record_place(record)
    sources = [RecordedRun(place, run, values=values, **ties) for run in runs]
    if file is not None and chosen is not None:
        _write(sources, file, chosen, expand=expand)
    if emit is not None:
        _emit(sources, emit)


def _write(sources: Sequence[RecordedRun], file: Path, chosen: str, *, expand: bool) -> None:
    from whence.exporters.shipping import save_runs

    if expand:
        _foretell(sources)
    if chosen == "turtle":
        apart = "each run is in a file of its own" if len(sources) > 1 else "the bundle is left out"
        output().say(f"{chosen} cannot hold bundles: {apart}")
    with output().progress("events") as advance:
        written = save_runs(
            sources,
            file,
            chosen,
            expand=expand,
            progress=lambda done, total: advance(done, total, f"writing {file.name}"),
        )
    for each in written:
        size = each.stat().st_size
        output().result(
            {"file": str(each), "format": chosen, "bytes": size},
            f"{each}: {chosen}, {size:,} bytes",
        )


def _emit(sources: Sequence[RecordedRun], url: str) -> None:
    from whence.exporters.openlineage import emit

    for source in sources:
        count = emit(source.run, url)
        output().result(
            {"run": source.run.id, "url": url, "events": count},
            f"{source.run.id}: {count} events sent to {url}",
        )


def _ties(given: Sequence[str], option: str) -> dict[str, str]:
    from whence.engine.errors import ParameterError

    found = {}
    for each in given:
        log, sign, other = each.partition("=")
        if not (log and sign and other):
            form = "LOG=RUN/STREAM" if option == "--chained" else "LOG=OLD"
            msg = f"{option}: expected {form}; got {each!r}; try the log's name in the chain"
            raise ParameterError(msg)
        found[log] = other
    return found


def _foretell(sources: Sequence[RecordedRun]) -> None:
    """Say how much it will be, before it is."""
    from whence.engine.errors import ParameterError
    from whence.exporters.documents import expanded_size

    size = sum(expanded_size(source) for source in sources)
    output().say(f"up to {size:,} relations from event to event")
    if size > _MOST:
        msg = (
            f"--expand: expected at most {_MOST:,} relations; got up to {size:,}; "
            "try without it: ranges say the same"
        )
        raise ParameterError(msg)

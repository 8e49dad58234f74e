"""``whence export``: whole runs, or one answer about a run, as W3C PROV for others to read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.asking import Record
from whence.cli.connecting import Server, connects
from whence.cli.option_groups import option_group
from whence.cli.output import output
from whence.exporters.prov.formats import BUNDLES, FORMATS, RUN_FORMATS, format_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.exporters import RecordedRun
    from whence.store import Connection

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_MOST = 1_000_000_000
"""More relations than these are not written out."""

if TYPE_CHECKING:
    Format = str
else:
    Format = Literal[*RUN_FORMATS]

_ANSWER = "One answer, instead of whole runs"
Explain = Annotated[
    str | None,
    typer.Option("--explain", metavar="OUTPUT", help="Why this output.", rich_help_panel=_ANSWER),
]
Support = Annotated[
    bool,
    typer.Option(
        "--support", help="With --explain: also sufficient events.", rich_help_panel=_ANSWER
    ),
]
Impact = Annotated[
    str | None,
    typer.Option(
        "--impact",
        metavar="POSITIONS",
        help="Which outputs hold if these inputs are wrong.",
        rich_help_panel=_ANSWER,
    ),
]
NeverMatters = Annotated[
    bool,
    typer.Option("--never-matters", help="Which inputs no output needs.", rich_help_panel=_ANSWER),
]


@dataclass(frozen=True)
class Asked:
    """Which answer is exported, if it is one.

    Attributes:
        explain: the output that is explained.
        support: whether its support is included as well.
        impact: the positions of the inputs that are taken to be corrupt.
        never_matters: which inputs never mattered.
    """

    explain: str | None
    support: bool
    impact: str | None
    never_matters: bool

    @property
    def any(self) -> bool:
        """Whether an answer was asked for."""
        given = (self.explain is not None, self.impact is not None, self.never_matters)
        if sum(given) > 1:
            msg = "give one of --explain, --impact and --never-matters"
            raise typer.BadParameter(msg)
        if self.support and self.explain is None:
            msg = "--support goes with --explain"
            raise typer.BadParameter(msg)
        return any(given)

    def ask(self, connection: Connection, run: str, record: Path | None) -> object:
        from whence.store.questions import explain, impact, never_matters
        from whence.store.questions.naming import parse_positions

        if self.explain is not None:
            return explain(connection, run, self.explain, support=self.support, record=record)
        if self.impact is not None:
            return impact(connection, run, parse_positions(self.impact))
        return never_matters(connection, run)


def _asked(
    explain: Explain = None,
    support: Support = False,
    impact: Impact = None,
    never_matters: NeverMatters = False,
) -> Asked:
    return Asked(explain, support, impact, never_matters)


@app.command()
@connects
@option_group("asked", _asked)
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
        Format | None, typer.Option(help="Default: by the file name's ending.")
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Write the values of input events too.")
    ] = False,
    expand: Annotated[
        bool, typer.Option("--expand", help="Write every pair of events instead of ranges.")
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
    *,
    asked: Asked,
    server: Server,
) -> None:
    """Write runs as W3C PROV: who ran what on which log, and which events each output came from.

    Whole runs are read from the record, one answer about a run (--explain, --impact,
    --never-matters) from Neo4j. The file appears when it is complete. The same runs always give the
    same bytes.
    """
    from whence.engine.record import record_place
    from whence.exporters import RecordedRun

    if file is None and emit is None:
        msg = "give a file with -o, or an address with --emit"
        raise typer.BadParameter(msg)
    if asked.any:
        whole: dict[str, object] = {"--values": values, "--expand": expand, "--emit": emit}
        whole |= {"--chained": chained, "--revised": revised}
        for option, given in whole.items():
            if given:
                msg = f"{option} is for whole runs"
                raise typer.BadParameter(msg)
        if len(runs) != 1:
            msg = "an answer is about one run"
            raise typer.BadParameter(msg)
        assert file is not None
        _write_answer(asked, runs[0], file, format, record, server)
        return
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
    if chosen in FORMATS and chosen not in BUNDLES:
        apart = "each run is in a file of its own" if len(sources) > 1 else "the bundle is left out"
        output().message(f"{chosen} cannot hold bundles: {apart}")
    with output().progress() as advance:
        written = save_runs(sources, file, chosen, expand=expand, progress=advance)
    for each in written:
        _print(each, chosen)


def _write_answer(
    asked: Asked, run: str, file: Path, format: str | None, record: Path | None, server: Server
) -> None:
    from whence.exporters import save
    from whence.store.catalog import find_run

    chosen = format_of(file, format)
    if chosen not in BUNDLES:
        output().message(f"{chosen} cannot hold bundles: the bundle is left out")
    with server.connect() as connection:
        about = find_run(connection, run, record)
        written = save(asked.ask(connection, about.id, record), file, chosen, about=about)
    _print(written, chosen)


def _print(written: Path, chosen: str) -> None:
    size = written.stat().st_size
    output().result(
        {"file": str(written), "format": chosen, "bytes": size},
        f"{written}: {chosen}, {size:,} bytes",
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
    output().message(f"up to {size:,} relations from event to event")
    if size > _MOST:
        msg = (
            f"--expand: expected at most {_MOST:,} relations; got up to {size:,}; "
            "try without it: ranges express the same"
        )
        raise ParameterError(msg)

"""``whence logs``: inspect a log before using it, or generate one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.examples import examples
from whence.cli.output import output
from whence.cli.reading_options import key_values, looks_at_logs
from whence.engine.language.log import ROLES, Log

if TYPE_CHECKING:
    from whence.engine.sources.inspection import Inspection

__all__ = ["app"]

_MANY = 500_000

app = typer.Typer(
    add_completion=False,
    help="Inspect a log before you use it, or generate one to experiment with.",
    no_args_is_help=True,
)


@app.command(
    epilog=examples(
        "whence logs inspect payments.csv",
        "whence logs inspect payments.csv --delimiter ';' --yaml",
    )
)
@looks_at_logs
def inspect(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="A log: a file, several, or a folder.", show_default=False
        ),
    ],
    reading: Log,
    rows: Annotated[int, typer.Option("--rows", min=0, help="Number of first rows to show.")] = 3,
    yaml: Annotated[
        bool, typer.Option("--yaml", help="Print only the proposed declaration for a chain file.")
    ] = False,
) -> None:
    """Show columns, kinds, counts, time range, order, ties, missing values and the first rows.

    Proposes a mapping of case, activity and time, and kinds that every text of a column fits.
    Nothing is stored or changed: copy the parts that you agree with.
    """
    from whence.cli.inspection_view import document, questions, view, yaml_text
    from whence.cli.reading import opened, report_read
    from whence.engine.sources.inspection import inspect_log

    out = output()
    with out.progress() as advance:
        source = opened(files if len(files) > 1 else files[0], reading, advance)
        stated = {role: getattr(reading, role) for role in ROLES}
        found: Inspection = inspect_log(
            source, stated=stated, rows=rows, timezone=reading.timezone or "UTC"
        )
    answer = document(found)
    columns = answer["columns"]
    if yaml:
        out.result(answer, yaml_text(found, reading), columns)
        for line in questions(found):
            out.message(line)
    else:
        out.result(answer, view(found), columns)
    report_read(source)


@app.command()
def generate(
    file: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write: .csv, .jsonl, .parquet or .xes, and .gz behind it.",
            show_default=False,
        ),
    ],
    events: Annotated[
        int, typer.Option("--events", min=1, help="Approximate number of events.")
    ] = 20_000,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="The same seed gives the same log.")
    ] = 7,
    plant: Annotated[
        list[str] | None,
        typer.Option(
            "--plant",
            metavar="FAULT=N",
            help="Number of faulty cases: unapproved=2, unaudited=1, paid_twice=0.",
        ),
    ] = None,
) -> None:
    """Generate a log of payments with loops, rework, ties, missing values and planted faults.

    Prints the faulty cases, so that you know what a check should find.
    """
    from whence.engine.progress import Reporter
    from whence.engine.sources.generate import FAULTS, payment_log, write_log

    faults: dict[str, int] | None = None
    if plant is not None:
        faults = {}
        given = key_values(plant, "--plant", "FAULT=N", "unapproved=2")
        for fault, times in given.items():
            if not times.isdigit():
                msg = f"expected a whole number; got {times!r}; try {fault}=2"
                raise typer.BadParameter(msg, param_hint="--plant")
            faults[fault] = int(times)
    out = output()
    log = payment_log(events, seed, faults)
    with out.progress() as progress:
        report = Reporter(progress, "writing", "events")

        def told(done: int) -> None:
            if done >= _MANY:  # what takes no time needs no progress
                report(min(done, events), events, f"writing {file.name}")

        written = write_log(log, file, told)
    planted = {fault: list(cases) for fault, cases in log.planted.items()}
    lines = [f"{file}: {written:,} events of {log.cases:,} payments, seed {seed}"]
    for fault, cases in planted.items():
        if cases:
            shown = ", ".join(cases[:5]) + (f", … {len(cases) - 5:,} more" * (len(cases) > 5))
            lines.append(f"  {fault} ({FAULTS[fault]}): {shown}")
    out.result(
        {
            "file": str(file),
            "events": written,
            "cases": log.cases,
            "seed": seed,
            "planted": planted,
        },
        "\n".join(lines),
    )

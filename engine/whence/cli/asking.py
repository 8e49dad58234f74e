"""What the commands that ask the graph share: options, connection, and how answers are shown."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.text import Text

from whence.cli.connecting import connected
from whence.cli.output import output
from whence.engine.intervals import Intervals

if TYPE_CHECKING:
    from whence.store import Connection

__all__ = [
    "AsCsv",
    "Cypher",
    "Prov",
    "Record",
    "Run",
    "asked",
    "print_csv",
    "print_queries",
    "ranges_text",
    "save_prov",
    "share_text",
    "tell",
]

Run = Annotated[str, typer.Argument(metavar="RUN", help="The run's id, or latest.")]
Record = Annotated[
    Path | None,
    typer.Option("--record", metavar="DIR", help="Folder of the record (else WHENCE_RECORD)."),
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print the answer as CSV.")]
Cypher = Annotated[bool, typer.Option("--cypher", help="Print the queries that were used as well.")]
Prov = Annotated[
    Path | None,
    typer.Option(
        "--prov", metavar="FILE", help="Write the answer as W3C PROV: .json, .nq or .trig."
    ),
]

_RANGES_SHOWN = 8


@contextmanager
def asked(
    uri: str | None,
    username: str | None,
    password_file: Path | None,
    database: str | None,
    insecure: bool,
) -> Iterator[Connection]:
    """Connect as the options say."""
    from whence.store import resolve_settings

    settings = resolve_settings(
        uri=uri,
        username=username,
        password_file=password_file,
        database=database,
        insecure=insecure,
    )
    with connected(settings) as connection:
        yield connection


def ranges_text(ranges: Intervals, most: int | None = _RANGES_SHOWN) -> str:
    """Ranges for a person; long ones are cut, and say how many are left out.

    >>> ranges_text(((0, 4), (9, 9)))
    '0-4, 9'
    """
    shown = [str(lo) if lo == hi else f"{lo}-{hi}" for lo, hi in ranges[:most]]
    left = 0 if most is None else len(ranges) - len(shown)
    return ", ".join(shown) + (f", … {left:,} more ranges" if left > 0 else "") if shown else "none"


def share_text(share: float) -> str:
    """A share in percent; what is not all never reads as all.

    >>> share_text(1.0), share_text(0.99999), share_text(0.5), share_text(0.00001)
    ('100 %', '>99.9 %', '50.0 %', '<0.1 %')
    """
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    if share > 0.999:
        return ">99.9 %"
    return "<0.1 %" if share < 0.001 else f"{100 * share:.1f} %"


def print_csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows for a spreadsheet; what is no text or number is JSON."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[column]) for column in columns])


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, (str, int, float)) and not isinstance(value, bool)):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def tell(text: str) -> None:
    """Print a line of the answer; what stands in brackets is meant as it is."""
    output().result(None, Text(text))


def print_queries(queries: Mapping[str, str]) -> None:
    """Tell which Cypher was used."""
    for name, text in queries.items():
        output().say(f"\n[bold]{name}.cypher[/bold]\n{escape(text.rstrip())}")


def save_prov(connection: Connection, answer: Any, file: Path) -> None:
    """Write an answer as W3C PROV."""
    from whence.exporters import save
    from whence.store.catalog import find_run

    written = save(answer, file, about=find_run(connection, answer.run))
    output().say(f"PROV in {written}")

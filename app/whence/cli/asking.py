"""What the commands that ask the graph share: their options, and how answers are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.option_groups import option_group
from whence.cli.output import output
from whence.engine.lineage.positions import Intervals

if TYPE_CHECKING:
    from whence.store import Connection

__all__ = [
    "Record",
    "Run",
    "Showing",
    "print_queries",
    "print_text",
    "ranges_text",
    "shows",
    "shows_here",
]

Run = Annotated[str, typer.Argument(metavar="RUN", help="The run's id, or latest.")]
Record = Annotated[
    Path | None,
    typer.Option(
        "--record", metavar="DIR", help="Folder or URI of the record (else WHENCE_RECORD)."
    ),
]
Cypher = Annotated[bool, typer.Option("--cypher", help="Print the queries that were used as well.")]
Prov = Annotated[
    Path | None,
    typer.Option(
        "--prov", metavar="FILE", help="Write the answer as W3C PROV: .json, .provn, .nq, …"
    ),
]

_RANGES_SHOWN = 8


@dataclass(frozen=True)
class Showing:
    """How an answer is shown, and where else it goes.

    Attributes:
        cypher: print the queries as well.
        prov: the file to write it to as W3C PROV.
    """

    cypher: bool
    prov: Path | None

    def show(
        self,
        answer: Any,
        document: Mapping[str, Any],
        table: Callable[[], None],
        columns: Sequence[str],
        rows: Iterable[Mapping[str, Any]],
    ) -> None:
        """Print an answer in the way that was chosen.

        Args:
            answer: the answer itself.
            document: what is printed as JSON.
            table: prints it for a person.
            columns: the columns of the CSV.
            rows: the rows of the CSV.
        """
        if output().csv:
            output().records(columns, rows)
        elif output().json:
            output().result(
                {**document, **({"cypher": dict(answer.cypher)} if self.cypher else {})}
            )
        else:
            table()
            if self.cypher:
                print_queries(answer.cypher)

    def save(self, connection: Connection, answer: Any) -> None:
        """Write an answer as W3C PROV, if that was asked for."""
        if self.prov is None:
            return
        from whence.exporters import save
        from whence.store.catalog import find_run

        written = save(answer, self.prov, about=find_run(connection, answer.run))
        output().message(f"PROV in {written}")


def _showing(cypher: Cypher = False, prov: Prov = None) -> Showing:
    return Showing(cypher, prov)


shows = option_group("showing", _showing)
"""Gives a command the options on how its answer is shown; it is handed a `Showing`."""

shows_here = option_group("showing", _showing, without=("prov",))
"""The same for an answer that has no form in PROV."""


def ranges_text(ranges: Intervals, most: int | None = _RANGES_SHOWN, w: int = 1) -> str:
    """Ranges for a person; long ones are cut, and say how many are left out.

    >>> ranges_text(((0, 4), (9, 9)))
    '0-4, 9'
    >>> ranges_text(((40, 40), (50, 50), (70, 71)), w=10)
    '4-5, 7, 7:1'

    Args:
        ranges: the positions.
        most: the maximum number of ranges.
        w: of a stream inside a Slice, how many positions each one outside has.
    """
    if w > 1:
        return _inside(ranges, most, w)
    shown = [str(lo) if lo == hi else f"{lo}-{hi}" for lo, hi in ranges[:most]]
    left = 0 if most is None else len(ranges) - len(shown)
    return ", ".join(shown) + (f", … {left:,} more ranges" if left > 0 else "") if shown else "none"


def _inside(ranges: Intervals, most: int | None, w: int) -> str:
    """Positions inside a Slice, counted as the log does; further ones at a place by number."""
    from whence.engine.language.events import position_text
    from whence.engine.lineage.positions import joined

    ends = [(*divmod(lo, w), *divmod(hi, w)) for lo, hi in ranges]
    first = joined((a, b) for a, index, b, _ in ends if index == 0 or a != b)
    further = [
        position_text((a, index))
        for a, lo, b, hi in ends
        if a == b
        for index in range(max(lo, 1), hi + 1)
    ]
    text = ranges_text(first, most)
    left = 0 if most is None else len(further) - most
    more = [*further[:most], *([f"… {left:,} more"] if left > 0 else [])]
    return ", ".join([*([text] if first or not more else []), *more])


def print_text(text: str) -> None:
    """Print a line of the answer."""
    out = output()
    if out.form == "table":
        out.result(None, text)
    else:
        out.text(text)


def print_queries(queries: Mapping[str, str]) -> None:
    for name, text in queries.items():
        output().message(f"\n{text.rstrip()}", head=f"\n{name}.cypher")

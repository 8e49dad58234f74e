"""``whence journal``: who asked, exported or erased what, and when."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import Annotated

import typer

from whence.cli.asking import Record
from whence.cli.output import output

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def journal(
    last: Annotated[int, typer.Option("--last", min=1, help="Show so many entries.")] = 20,
    record: Record = None,
) -> None:
    """Show the journal of the record, once every line of it is held against the one before it.

    A line that was changed, removed or put in between is named, and the exit code is 1.
    """
    from whence.engine.record import record_place
    from whence.store.journal import read_journal

    entries = read_journal(record_place(record))
    rows = [
        {**asdict(each), "command": f"whence {shlex.join(each.words)}"} for each in entries[-last:]
    ]
    output().table(rows, ["number", "time", "who", "command"])
    if entries:
        output().say(f"{len(entries):,} entries, unbroken; the last digest is {entries[-1].digest}")

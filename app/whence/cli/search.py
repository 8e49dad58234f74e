"""``whence search``: which events have this case, activity, time or value?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.asking import Record, Showing, print_text, shows_here
from whence.cli.connecting import Server, connects
from whence.cli.output import output
from whence.cli.selecting import Selecting, selects

if TYPE_CHECKING:
    from whence.store.questions import Found

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_COLUMNS = ["event", "kind", "case", "activity", "time", "value", "moment"]


@app.command()
@connects
@shows_here
@selects
def search(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="The run's id, or latest.")
    ] = "latest",
    *,
    selecting: Selecting,
    value: Annotated[
        str | None, typer.Option("--value", help="Outputs with this value, such as false or 41.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Maximum number of events to show.")
    ] = 50,
    record: Record = None,
    showing: Showing,
    server: Server,
) -> None:
    """Find input events by case, activity, time or position, or outputs by value.

    With --value and a case or time: outputs with that value that appeared with such an event.
    """
    from whence.store.questions import search as ask

    chosen = selecting.selection()
    if chosen.empty and value is None:
        msg = "what to look for: expected --case, --activity, --since or --value; got none of them"
        raise typer.BadParameter(msg)
    with server.connect() as connection:
        found = ask(connection, run, chosen, value=value, most=limit, record=record)
    rows = [{"event": event.name, **asdict(event)} for event in found.events]
    document = {
        "run": found.run,
        "events": [asdict(event) for event in found.events],
        "count": found.count,
        "more": found.more,
    }
    showing.show(found, document, lambda: _print(found), _COLUMNS, rows)


def _print(found: Found) -> None:
    rows = [{"event": event.name, **asdict(event)} for event in found.events]
    used = [c for c in _COLUMNS if c == "event" or any(row[c] is not None for row in rows)]
    output().table(rows, used)
    if not rows:
        print_text(f"no output of run {found.run} has that value")
    elif found.more and found.count is not None:
        print_text(f"… {found.count - len(rows):,} more; --limit {found.count} shows all")
    elif found.more:
        print_text(f"… and more; --limit {10 * len(rows)} shows more of them")

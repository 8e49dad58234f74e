"""``whence trace``: where did an event go, and where does it come from?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import Record, Showing, print_text, ranges_text, shows_here
from whence.cli.connecting import Server, connects
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store.questions import Trace

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_COLUMNS = ["way", "run", "from", "from_lo", "from_hi", "to", "lo", "hi"]


@app.command()
@connects
@shows_here
def trace(
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="LOG@POSITION or PROCESSOR[.PIPE]@POSITION.")
    ],
    run: Annotated[
        str, typer.Option("--run", metavar="RUN", help="Run that the event name refers to.")
    ] = "latest",
    support: Annotated[
        bool, typer.Option("--support", help="Follow support instead of explanations.")
    ] = False,
    record: Record = None,
    *,
    showing: Showing,
    server: Server,
) -> None:
    """Trace an event: down through every run that used it, up through the runs that made it."""
    from whence.store.questions import trace as ask

    with server.connect() as connection:
        answer = ask(connection, event, run=run, support=support, record=record)
    rows: list[dict[str, Any]] = [
        {"way": way, "run": leg.run, "from": leg.source, "found": leg.found}
        for way, legs in (("up", answer.up), ("down", answer.down))
        for leg in legs
    ]
    flat = [
        {**row, "from": row["from"].name, "from_lo": a, "from_hi": b, "to": to, "lo": lo, "hi": hi}
        for row in rows
        for a, b in row["from"].ranges
        for to, lo, hi in [(s.name, lo, hi) for s in row["found"] for lo, hi in s.ranges]
        or [(None, None, None)]
    ]
    document = {name: value for name, value in asdict(answer).items() if name != "cypher"}
    showing.show(answer, document, lambda: _print(answer, rows), _COLUMNS, flat)


def _print(answer: Trace, rows: list[dict[str, Any]]) -> None:
    shown = [
        {
            "way": row["way"],
            "run": row["run"],
            "from": _text(row["from"]),
            "to": "; ".join(map(_text, row["found"])) or "nothing",
        }
        for row in rows
    ]
    if shown:
        output().table(shown, ["way", "run", "from", "to"])
    else:
        print_text(f"{_text(answer.event)}: no run that is in the graph made it or used it")
    for word, logs in (("corrects", answer.revises), ("is corrected by", answer.revised)):
        for log in logs:
            print_text(f"its log {word} the log {log}")
    for run, coverage in {leg.run: leg.coverage for leg in (*answer.up, *answer.down)}.items():
        print_text(f"coverage of {run}: {coverage}")


def _text(share: Any) -> str:
    return f"{share.name}@{ranges_text(share.ranges)}"

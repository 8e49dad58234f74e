"""``whence contribution``: which input events explain the most outputs?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import Record, Run, Showing, print_text, shows_here
from whence.cli.connecting import Server, connects
from whence.cli.output import output as out

if TYPE_CHECKING:
    from whence.store import Connection
    from whence.store.questions import Contribution, Responsibility

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_RANKED = ["log", "position", "outputs", "case", "activity", "time"]
_SHARED = ["log", "position", "responsibility", "exact"]


@app.command()
@connects
@shows_here
def contribution(
    run: Run,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", metavar="OUTPUT", help="One output: how much it depends on each input."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Maximum number of input events.")
    ] = 20,
    record: Record = None,
    *,
    showing: Showing,
    server: Server,
) -> None:
    """Rank input events by how many outputs they explain.

    With --output: the inputs of one output by their responsibility, 1/(1+m), where m is the fewest
    other inputs without which it would be necessary; of use in a run with --witnesses all.
    """
    with server.connect() as connection:
        if output is None:
            _ranking(connection, run, limit, record, showing)
        else:
            _sharing(connection, run, output, limit, record, showing)


def _ranking(connection: Connection, run: str, limit: int, record: Any, showing: Showing) -> None:
    from whence.store.questions import contribution as ask

    answer = ask(connection, run, most=limit, record=record)
    rows = [
        {name: getattr(each.event, name) for name in _RANKED if name != "outputs"}
        | {"outputs": each.outputs}
        for each in answer.ranked
    ]
    document = {
        "run": answer.run,
        "ranked": rows,
        "inputs": answer.inputs,
        "outputs": answer.outputs,
        "coverage": asdict(answer.coverage),
    }
    showing.show(answer, document, lambda: _print(answer, rows), _RANKED, rows)


def _print(answer: Contribution, rows: list[dict[str, Any]]) -> None:
    shown = [{**row, "input": f"{row['log']}@{row['position']}"} for row in rows]
    used = [c for c in ("case", "activity", "time") if any(row[c] is not None for row in rows)]
    out().table(shown, ["input", "outputs", *used])
    left = answer.inputs - len(rows)
    if left:
        print_text(f"… {left:,} more input events explain outputs; try --limit {answer.inputs}")
    print_text(f"of {answer.outputs:,} outputs; coverage: {answer.coverage}")


def _sharing(
    connection: Connection, run: str, output: str, limit: int, record: Any, showing: Showing
) -> None:
    from whence.store.questions import responsibility as ask

    answer = ask(connection, run, output, record=record)
    rows = [
        {
            "log": each.log,
            "position": each.position,
            "responsibility": float(each.share),
            "exact": each.exact,
        }
        for each in answer.inputs[:limit]
    ]
    document = {
        "run": answer.run,
        "output": answer.output,
        "inputs": rows,
        "more": len(answer.inputs) - len(rows),
        "alternatives": answer.alternatives,
        "more_alternatives": answer.more_alternatives,
        "coverage": asdict(answer.coverage),
    }
    showing.show(answer, document, lambda: _print_shares(answer, limit), _SHARED, rows)


def _print_shares(answer: Responsibility, limit: int) -> None:
    shown = [
        {
            "input": f"{each.log}@{each.position}",
            "responsibility": ("" if each.exact else "at most ") + str(each.share),
        }
        for each in answer.inputs[:limit]
    ]
    several = "1 witness" if answer.alternatives == 1 else f"{answer.alternatives} witnesses"
    more = ", and there are more" if answer.more_alternatives else ""
    print_text(f"{answer.output}: {several}{more}")
    out().table(shown, ["input", "responsibility"])
    left = len(answer.inputs) - limit
    if left > 0:
        print_text(f"… {left:,} more; try --limit {len(answer.inputs)}")
    print_text(f"coverage: {answer.coverage}")

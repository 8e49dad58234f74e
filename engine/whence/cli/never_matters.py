"""``whence never-matters``: which input events does no output need?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from whence.cli.asking import Run, Showing, ranges_text, share_text, shows, tell
from whence.cli.connecting import Server, connects
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store.questions import LogShare, NeverMatters

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command("never-matters")
@connects
@shows
def never_matters(
    run: Run,
    showing: Showing,
    server: Server,
) -> None:
    """Say which input events never mattered in a run.

    Certain: changing one of them changes nothing in this run. Softer: they explain no output, but
    the outputs may still lean on them.
    """
    from whence.store.questions import never_matters as ask

    with server.connect() as connection:
        answer = ask(connection, run)
        showing.save(connection, answer)
    rows = [
        {"answer": name, **_row(share)}
        for name, shares in (("certain", answer.certain), ("softer", answer.softer))
        for share in shares
    ]
    flat = [{**row, "lo": lo, "hi": hi} for row in rows for lo, hi in row["ranges"]]
    document = {"run": answer.run, "answers": rows, "coverage": asdict(answer.coverage)}
    showing.show(
        answer, document, lambda: _print(answer, rows), ["answer", "log", "lo", "hi"], flat
    )


def _print(answer: NeverMatters, rows: list[dict[str, Any]]) -> None:
    shown = [
        {
            **row,
            "events": f"{row['count']:,} of {row['length']:,}",
            "share": share_text(row["share"]),
            "positions": ranges_text(row["ranges"]),
        }
        for row in rows
    ]
    output().table(shown, ["answer", "log", "events", "share", "positions"])
    tell(f"coverage: {answer.coverage}")


def _row(share: LogShare) -> dict[str, Any]:
    return {
        "log": share.log,
        "count": share.count,
        "length": share.length,
        "share": share.share,
        "ranges": share.ranges,
    }

"""``whence impact``: which outputs stand, if some input events are corrupt?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import Run, Showing, ranges_text, share_text, shows, tell
from whence.cli.connecting import Server, connects
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store.questions import Impact

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_WORDS = {
    "unaffected": "unaffected (guaranteed)",
    "possibly": "possibly affected",
    "explained": "of these explained by them",
    "untracked": "not tracked, so unknown",
}


@app.command()
@connects
@shows
def impact(
    run: Run,
    inputs: Annotated[
        str, typer.Option("--inputs", metavar="POSITIONS", help="3,17-20 or LOG:3,OTHER:0-4.")
    ],
    showing: Showing,
    server: Server,
) -> None:
    """Say which outputs stand, and which may not, if some input events are corrupt.

    Unaffected is a guarantee: these outputs stay, whatever the corrupt events should have been.
    """
    from whence.store.questions import impact as ask
    from whence.store.questions.naming import parse_positions

    positions = parse_positions(inputs)
    with server.connect() as connection:
        answer = ask(connection, run, positions)
        showing.save(connection, answer)
    rows = _rows(answer)
    flat = [{**row, "lo": lo, "hi": hi} for row in rows for lo, hi in row["ranges"]]
    document = {
        "run": answer.run,
        "inputs": [{**asdict(share), "count": share.count} for share in answer.inputs],
        "answers": rows,
        "may_appear": list(answer.may_appear),
        "coverage": asdict(answer.coverage),
    }
    showing.show(
        answer, document, lambda: _print(answer, rows), ["answer", "output", "lo", "hi"], flat
    )


def _rows(answer: Impact) -> list[dict[str, Any]]:
    return [
        {
            "answer": name,
            "output": share.output,
            "count": share.count,
            "length": share.length,
            "ranges": share.ranges,
        }
        for name in _WORDS
        for share in getattr(answer, name)
        if name != "untracked" or share.count
    ]


def _print(answer: Impact, rows: list[dict[str, Any]]) -> None:
    shown = [
        {
            **row,
            "answer": _WORDS[row["answer"]],
            "outputs": f"{row['count']:,} of {row['length']:,}",
            "share": share_text(row["count"] / row["length"] if row["length"] else 0.0),
            "positions": ranges_text(row["ranges"]),
        }
        for row in rows
    ]
    output().table(shown, ["answer", "output", "outputs", "share", "positions"])
    appear = ", ".join(answer.may_appear)
    tell(
        f"outputs could appear that do not exist now: {appear}"
        if appear
        else "no output could appear that does not exist now"
    )
    tell(f"coverage: {answer.coverage}")

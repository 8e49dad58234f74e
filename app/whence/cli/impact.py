"""``whence impact``: which outputs hold if some input events are corrupt?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import Record, Run, Showing, print_text, ranges_text, shows
from whence.cli.connecting import Server, connects
from whence.cli.examples import examples
from whence.cli.output import output
from whence.cli.selecting import Selecting, selects
from whence.engine.lineage.words import share_text

if TYPE_CHECKING:
    from whence.store.questions import Impact

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_WORDS = {
    "unaffected": "unaffected (guaranteed)",
    "possibly": "may change",
    "explained": "explained by these events",
    "untracked": "not tracked, so unknown",
}


@app.command(
    epilog=examples(
        "whence impact latest --inputs 17,52",
        "whence impact latest --case A12 --csv",
    )
)
@connects
@shows
@selects
def impact(
    run: Run,
    selecting: Selecting,
    keys_corrupt: Annotated[
        bool, typer.Option("--keys-corrupt", help="Their slice keys may be wrong, too.")
    ] = False,
    order_corrupt: Annotated[
        bool, typer.Option("--order-corrupt", help="Their places in the log may be wrong, too.")
    ] = False,
    missing_corrupt: Annotated[
        bool,
        typer.Option("--missing-corrupt", help="Values may be missing, or present by mistake."),
    ] = False,
    record: Record = None,
    *,
    showing: Showing,
    server: Server,
) -> None:
    """List which outputs hold, and which may change, if some input events are wrong.

    Unaffected is a guarantee: these outputs stay the same, whatever the correct values are. The
    order of the events, their slice keys and their presence count as correct, unless an option says
    otherwise.
    """
    from whence.store.questions import impact as ask

    chosen = selecting.selection()
    if chosen.empty:
        msg = "which input events: expected --inputs, --case, --since or another; got none of them"
        raise typer.BadParameter(msg)
    with server.connect() as connection:
        answer = ask(
            connection,
            run,
            chosen,
            keys_corrupt=keys_corrupt,
            order_corrupt=order_corrupt,
            missing_corrupt=missing_corrupt,
            record=record,
        )
        showing.save(connection, answer)
    rows = _rows(answer)
    flat = [{**row, "lo": lo, "hi": hi} for row in rows for lo, hi in row["ranges"]]
    document = {
        "run": answer.run,
        "inputs": [{**asdict(share), "count": share.count} for share in answer.inputs],
        "answers": rows,
        "may_appear": list(answer.may_appear),
        "doubts": list(answer.doubts),
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
    print_text(
        f"outputs could appear that do not exist now: {appear}"
        if appear
        else "no output could appear that does not exist now"
    )
    if answer.doubts:
        print_text(f"also in doubt, besides values: {', '.join(answer.doubts)}")
    print_text(f"coverage: {answer.coverage}")

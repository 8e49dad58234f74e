"""``whence never-matters``: which input events does no output need?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import Record, Run, Showing, print_text, ranges_text, shows
from whence.cli.connecting import Server, connects
from whence.cli.examples import examples
from whence.cli.output import output
from whence.engine.lineage.words import share_text

if TYPE_CHECKING:
    from whence.store.questions import LogShare, NeverMatters

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(
    "never-matters",
    epilog=examples(
        "whence never-matters latest",
        "whence never-matters latest --by activity",
    ),
)
@connects
@shows
def never_matters(
    run: Run,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="WHAT", help="Group by case, activity or field."),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the certain events one by one.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Maximum number of events or groups to list.")
    ] = 50,
    record: Record = None,
    *,
    showing: Showing,
    server: Server,
) -> None:
    """List the input events that never mattered in a run.

    Certain: changing one of them changes nothing in this run. Unused: they explain no output, but
    outputs may still depend on them.
    """
    from whence.store.questions import InputRange, find_run, input_events
    from whence.store.questions import never_matters as ask

    with server.connect() as connection:
        answer = ask(connection, run, by=by, record=record)  # type: ignore[arg-type]
        showing.save(connection, answer)
        events = []
        if listed:
            ranges = [
                InputRange(share.log, lo, hi) for share in answer.certain for lo, hi in share.ranges
            ]
            found = find_run(connection, answer.run)
            events = input_events(connection, found, ranges, limit, record)
    rows = [
        {"answer": name, **_row(share)}
        for name, shares in (("certain", answer.certain), ("softer", answer.softer))
        for share in shares
    ]
    groups = [asdict(group) for group in answer.groups]
    told = [{name: row[name] for name in _EVENTS} for row in map(asdict, events)]
    document: dict[str, Any] = {
        "run": answer.run,
        "answers": rows,
        "coverage": asdict(answer.coverage),
        **({"by": by, "groups": groups} if by else {}),
        **({"events": told, "more": _left(answer, told) > 0} if listed else {}),
    }
    columns, flat = (
        ["answer", "log", "lo", "hi"],
        [{**row, "lo": lo, "hi": hi} for row in rows for lo, hi in row["ranges"]],
    )
    if listed:
        columns, flat = list(_EVENTS), told
    elif by:
        columns, flat = ["log", "group", "certain", "softer", "length", "given"], groups
    showing.show(
        answer, document, lambda: _print(answer, rows, groups, told, limit, listed), columns, flat
    )


_LABELS = {"certain": "certain", "softer": "unused"}
"""How a person reads the two answers; programs read the names."""
_EVENTS = ("log", "position", "case", "activity", "time")


def _left(answer: NeverMatters, told: list[dict[str, Any]]) -> int:
    return sum(share.count for share in answer.certain) - len(told)


def _print(
    answer: NeverMatters,
    rows: list[dict[str, Any]],
    groups: list[dict[str, Any]],
    told: list[dict[str, Any]],
    limit: int,
    listed: bool,
) -> None:
    shown = [
        {
            **row,
            "answer": _LABELS[row["answer"]],
            "events": f"{row['count']:,} of {row['length']:,}",
            "share": share_text(row["share"]),
            "positions": ranges_text(row["ranges"]),
        }
        for row in rows
    ]
    output().table(shown, ["answer", "log", "events", "share", "positions"])
    if groups:
        output().table(
            [_group(group) for group in groups[:limit]],
            ["log", str(answer.by), "events", *_LABELS.values()],
        )
        if len(groups) > limit:
            print_text(f"… {len(groups) - limit:,} more; --limit {len(groups)} shows all")
    if listed:
        used = [c for c in _EVENTS if any(row[c] is not None for row in told)]
        output().table(told, used)
        left = _left(answer, told)
        if left > 0:
            print_text(f"… {left:,} more; --limit {left + len(told)} shows all")
    print_text(f"coverage: {answer.coverage}")


def _group(group: dict[str, Any]) -> dict[str, Any]:
    length = group["length"]
    kinds = {
        label: f"{group[name]:,} ({share_text(group[name] / length if length else 0.0)})"
        for name, label in _LABELS.items()
    }
    if group["given"]:
        kinds = dict.fromkeys(_LABELS.values(), "a slice key: given")
    name = "(none)" if group["group"] is None else group["group"]
    label = {by: name for by in ("case", "activity", "field")}
    return {"log": group["log"], "events": f"{length:,}", **label, **kinds}


def _row(share: LogShare) -> dict[str, Any]:
    return {
        "log": share.log,
        "count": share.count,
        "length": share.length,
        "share": share.share,
        "ranges": share.ranges,
    }

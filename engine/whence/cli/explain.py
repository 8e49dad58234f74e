"""``whence explain``: which input events are the reason for this output?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import Record, Run, Showing, ranges_text, shows, tell
from whence.cli.connecting import Server, connects
from whence.cli.output import output

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from whence.store.questions import InputEvent, InputRange, Why

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_COLUMNS = ["log", "position", "fields", "case", "activity", "time", "value"]
_ALTERNATIVES_SHOWN = 8
_WIDEST = 60
"""Characters of an input event's values in the table."""


@app.command()
@connects
@shows
def explain(
    run: Run,
    event: Annotated[
        str,
        typer.Argument(
            metavar="OUTPUT", help="[PROCESSOR[.PIPE]@]POSITION; the only output pipe by default."
        ),
    ],
    support: Annotated[
        bool, typer.Option("--support", help="Say as well which input events are enough for it.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="List so many input events one by one.")
    ] = 50,
    marked: Annotated[
        str | None,
        typer.Option(
            "--marked",
            metavar="[LOG=]FILE",
            help="Write the log again, the events marked: .xes or .jsonocel.",
        ),
    ] = None,
    record: Record = None,
    *,
    showing: Showing,
    server: Server,
) -> None:
    """Explain an output: which input events, and which of their fields, are the reason for it.

    Values of input events are shown if the record is there; the answer itself is the graph's. If
    the run kept all witnesses, every alternative is shown.
    """
    from whence.store.questions import explain as ask

    with server.connect() as connection:
        why = ask(connection, run, event, support=support, most=limit, record=record)
        showing.save(connection, why)
    if marked is not None:
        _mark(why, marked, record)
    values = _values(why, record)
    rows = _rows(why.events, values)
    columns, flat = _COLUMNS, rows
    if why.alternatives is not None:
        columns = ["witness", *_COLUMNS]
        others = enumerate((_rows(each.events, values) for each in why.alternatives[1:]), start=1)
        flat = [{"witness": 0, **row} for row in rows]
        flat += [{"witness": n, **row} for n, several in others for row in several]
    showing.show(why, _document(why, rows), lambda: _print(why, rows), columns, flat)


def _mark(why: Why, wanted: str, record: Path | None) -> None:
    """Write a log of the run with marks on the events of the answer."""
    from pathlib import Path

    from whence.engine.errors import ParameterError
    from whence.engine.record import RunRecord, record_place
    from whence.exporters.marked import marks_of, save_marked

    kept = RunRecord(record_place(record), why.run)
    logs = list(kept.manifest["logs"])
    name, sign, file = wanted.partition("=")
    if not sign:
        name, file = logs[0], wanted
        if len(logs) > 1:
            msg = (
                f"--marked: expected LOG=FILE, as there are several logs; got {wanted!r}; "
                f"try {logs[0]}={wanted}"
            )
            raise ParameterError(msg)
    if name not in logs:
        msg = f"--marked: expected a log of the run; got {name!r}; try {', '.join(logs)}"
        raise ParameterError(msg)
    written = save_marked(kept.log(name), marks_of(why, name), Path(file))
    output().say(f"the marked log is in {written}")


def _rows(events: Sequence[InputEvent], values: dict[tuple[str, int], Any]) -> list[dict[str, Any]]:
    return [
        {
            "log": event.log,
            "position": event.position,
            "fields": None if event.fields is None else list(event.fields),
            "case": event.case,
            "activity": event.activity,
            "time": event.time,
            "value": values.get((event.log, event.position)),
        }
        for event in events
    ]


def _values(why: Why, record: Path | None) -> dict[tuple[str, int], Any]:
    """The values of the listed events, as far as the record is there."""
    from whence.engine.errors import WhenceError
    from whence.engine.notation import value_json
    from whence.engine.record import LogRecord, RunRecord, record_place

    found: dict[tuple[str, int], Any] = {}
    logs: dict[str, LogRecord] = {}
    parts: dict[tuple[str, int], list[Any]] = {}
    try:
        kept = RunRecord(record_place(record), why.run)
        others = [e for each in (why.alternatives or ())[1:] for e in each.events]
        for event in (*why.events, *others):
            if (event.log, event.position) in found:
                continue
            log = logs.setdefault(event.log, logs.get(event.log) or kept.log(event.log))
            part, at = divmod(event.position, log.manifest["chunk"])
            if (event.log, part) not in parts:
                parts[event.log, part] = log.events(log.part(part))
            value = parts[event.log, part][at]
            if event.fields and isinstance(value, dict):
                value = {name: value[name] for name in event.fields if name in value}
                if not value:
                    continue  # a log that was imported without its values
            if isinstance(value, dict):
                value = {name: value_json(each) for name, each in value.items()}
            else:
                value = value_json(value)
            found[event.log, event.position] = value
    except (WhenceError, OSError):
        output().say("the record is not there: values of input events are left out")
    return found


def _document(why: Why, rows: list[dict[str, Any]]) -> dict[str, Any]:
    from dataclasses import asdict

    document = {
        "run": why.run,
        "output": asdict(why.output),
        "count": why.count,
        "inputs": [asdict(each) for each in why.inputs],
        "events": rows,
        "support": None if why.support is None else [asdict(each) for each in why.support],
        "coverage": asdict(why.coverage),
    }
    if why.alternatives is None:
        return document
    document["alternatives"] = [
        [{"log": each.log, "lo": each.lo, "hi": each.hi} for each in witness.ranges]
        for witness in why.alternatives
    ]
    return {**document, "more_alternatives": why.more_alternatives}


def _print(why: Why, rows: list[dict[str, Any]]) -> None:
    out = output()
    told = why.output
    events = "1 input event" if why.count == 1 else f"{why.count:,} input events"
    value = "missing" if told.kind == "missing" else _text(told.value)
    tell(f"{told.label} is {value} (after input {told.moment}), explained by {events}")
    shown = [
        {
            **row,
            "input": f"{row['log']}@{row['position']}",
            "fields": None if row["fields"] is None else ", ".join(row["fields"]) or "(is there)",
            "value": _cut(_text(row["value"])) if row["value"] is not None else None,
        }
        for row in rows
    ]
    columns = ["input", "fields", "case", "activity", "time", "value"]
    used = [c for c in columns if c == "input" or any(row[c] is not None for row in shown)]
    out.table(shown, used)
    if why.count > len(rows):
        tell(f"… {why.count - len(rows):,} more; all: {_ranges(why.inputs)}")
    others = (why.alternatives or ())[1:]
    for witness in others[:_ALTERNATIVES_SHOWN]:
        tell(f"or else by {_ranges(witness.ranges)}")
    left = len(others) - _ALTERNATIVES_SHOWN
    if left > 0 or why.more_alternatives:
        least = "at least " if why.more_alternatives else ""
        tell(f"… and {least}{max(left, 1):,} more alternatives")
    if why.support is not None:
        tell(f"supported by {_ranges(why.support)}")
    tell(f"coverage: {why.coverage}")


def _ranges(inputs: tuple[InputRange, ...]) -> str:
    from whence.store.places import joined

    logs = dict.fromkeys(each.log for each in inputs)
    return (
        "; ".join(
            f"{log}@{ranges_text(joined((e.lo, e.hi) for e in inputs if e.log == log))}"
            for log in logs
        )
        or "nothing"
    )


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={_text(each)}" for name, each in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"

"""How the answers of ``whence explain`` are shown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whence.cli.asking import print_text, ranges_text
from whence.cli.output import output

if TYPE_CHECKING:
    from pathlib import Path

    from whence.store.questions import InputEvent, InputRange, Why

__all__ = ["Shown", "flat_rows", "mark", "rows_of", "values_of"]

_COLUMNS = ["log", "position", "fields", "case", "activity", "time", "value"]
_ALTERNATIVES_SHOWN = 8
_WIDEST = 60
"""Characters of an input event's values in the table."""

Rows = list[list[dict[str, Any]]]
"""The input events of each witness, the first one first."""


@dataclass(frozen=True)
class Shown:
    """An answer and what is shown of it.

    Attributes:
        why: the answer.
        rows: its input events, witness by witness.
        told: the routes, the words and the drawing, as far as requested.
    """

    why: Why
    rows: Rows
    told: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        not_of = {} if self.why.not_of is None else {"not_of_case": self.why.not_of}
        return {**_document(self.why, self.rows[0]), **not_of, **self.told}

    def print(self) -> None:
        _print(self.why, self.rows[0], self.told)


def rows_of(why: Why, values: Mapping[tuple[str, int], Any]) -> Rows:
    """The input events of each witness, with their values."""
    others = (why.alternatives or ())[1:]
    return [_rows(why.events, values), *(_rows(each.events, values) for each in others)]


def flat_rows(shown: Sequence[Shown]) -> tuple[list[str], list[dict[str, Any]]]:
    """The columns and rows of the CSV; of several outputs, with the output's name."""
    columns = list(_COLUMNS)
    several = len(shown) > 1
    if any(each.why.alternatives is not None for each in shown):
        columns = ["witness", *columns]
    if several:
        columns = ["output", *columns]
    flat = [
        {"output": each.why.output.label, "witness": number, **row}
        for each in shown
        for number, rows in enumerate(each.rows)
        for row in rows
    ]
    return columns, flat


def values_of(why: Why, record: Path | None) -> dict[tuple[str, int], Any]:
    """The values of the listed events, as JSON has them, as far as the record is there."""
    from whence.engine.values.value_json import value_json
    from whence.store.questions.in_record import input_values

    others = [e for each in (why.alternatives or ())[1:] for e in each.events]
    fields = {(e.log, e.position): e.fields for e in (*others, *why.events)}
    found = input_values(why.run, fields, record)
    erased = [e for e in (*others, *why.events) if e.erased]
    if len(fields) > len(erased) and not found:
        output().message("the record is not there: values of input events are left out")
    told: dict[tuple[str, int], Any] = {}
    for place, value in found.items():
        if isinstance(value, Mapping):
            kept = {n: value_json(value[n]) for n in fields[place] or value if n in value}
            if kept:  # a log may have been imported without its values
                told[place] = kept
        else:
            told[place] = value_json(value)
    return told


def mark(why: Why, wanted: str, record: Path | None) -> None:
    """Write a log of the run with marks on the events of the answer."""
    from pathlib import Path

    from whence.engine.errors import ParameterError
    from whence.engine.record import RunRecord, record_place
    from whence.exporters.marked import marks_of, save_marked

    kept = RunRecord(record_place(record), why.run)
    logs = list(kept.manifest.logs)
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
    output().message(f"the marked log is in {written}")


def _rows(
    events: Sequence[InputEvent], values: Mapping[tuple[str, int], Any]
) -> list[dict[str, Any]]:
    return [
        {
            "log": event.log,
            "position": event.position,
            "fields": None if event.fields is None else list(event.fields),
            "case": event.case,
            "activity": event.activity,
            "time": event.time,
            "value": values.get((event.log, event.position)),
            **({"erased": True} if event.erased else {}),
        }
        for event in events
    ]


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


def _print(why: Why, rows: list[dict[str, Any]], told_more: Mapping[str, Any]) -> None:
    out = output()
    told = why.output
    events = "1 input event" if why.count == 1 else f"{why.count:,} input events"
    value = told.kind if told.kind in ("missing", "erased") else _text(told.value)
    after = f" (after input {told.moment})" if told.moment >= 0 else ""
    print_text(f"{told.label} is {value}{after}, explained by {events}")
    shown = [
        {
            **row,
            "input": f"{row['log']}@{row['position']}",
            "fields": None if row["fields"] is None else ", ".join(row["fields"]) or "(is there)",
            "value": _shown_value(row),
        }
        for row in rows
    ]
    columns = ["input", "fields", "case", "activity", "time", "value"]
    used = [c for c in columns if c == "input" or any(row[c] is not None for row in shown)]
    out.table(shown, used)
    if why.count > len(rows):
        print_text(f"… {why.count - len(rows):,} more; all: {_ranges(why.inputs)}")
    others = (why.alternatives or ())[1:]
    for witness in others[:_ALTERNATIVES_SHOWN]:
        print_text(f"or else by {_ranges(witness.ranges)}")
    left = len(others) - _ALTERNATIVES_SHOWN
    if left > 0 or why.more_alternatives:
        least = "at least " if why.more_alternatives else ""
        print_text(f"… and {least}{max(left, 1):,} more alternatives")
    if why.support is not None:
        print_text(f"supported by {_ranges(why.support)}")
    for sentence in told_more.get("words", ()):
        print_text(sentence)
    for number, route in enumerate(told_more.get("routes", ()), start=1):
        steps = (f"{s['event']}" + (f" ({s['value']})" if s["value"] else "") for s in route)
        print_text(f"route {number}: " + " <- ".join(steps))
    if told_more.get("more_routes"):
        print_text("… and longer routes, or more as long; --routes N shows more of them")
    print_text(f"coverage: {why.coverage}")


def _shown_value(row: Mapping[str, Any]) -> str | None:
    if row.get("erased"):
        return "erased"
    return None if row["value"] is None else _cut(_text(row["value"]))


def _ranges(inputs: tuple[InputRange, ...]) -> str:
    from whence.engine.lineage.positions import joined

    logs = dict.fromkeys(each.log for each in inputs)
    return (
        "; ".join(
            f"{log}@{ranges_text(joined((e.lo, e.hi) for e in inputs if e.log == log))}"
            for log in logs
        )
        or "nothing"
    )


def _plain(value: Any) -> Any:
    """A value inside an event as a person writes it: the key of its kind is for programs.

    >>> _plain({"instant": "2026-03-03T22:00:00+00:00"}), _plain({"float": "NaN"}), _plain(3)
    ('2026-03-03T22:00:00+00:00', 'NaN', 3)
    """
    if isinstance(value, dict) and len(value) == 1:
        (kind, each), *_ = value.items()
        return each if kind in ("instant", "float", "record") else value
    return value


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={_text(_plain(each))}" for name, each in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"

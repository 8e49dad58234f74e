"""Events of a log as a table: the log's own columns, the fields that matter standing out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from whence.engine.lineage.words import value_text
from whence.engine.values import Value
from whence.store.catalog import RunGraph
from whence.store.questions.in_record import input_values
from whence.web.asking import Asker
from whence.web.html import Html, Inside, el, shown
from whence.web.pieces import table

__all__ = ["LogEvent", "cell", "event_name", "events_of", "events_table", "numeric_columns"]

LONG = 1_000_000


@dataclass(frozen=True)
class LogEvent:
    """An event of a log.

    Attributes:
        log: the log's name.
        position: its position.
        value: its value, of a record its columns; ``None`` if the record is not there.
        fields: the fields that matter; ``None`` for all of them.
        case: what the graph knows, if the record is not there.
        activity: likewise.
        time: likewise.
    """

    log: str
    position: int
    value: Any
    fields: tuple[str, ...] | None = None
    case: Any = None
    activity: Any = None
    time: Any = None

    def columns(self) -> Mapping[str, Value]:
        """What is known of it, by column."""
        if isinstance(self.value, Mapping):
            return self.value
        if self.value is not None:
            return {"value": self.value}
        known = {"case": self.case, "activity": self.activity, "time": self.time}
        return {name: each for name, each in known.items() if each is not None}


def events_of(asker: Asker, run: RunGraph, events: Iterable[Any]) -> list[LogEvent]:
    """Input events of an answer, with the values that the record has of them."""
    several = list(events)
    values = input_values(run.id, [(e.log, e.position) for e in several], asker.record)
    return [
        LogEvent(
            e.log, e.position, values.get((e.log, e.position)), e.fields, e.case, e.activity, e.time
        )
        for e in several
    ]


def cell(value: Value) -> Html:
    """A value in a table."""
    if isinstance(value, datetime):
        text = value.isoformat(sep=" ", timespec="seconds").replace("+00:00", "")
        return el("time", text, datetime=value.isoformat())
    if value is None:
        return el("span", "missing", class_="missing")
    if isinstance(value, bool):
        return el("span", "true" if value else "false", class_="true" if value else "false")
    return shown(value_text(value, most=LONG))


def numeric_columns(events: Iterable[Mapping[str, Value]]) -> set[str]:
    """The columns of numbers, which are right-aligned."""
    return {
        name
        for event in events
        for name, value in event.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }


def event_name(run: RunGraph, event: LogEvent) -> Inside:
    """An event in a sentence: what was done, in which case, when; as far as that is mapped."""
    log = run.log_named(event.log)
    known = event.columns()
    words: list[Inside] = [el("b", f"{event.log}@{event.position}", class_="name")]
    activity, case, time = (
        known.get(log.mapped.get(role, role)) for role in ("activity", "case", "time")
    )
    if activity is not None:
        words += [" ", el("em", cell(activity))]
    about: list[Inside] = []
    if case is not None:
        about += ["case ", cell(case)]
    if time is not None:
        about += [", " if about else "", cell(time)]
    if not about and activity is None and known:
        some = {n: v for n, v in known.items() if event.fields is None or n in event.fields}
        about = [shown(value_text(some or dict(known), most=80))]
    return [words, [" (", about, ")"] if about else ""]


def events_table(
    run: RunGraph, events: Sequence[LogEvent], *, marks: Mapping[int, bool] | None = None
) -> Html:
    """Events below each other.

    Args:
        run: the run.
        events: the events.
        marks: by position whether it is marked; rows then begin with a box to mark them.
    """
    columns = list(dict.fromkeys(name for event in events for name in event.columns()))
    head: list[Inside] = [] if marks is None else ["Mark"]
    head += ["Event"]
    numeric = numeric_columns(event.columns() for event in events)
    numbers = [place for place, name in enumerate(columns, len(head)) if name in numeric]
    rows = []
    for event in events:
        known = event.columns()
        at = event.position
        cells: list[Inside] = []
        if marks is not None:
            box = el(
                "input",
                type="checkbox",
                name="mark",
                value=at,
                checked=marks.get(at, False),
                aria_label=f"mark {event.log}@{at}",
                id=f"e{at}",
            )
            cells.append(el("td", box, class_="mark"))
        name = el("span", f"{event.log}@{at}", class_="name")
        cells.append(
            el("th", el("label", name, for_=f"e{at}") if marks is not None else name, scope="row")
        )
        for column in columns:
            matters = event.fields is None or column in event.fields or marks is not None
            looks = ["n"] * (column in numeric) + ["beside"] * (not matters)
            cells.append(
                el(
                    "td",
                    cell(known[column]) if column in known else "",
                    class_=" ".join(looks) or None,
                )
            )
        rows.append(el("tr", cells))
    return table([*head, *(shown(name, 40) for name in columns)], rows, "events", numbers)

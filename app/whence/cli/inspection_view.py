"""How a look at a log is shown: text that fits a terminal, data for programs, YAML to paste."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from whence.cli.output import several
from whence.engine.language.log import ROLES, Log
from whence.engine.sources.inspection import Column, Inspection
from whence.engine.sources.mapping import WHY
from whence.engine.values.value_json import value_json

__all__ = ["document", "questions", "view", "yaml_text"]

_WIDEST = 60


def document(found: Inspection) -> dict[str, Any]:
    """Everything, as plain data."""
    times = found.times
    return {
        "log": found.name,
        "format": found.format,
        "events": found.events,
        "cases": found.cases,
        "activities": found.activities,
        "time": None
        if times is None
        else {
            "read_as": times.kind,
            "first": _moment(times.first),
            "last": _moment(times.last),
            "out_of_order": times.back,
            "out_of_order_in_case": times.back_in_case,
            "ties": times.ties,
            "ties_in_case": times.ties_in_case,
        },
        "mapping": {
            role: {"column": r.column, "why": r.why, "others": list(r.others)}
            for role, r in found.roles.items()
        },
        "columns": [
            {
                "name": c.name,
                "kind": c.kind,
                "proposed": c.proposed,
                "ambiguous": list(c.ambiguous),
                "commas": c.commas,
                "missing": c.missing,
                "distinct": c.distinct,
            }
            for c in found.columns
        ],
        "decimal": found.decimal,
        "first": [{name: value_json(value) for name, value in row.items()} for row in found.first],
        "report": found.report.json(),
    }


def view(found: Inspection) -> RenderableType:
    """For a person: nothing is wider than the terminal."""
    parts: list[RenderableType] = [*_summary(found), Text(), _mapping(found), Text()]
    parts.append(_columns(found.columns))
    parts += [Text(line) for line in questions(found)]
    if found.first:
        parts += [Text(), _first(found)]
    return Group(*parts)


def questions(found: Inspection) -> list[str]:
    """What only the user can know, or has to say, a line each."""
    asked = [_which(column) for column in found.columns if column.ambiguous]
    asked += [
        f"{column.name}: a comma can be a decimal sign or separate thousands; "
        "if it is a decimal sign, add --decimal ,"
        for column in found.columns
        if column.commas
    ]
    if found.decimal is not None:
        asked.append(f"numbers have decimal commas; read them with --decimal {found.decimal}")
    return asked


def yaml_text(found: Inspection, reading: Log) -> str:
    """The proposal in the form of a chain file, with what was stated to read the log."""
    import yaml

    tree = {"logs": {"log": Log(**found.declaration()).over(reading).tree()}}
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=10_000).rstrip()


def _summary(found: Inspection) -> list[Text]:
    counts = f"{found.name} ({found.format}): {_plural(found.events, 'event')}"
    for role, number, word in (
        ("case", found.cases, "case"),
        ("activity", found.activities, "activity"),
    ):
        if role in found.roles:
            counts += f", {_plural(number, word)}"
    lines = [counts]
    times = found.times
    if not found.events:
        lines.append("an empty log")
    elif "time" not in found.roles:
        lines.append("time   no column is known to hold it (--time COLUMN)")
    elif times is None and _time_column(found).ambiguous:
        lines.append("time   day and month can be swapped; see below")
    elif times is None:
        lines.append("time   not readable as one; state how it is written with --type")
    elif times.first is None:
        lines.append("time   no event has one")
    else:
        lines.append(f"time   {_moment(times.first)} to {_moment(times.last)}")
        with_case = "case" in found.roles
        if times.back:
            inside = _inside(times.back_in_case, with_case)
            back = f"{_plural(times.back, 'neighbour')} out of time order{inside}"
            lines.append(f"order  {back} (--order time sorts)")
        else:
            lines.append("order  already sorted by time")
        inside = _inside(times.ties_in_case, with_case and times.ties > 0)
        lines.append(f"ties   {_plural(times.ties, 'neighbour')} at the same time{inside}")
    return [Text(line) for line in lines]


def _time_column(found: Inspection) -> Column:
    return next(c for c in found.columns if c.name == found.roles["time"].column)


def _which(column: Column) -> str:
    """Ask how the times of a column are written."""
    ways = " or ".join(f"--type '{column.name}={kind}'" for kind in column.ambiguous)
    count = {2: "both"}.get(len(column.ambiguous), f"all {len(column.ambiguous)}")
    return f"{column.name}: {' and '.join(column.ambiguous)} {count} fit; say which: {ways}"


def _inside(count: int, known: bool) -> str:
    return f", {count:,} of them in one case" if known else ""


def _mapping(found: Inspection) -> Table:
    rows = []
    for role in ROLES:
        if role not in found.roles:
            if role != "id":
                rows.append((role, "-", f"no customary name; state it with --{role}"))
            continue
        chosen = found.roles[role]
        why = WHY[chosen.why]
        if chosen.others:
            why += f"; or {', '.join(chosen.others)}"
        rows.append((role, chosen.column, why))
    return _table(("mapping", "column", "why"), rows)


def _columns(columns: Sequence[Column]) -> Table:
    rows = [
        (
            c.name,
            c.kind,
            "which date?" if c.ambiguous else c.proposed or "-",
            f"{c.missing:,}",
            ">1,000" if c.distinct is None else f"{c.distinct:,}",
        )
        for c in columns
    ]
    return _table(("column", "kind", "would read as", "missing", "distinct"), rows, right=2)


def _first(found: Inspection) -> RenderableType:
    names = [c.name for c in found.columns if any(row[c.name] is not None for row in found.first)]
    rows = [(name, *(_cell(row[name]) for row in found.first)) for name in names]
    table = _table(("first rows", *(f"row {row['row'] + 1}" for row in found.first)), rows)
    left = len(found.columns) - len(names)
    if not left:
        return table
    return Group(table, Text(f"and {_plural(left, 'column')} without a value in these rows"))


def _table(names: Sequence[str], rows: Sequence[Sequence[str]], right: int = 0) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(names):
        justify: Any = "right" if number >= len(names) - right else "left"
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*(Text(_short(cell)) for cell in row))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return ""  # and not "-", which is a text that logs hold
    if isinstance(value, datetime):
        return _moment(value) or ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"


def _moment(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat().replace("+00:00", "Z")


def _plural(count: int | None, word: str) -> str:
    many = several(0, word).removeprefix("0 ")
    return f"very many {many}" if count is None else several(count, word)

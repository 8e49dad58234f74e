"""The options on how logs are read: the same on every command that reads one.

A command that is decorated with `reads_logs` has them all, and is handed what they say as one
`Log`, in the words of a chain file.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from whence.cli.option_groups import option_group
from whence.engine.language.log import Log

__all__ = ["key_values", "looks_at_logs", "reads_logs"]

# A key may hold the sign itself, and so may the form of a time, in its brackets.
_KEY_VALUE = re.compile(r"(.+)=(instant\(.*\)|[^=()]*)", re.DOTALL)

_PANEL: dict[str, Any] = {"rich_help_panel": "How logs are read"}
_COLUMN: dict[str, Any] = {"metavar": "COLUMN", **_PANEL}

Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="COLUMN=KIND",
        help="The kind of a column: p=integer, at='instant(%d.%m.%Y)'.",
        **_PANEL,
    ),
]
Case = Annotated[str | None, typer.Option("--case", help="Column of the case.", **_COLUMN)]
Activity = Annotated[
    str | None, typer.Option("--activity", help="Column of the activity.", **_COLUMN)
]
Time = Annotated[str | None, typer.Option("--time", help="Column of the time.", **_COLUMN)]
Id = Annotated[str | None, typer.Option("--id", help="Column that names each event.", **_COLUMN)]
Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="file|time|COLUMN,…",
        help="Sort events by this; ties stay in file order.",
        **_PANEL,
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="first|last",
        help="Place of events without a value to order by; else refused.",
        **_PANEL,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--log-format",
        metavar="csv|xes|…",
        help="Format of the log, if its file name does not show it.",
        **_PANEL,
    ),
]
Delimiter = Annotated[str | None, typer.Option("--delimiter", help="Separator of cells.", **_PANEL)]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of the text; else utf-8.", **_PANEL)
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first row is an event, not names.", **_PANEL)
]
Pattern = Annotated[
    str | None,
    typer.Option("--pattern", help="Lines of a text log: combined, or an expression.", **_PANEL),
]
ObjectType = Annotated[
    str | None,
    typer.Option("--object-type", help="OCEL: objects of this type are the cases.", **_PANEL),
]
Timezone = Annotated[
    str | None, typer.Option("--timezone", help="Zone of times without one; else UTC.", **_PANEL)
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", metavar=".|,", help="Decimal sign of numbers; else .", **_PANEL),
]
Sheet = Annotated[
    str | None,
    typer.Option("--sheet", help="Sheet of an .xlsx file; else the first.", **_PANEL),
]
OnBad = Annotated[
    str | None,
    typer.Option(
        "--on-bad",
        metavar="refuse|drop|keep",
        help="Rows that do not fit: refuse the log, drop the row, or drop the value.",
        **_PANEL,
    ),
]
LogLimit = Annotated[
    list[str] | None,
    typer.Option(
        "--log-limit", metavar="NAME=N", help="Raise a limit: events=2000000000.", **_PANEL
    ),
]


def _stated(
    types: Types = None,
    case: Case = None,
    activity: Activity = None,
    time: Time = None,
    id: Id = None,
    order: Order = None,
    missing: Missing = None,
    format: Format = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    pattern: Pattern = None,
    object_type: ObjectType = None,
    timezone: Timezone = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    on_bad: OnBad = None,
    log_limit: LogLimit = None,
) -> Log:
    """What the options say, as a declaration."""
    limits = {}
    for name, value in key_values(log_limit, "--log-limit", "NAME=N", "events=2000000000").items():
        plain = value.replace("_", "")
        if not plain.isdigit():
            msg = f"expected a whole number; got {value!r}; try {name}=2000000000"
            raise typer.BadParameter(msg, param_hint="--log-limit")
        limits[name] = int(plain)
    return Log(
        columns=key_values(types, "--type", "COLUMN=KIND", "{}=integer") or None,
        case=case,
        activity=activity,
        time=time,
        id=id,
        order=_order(order),
        missing=missing,
        format=format,
        delimiter={"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter),
        encoding=encoding,
        header=False if no_header else None,
        pattern=pattern,
        object_type=object_type,
        timezone=timezone,
        decimal=decimal,
        sheet=sheet,
        on_bad=on_bad,
        limits=limits or None,
    )


reads_logs = option_group("reading", _stated)
"""Gives a command the options on how logs are read; it is handed them as ``reading``."""

looks_at_logs = option_group("reading", _stated, without=("order", "missing"))
"""The same for a command that leaves events in the order of the file."""


def key_values(given: list[str] | None, option: str, form: str, example: str) -> dict[str, str]:
    """Read ``KEY=VALUE`` options; the key may hold ``=`` itself.

    >>> key_values(["a=b=integer", "at=instant(%Y=%m)"], "--type", "COLUMN=KIND", "")
    {'a=b': 'integer', 'at': 'instant(%Y=%m)'}
    """
    found = {}
    for each in given or []:
        parts = _KEY_VALUE.fullmatch(each)
        if parts is None:
            msg = f"expected {form}; got {each!r}; try {example.format(each)}"
            raise typer.BadParameter(msg, param_hint=option)
        found[parts[1]] = parts[2]
    return found


def _order(given: str | None) -> str | tuple[str, ...] | None:
    if given is None or "," not in given:
        return given
    return tuple(part for part in given.split(",") if part)

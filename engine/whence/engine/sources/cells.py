"""Cells of a table as values: text unless declared otherwise, and nothing guessed.

A kind is one word, or ``instant(FORMAT)`` for times that are not written as ISO 8601.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from math import isfinite
from zoneinfo import ZoneInfo

from whence.engine.errors import LogError
from whence.engine.sources.time_format import TimeFormat, fitting_forms, time_format
from whence.engine.values import INT64_MAX, INT64_MIN, Value, ValueFault
from whence.engine.values.instants import parse_instant

__all__ = [
    "CELL_KINDS",
    "DECIMAL_COMMA",
    "THOUSANDS",
    "Convert",
    "converter",
    "kind_and_format",
    "zone_of",
]

Convert = Callable[[str], Value]

CELL_KINDS = ("text", "integer", "float", "boolean", "instant")
"""The kinds that a cell can be read as."""

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")
THOUSANDS = ". \u00a0\u202f"
"""Thousands separators where the decimal sign is a comma; in one number, one of them.
"""
_GROUPS = "|".join(f"(?:{re.escape(sign)}[0-9]{{3}})+" for sign in THOUSANDS)
DECIMAL_COMMA = rf"[-+]?(?:[0-9]+|[0-9]{{1,3}}(?:{_GROUPS}))(?:,[0-9]*)?(?:[eE][-+]?[0-9]+)?"
"""A number with a decimal comma, and with or without thousands: ``1.234,56``."""
_WITH_COMMA = re.compile(DECIMAL_COMMA)
_KIND = re.compile(r"instant\((.*)\)", re.DOTALL)
_OFFSET = re.compile(r"([-+])([0-9]{2}):([0-5][0-9])")


def kind_and_format(stated: str) -> tuple[str, TimeFormat | None]:
    """Take a stated kind apart.

    >>> kind_and_format("instant(%m/%d/%Y)")[0]
    'instant'

    Raises:
        ValueFault: there is no such kind, or the format is none.
    """
    match = _KIND.fullmatch(stated)
    if match is not None:
        return "instant", time_format(match[1])
    if stated not in CELL_KINDS:
        known = ", ".join(CELL_KINDS) + ", instant(FORMAT)"
        expected = f"one of {known}"
        raise ValueFault(expected, repr(stated), "text")
    return stated, None


def zone_of(timezone_name: str) -> tzinfo:
    """The zone of times that carry none.

    >>> zone_of("+02:00").utcoffset(None)
    datetime.timedelta(seconds=7200)

    Raises:
        LogError: there is no such zone.
    """
    if timezone_name == "UTC":
        return UTC
    match = _OFFSET.fullmatch(timezone_name)
    if match is not None and int(match[2]) < 24:
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-offset if match[1] == "-" else offset)
    try:
        return ZoneInfo(timezone_name)
    except (KeyError, ValueError, OSError) as fault:
        msg = (
            f"a timezone: expected a name such as Europe/Berlin or +01:00; got {timezone_name!r}; "
            "try UTC"
        )
        raise LogError(msg) from fault


def _shown(cell: str) -> str:
    return repr(cell if len(cell) <= 60 else cell[:57] + "...")


def _integer(cell: str, written: str = "") -> int:
    if not _INTEGER.fullmatch(cell):
        hint = "the kind float" if _FLOAT.fullmatch(cell) else "the kind text, or mending the cell"
        raise ValueFault("an integer", _shown(written or cell), hint)
    # Python itself refuses to read thousands of digits.
    digits = cell.lstrip("+-").lstrip("0")
    number = int(digits or 0) if len(digits) <= 40 else INT64_MAX + 2
    if cell.startswith("-"):
        number = -number
    if not INT64_MIN <= number <= INT64_MAX:
        raise ValueFault("an integer of 64 bits", _shown(written or cell), "the kind float or text")
    return number


def _float(cell: str, written: str = "") -> float:
    if not _FLOAT.fullmatch(cell):
        hint = "the kind text, or an empty cell"
        if "," in cell:
            hint = (
                "--decimal ',' (decimal: ',')" if _WITH_COMMA.fullmatch(cell) else "the kind text"
            )
        raise ValueFault("a float", _shown(cell), hint)
    number = float(cell)
    if not isfinite(number):
        raise ValueFault("a float below 1.8e308", _shown(written or cell), "the kind text")
    return number


def _boolean(cell: str) -> bool:
    if cell not in ("true", "false"):
        raise ValueFault(
            "true or false", _shown(cell), f"the kind text, and `column = {_shown(cell)}`"
        )
    return cell == "true"


def _instant(cell: str, zone: tzinfo) -> datetime:
    try:
        return parse_instant(cell, zone)
    except ValueFault as fault:
        forms = fitting_forms(cell)
        if not forms:
            raise
        hint = " or ".join(f"the kind instant({form})" for form in forms)
        hint += ", whichever it is: both fit" if len(forms) > 1 else ""
        raise ValueFault("an ISO 8601 instant", _shown(cell), hint) from fault


def _with_comma(read: Callable[[str, str], Value], kind: str) -> Convert:
    """Reads numbers with a decimal comma as the same numbers with a decimal point."""

    def convert(cell: str) -> Value:
        if not _WITH_COMMA.fullmatch(cell):
            expected = f"{kind} with a decimal comma, as 1.234,56"
            raise ValueFault(expected, _shown(cell), "mending the cell, or the kind text")
        return read(re.sub(f"[{THOUSANDS}]", "", cell).replace(",", "."), cell)

    return convert


def converter(stated: str, zone: tzinfo = UTC, decimal: str = ".") -> Convert | None:
    """What turns a cell that is not empty into a value of this kind; ``None`` for text.

    >>> converter("integer")("042"), converter("float", decimal=",")("1.234,5")
    (42, 1234.5)
    """
    kind, form = kind_and_format(stated)
    if decimal == "," and kind in ("integer", "float"):
        return _with_comma(
            *((_integer, "an integer") if kind == "integer" else (_float, "a float"))
        )
    if form is not None:
        return lambda cell: form.parse(cell, zone)
    simple: dict[str, Convert] = {"integer": _integer, "float": _float, "boolean": _boolean}
    if kind == "instant":
        return lambda cell: _instant(cell, zone)
    return simple.get(kind)

"""Times that are not written as ISO 8601: a stated format, read alike for one cell and for many.

A format is that of ``strptime`` with month names in English, whatever the machine speaks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache

import pyarrow as pa

from whence.engine.values import ValueFault
from whence.engine.values.arrow_compute import pc
from whence.engine.values.instants import in_utc

__all__ = ["FORMS", "TimeFormat", "fitting_forms", "time_format"]

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DIRECTIVES = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "[0-9]{1,2}",
    "b": "|".join(_MONTHS),
    "d": "[0-9]{1,2}",
    "H": "[0-9]{1,2}",
    "I": "[0-9]{1,2}",
    "p": "AM|PM|am|pm",
    "M": "[0-9]{1,2}",
    "S": "[0-9]{1,2}",
    "f": "[0-9]{1,6}",
    "z": "Z|[-+][0-9]{2}:?[0-9]{2}",
}
_DATES = (
    "%Y/%m/%d",
    *(f"%{a}{sign}%{b}{sign}%{year}" for year in "Yy" for sign in "/.-" for a, b in ("dm", "md")),
)
_CLOCKS = (" %H:%M:%S", " %H:%M:%S.%f", " %H:%M", " %I:%M:%S %p", " %I:%M %p", "")
FORMS = (*(date + clock for date in _DATES for clock in _CLOCKS), "%d/%b/%Y:%H:%M:%S %z")
"""Customary ways to write a time that are not ISO 8601."""

_WIDTHS = {"m": 2, "d": 2, "H": 2, "M": 2, "S": 2}
_AT_ONCE = set("YmbdHMSfz")


@dataclass(frozen=True)
class TimeFormat:
    """How times are written.

    Attributes:
        text: the format, as in ``%m/%d/%Y %H:%M:%S``.
        pattern: what a whole cell must match.
        parts: the directives, each of which is a group of the pattern.
    """

    text: str
    pattern: str
    parts: tuple[str, ...]

    def parse(self, cell: str, zone: tzinfo) -> datetime:
        """Read one cell.

        Raises:
            ValueFault: it is not written so, or there is no such day or hour.
        """
        match = re.fullmatch(self.pattern, cell)
        shown = repr(cell if len(cell) <= 60 else cell[:57] + "...")
        expected = f"a time as {self.text}"
        if match is None:
            raise ValueFault(expected, shown, "the format that the log has")
        try:
            return in_utc(self._instant(match.groupdict()), zone)
        except (ValueError, OverflowError) as fault:
            raise ValueFault(expected, shown, "mending the cell") from fault

    def _instant(self, found: dict[str, str]) -> datetime:
        year = int(found["Y"]) if "Y" in found else _century(int(found["y"]))
        month = _MONTHS.index(found["b"]) + 1 if "b" in found else int(found["m"])
        hour = int(found.get("H", 0))
        if "I" in found:
            hour = int(found["I"])
            if not 1 <= hour <= 12:
                raise ValueError
            hour = hour % 12 + (12 if found.get("p", "").lower() == "pm" else 0)
        zone = _zone(found["z"]) if "z" in found else None
        return datetime(
            year,
            month,
            int(found["d"]),
            hour,
            int(found.get("M", 0)),
            int(found.get("S", 0)),
            int(found.get("f", "").ljust(6, "0")),
            tzinfo=zone,
        )

    def as_iso(self, cells: pa.Array) -> pa.Array | None:
        """Many cells as ISO 8601, to be read from there; ``None`` if one by one is the way."""
        if not _AT_ONCE.issuperset(self.parts):
            return None
        found = pc.extract_regex(cells, f"^(?:{self.pattern})$".replace("(?P<", "(?P<g"))
        if found.null_count != cells.null_count:
            return None
        part = {name: pc.struct_field(found, f"g{name}") for name in self.parts}
        for name, width in _WIDTHS.items():
            part[name] = pc.utf8_lpad(part[name], width, "0") if name in part else pa.scalar("00")
        if "b" in part:
            numbers = pc.add(pc.index_in(part["b"], pa.array(_MONTHS)), 1)
            part["m"] = pc.utf8_lpad(numbers.cast(pa.string()), 2, "0")
        day = pc.binary_join_element_wise(part["Y"], part["m"], part["d"], "-")
        clock = pc.binary_join_element_wise(part["H"], part["M"], part["S"], ":")
        made = pc.binary_join_element_wise(day, clock, "T")
        if "f" in part:
            made = pc.binary_join_element_wise(made, part["f"], ".")
        if "z" in part:
            made = pc.binary_join_element_wise(made, part["z"], "")
        return made


def _century(short: int) -> int:
    return short + (2000 if short < 69 else 1900)


def _zone(text: str) -> timezone:
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "")
    if int(digits[2:]) > 59:
        raise ValueError
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


@cache
def time_format(text: str) -> TimeFormat:
    """Read a format.

    >>> time_format("%d/%b/%Y").parse("10/Oct/2000", UTC).isoformat()
    '2000-10-10T00:00:00+00:00'

    Raises:
        ValueFault: it has a directive that is unknown or twice, or lacks year, month or day.
    """
    pattern, parts = "", []
    pieces = re.split(r"%(.?)", text, flags=re.DOTALL)
    for place, piece in enumerate(pieces):
        if place % 2 == 0 or piece == "%":
            pattern += re.escape(piece)
        elif piece not in _DIRECTIVES or piece in parts:
            known = " ".join(f"%{name}" for name in _DIRECTIVES)
            expected, got = f"a format of {known}, each once", f"%{piece} in {text!r}"
            raise ValueFault(expected, got, "%Y-%m-%d")
        else:
            parts.append(piece)
            pattern += f"(?P<{piece}>{_DIRECTIVES[piece]})"
    days = {"Y": "y", "m": "b"}
    if "d" not in parts or any((a in parts) == (b in parts) for a, b in days.items()):
        raise ValueFault("a format with one year, month and day", repr(text), "%Y-%m-%d %H:%M")
    if ("I" in parts) != ("p" in parts) or ("I" in parts and "H" in parts):
        raise ValueFault("%H, or %I with %p", repr(text), "%Y-%m-%d %H:%M")
    return TimeFormat(text, pattern, tuple(parts))


def fitting_forms(cell: str) -> tuple[str, ...]:
    """The customary ways in which a cell can be read; several if day and month can be swapped.

    >>> fitting_forms("01/02/2026"), fitting_forms("13/02/2026")
    (('%d/%m/%Y', '%m/%d/%Y'), ('%d/%m/%Y',))
    """
    found = []
    for form in FORMS:
        known = time_format(form)
        if re.fullmatch(known.pattern, cell) is None:
            continue
        try:
            known.parse(cell, UTC)
        except ValueFault:
            continue
        found.append(form)
    return tuple(found)

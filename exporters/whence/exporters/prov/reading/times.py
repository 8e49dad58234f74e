"""Times of xsd:dateTime, compared by what they mean and not by how they are written."""

from __future__ import annotations

import re

__all__ = ["Times"]

_PATTERN = re.compile(
    r"(-?\d{4,9})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?"
)
_SECOND = 10**9
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ANY_ZONE = 14 * 3600 * _SECOND
"""A time without a zone may be this much earlier or later than the same time in UTC."""


class Times:
    """The times of a document, each with a number; 0 means no time.

    >>> times = Times()
    >>> noon = times.number("2026-03-01T12:00:00Z")
    >>> times.same(noon, times.number("2026-03-01T13:00:00.0+01:00"))
    True
    >>> times.after(times.number("2026-03-01T12:00:01Z"), noon)
    True
    >>> times.number("yesterday") is None
    True
    """

    def __init__(self) -> None:
        self.texts = [""]
        self._values: list[tuple[int, bool]] = [(0, True)]
        self._known: dict[str, int] = {}

    def number(self, text: str) -> int | None:
        """The number of a time; ``None`` if the text is no xsd:dateTime."""
        found = self._known.get(text)
        if found is None:
            value = _parsed(text.strip())
            if value is None:
                return None
            found = self._known[text] = len(self.texts)
            self.texts.append(text.strip())
            self._values.append(value)
        return found

    def value(self, number: int) -> tuple[int, bool]:
        """Nanoseconds since 1970, and whether a zone is given."""
        return self._values[number]

    def same(self, one: int, other: int) -> bool:
        """Whether two times may be the same; if one has no zone, that leaves 14 hours."""
        if one == other:
            return True
        (a, zoned), (b, also) = self._values[one], self._values[other]
        return a == b if zoned == also else abs(a - b) <= _ANY_ZONE

    def after(self, one: int, other: int) -> bool:
        """Whether the first is surely later than the second."""
        (a, zoned), (b, also) = self._values[one], self._values[other]
        return a > b if zoned == also else a > b + _ANY_ZONE


def _parsed(text: str) -> tuple[int, bool] | None:
    found = _PATTERN.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= _LENGTHS[month - 1] and minute < 60 and second < 60):
        return None
    if hour > 23 and (hour, minute, second) != (24, 0, 0):
        return None
    days = _days(year, month, day)
    if month == 2 and day == 29 and _days(year, 3, 1) == days:
        return None
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    nanoseconds = int((found[7] or "0")[:9].ljust(9, "0"))
    zone = found[8]
    if zone not in (None, "Z"):
        hours, minutes = int(zone[1:3]), int(zone[4:6])
        if hours > 14 or minutes > 59:
            return None
        shift = (hours * 60 + minutes) * 60
        seconds -= shift if zone[0] == "+" else -shift
    return seconds * _SECOND + nanoseconds, zone is not None


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970, in a calendar without a first or last year."""
    year, month = (year, month) if month > 2 else (year - 1, month + 12)
    return (
        365 * year
        + year // 4
        - year // 100
        + year // 400
        + (153 * month - 457) // 5
        + (day - 719469)
    )

"""Instants as text, and in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from whence.engine.values.value import ValueFault

__all__ = ["in_utc", "parse_instant"]


def parse_instant(text: str, zone: tzinfo = UTC) -> datetime:
    """Read an ISO 8601 instant; a time without zone is UTC, or of the stated zone.

    >>> parse_instant("2026-03-01T10:00:00+01:00").isoformat()
    '2026-03-01T09:00:00+00:00'
    """
    try:
        return in_utc(datetime.fromisoformat(text), zone)
    except (ValueError, OverflowError) as fault:
        got = repr(text if len(text) <= 60 else text[:57] + "...")
        hint = "a text such as 2026-03-01T09:30:00Z"
        raise ValueFault("an ISO 8601 instant", got, hint) from fault


def in_utc(instant: datetime, zone: tzinfo) -> datetime:
    """The instant in UTC; if it has no zone it is of this one.

    A time that a clock shows twice when it is set back is the first of the two.

    Raises:
        ValueFault: a time that the clock skips when it is set forward.
        OverflowError: before the year 1, or after the year 9999.
    """
    if instant.tzinfo is not None:
        return instant.astimezone(UTC)
    made = instant.replace(tzinfo=zone).astimezone(UTC)
    if zone is not UTC and made.astimezone(zone).replace(tzinfo=None) != instant:
        hint = "the right zone (--timezone), or mending it"
        expected = f"a time that exists in {zone}"
        raise ValueFault(expected, str(instant), hint)
    return made

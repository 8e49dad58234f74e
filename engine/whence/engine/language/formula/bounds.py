"""Bounds on time in formula text: ``[..90d]``, ``[2s..5s]``, ``[1d..]``; times are microseconds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from lark import Token

from whence.engine.errors import FormulaError, ParameterError
from whence.engine.language.formula.faults import fault_at

__all__ = ["Bound", "bound_of", "duration_of", "duration_text"]

_UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_MICRO = 1_000_000
_LONGEST = 100_000 * 365 * 86_400 * _MICRO
"""A hundred thousand years: differences of times beyond it mean nothing."""
_DIGITS = 30
_WRITTEN = re.compile(r"(?:\d+[smhdw])+")
_PIECE = re.compile(r"(\d+)([smhdw])")
_ISO = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_ISO_UNITS = ("w", "d", "h", "m", "s")
_CALENDAR = re.compile(r"P(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T.*)?")


@dataclass(frozen=True, slots=True)
class Bound:
    """An interval of differences of times, both ends included.

    Attributes:
        low: in microseconds.
        high: in microseconds; ``None`` without an end.
    """

    low: int = 0
    high: int | None = None

    def __contains__(self, difference: int) -> bool:
        """Whether a difference is in it; a negative one never is."""
        return self.low <= difference and (self.high is None or difference <= self.high)

    def __str__(self) -> str:
        """As in formula text."""
        low = duration_text(self.low) if self.low or self.high is None else ""
        return f"[{low}..{'' if self.high is None else duration_text(self.high)}]"


def duration_text(micros: int) -> str:
    """Write a duration as formulas do.

    >>> duration_text(129_600 * 1_000_000), duration_text(0)
    ('1d12h', '0s')
    """
    seconds, parts = micros // _MICRO, []
    for unit, size in _UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def duration_of(text: str, at: Token) -> int:
    """Read ``90d``, ``1d12h`` or ISO 8601 ``P90D`` as microseconds; refuse all else at a token.

    >>> duration_of("PT1M", Token("BOUND", "")) == duration_of("1m", Token("BOUND", ""))
    True
    """
    shown = text if len(text) <= _DIGITS else f"{text[:_DIGITS]}..."
    iso = _ISO.fullmatch(text) if len(text) > 1 and text[-1] not in "PT" else None
    if iso is not None:
        pieces = [(n, unit) for n, unit in zip(iso.groups(), _ISO_UNITS, strict=True) if n]
    elif _WRITTEN.fullmatch(text):
        pieces = _PIECE.findall(text)
    else:
        raise fault_at(
            at, "a time in s, m, h, d or w, such as 90d or P90D", repr(shown), _hint(text)
        )
    if any(len(n) > _DIGITS for n, _ in pieces):
        raise fault_at(at, "a time of at most 100,000 years", repr(shown), "no bound: [2s..]")
    micros = sum(int(n) * _UNITS[unit] for n, unit in pieces) * _MICRO
    if micros > _LONGEST:
        raise fault_at(at, "a time of at most 100,000 years", repr(shown), "no bound: [2s..]")
    return micros


def _hint(text: str) -> str:
    if _CALENDAR.fullmatch(text):
        return "days, since months and years differ in length: P30D (a minute is PT1M)"
    if re.fullmatch(r"\d+", text):
        return f"a unit: {text[:_DIGITS]}s or {text[:_DIGITS]}d"
    if text.startswith("-"):
        return "no minus: the past has operators of its own, O H S Y Z"
    return "90d, 36h, 1d12h or P90D"


def duration_of_text(text: object, what: str) -> int:
    """Read a duration that stands alone, such as a grace, as microseconds."""
    try:
        return duration_of(str(text), Token("TEXT", str(text)))
    except FormulaError as fault:
        _, _, rest = str(fault).partition(": ")
        msg = f"{what}: {rest}"
        raise ParameterError(msg) from fault


def bound_of(token: Token) -> Bound:
    """Read what stands in brackets behind an operator, such as ``[1d..90d]``."""
    low, _, high = str(token)[1:-1].partition("..")
    low, high = low.strip(), high.strip()
    if not low and not high:
        raise fault_at(token, "a time before or after `..`", "neither", "[..90d]")
    made = Bound(duration_of(low, token) if low else 0, duration_of(high, token) if high else None)
    if made.high is not None and made.low > made.high:
        raise fault_at(token, "the shorter time first", str(token), f"[{high}..{low}]")
    return made


def delta_of(micros: int) -> timedelta:
    """A duration as formulas' values have it."""
    return timedelta(microseconds=micros)

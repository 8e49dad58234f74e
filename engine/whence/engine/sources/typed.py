"""Whole columns of cells as values of a kind: exactly what `cells` does one by one, but at once.

What Arrow reads as `cells` would is read by Arrow; the rest is left to `cells`, cell by cell.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from whence.engine.sources.cells import (
    DECIMAL_COMMA,
    THOUSANDS,
    Convert,
    converter,
    kind_and_format,
    zone_of,
)
from whence.engine.values import ValueFault
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import column_type

__all__ = ["Faults", "at_zone", "typed"]

Faults = list[tuple[int, ValueFault]]
"""Which cells of a column did not fit, by their index, and why."""

INSTANT = pa.timestamp("us", tz="UTC")
FIRST, LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The first and the last microsecond that Python knows, counted from 1970."""

_HAS_ZONE = r"[0-9][T ][0-9:.]+(Z|[-+][0-9][0-9]:?[0-9][0-9])$"


def typed(
    cells: pa.Array, stated: str, timezone: str = "UTC", decimal: str = "."
) -> tuple[pa.Array, Faults]:
    """Convert a column of text.

    Args:
        cells: texts; null where there is none.
        stated: the kind, as in `cells.kind_and_format`.
        timezone: the zone of times that carry none.
        decimal: the decimal sign of numbers.

    Returns:
        The values, null where a cell does not fit, and the faults in order.
    """
    kind, form = kind_and_format(stated)
    if kind == "text":
        return cells, []
    if cells.null_count == len(cells):
        return pa.nulls(len(cells), column_type(kind)), []
    made = None
    try:
        if kind in ("integer", "float"):
            numbers = _with_points(cells) if decimal == "," else cells
            if numbers is not None:
                made = _integers(numbers) if kind == "integer" else _floats(numbers)
        elif kind == "boolean":
            made = _booleans(cells)
        elif form is None:
            made = _instants(cells, timezone)
        else:
            iso = form.as_iso(cells)
            made = None if iso is None else _instants(iso, timezone)
    except pa.ArrowInvalid:
        made = None  # one of them is odd: find it below
    return (
        (made, [])
        if made is not None
        else _one_by_one(cells, converter(stated, zone_of(timezone), decimal), kind)
    )


def _one_by_one(cells: pa.Array, convert: Convert | None, kind: str) -> tuple[pa.Array, Faults]:
    assert convert is not None
    known: dict[str, Any] = {}
    faults: Faults = []
    values = []
    for index, cell in enumerate(cells.to_pylist()):
        value = None
        if cell is not None:
            if cell not in known:
                try:
                    known[cell] = convert(cell)
                except ValueFault as fault:
                    known[cell] = fault
            value = known[cell]
            if isinstance(value, ValueFault):
                faults.append((index, value))
                value = None
        values.append(value)
    return pa.array(values, column_type(kind)), faults


def _any(mask: pa.Array) -> bool:
    return pc.any(mask).as_py() is True


def _with_points(cells: pa.Array) -> pa.Array | None:
    """Numbers with a decimal comma as with a point; ``None`` if one of them is none."""
    if not pc.all(pc.match_substring_regex(cells, f"^(?:{DECIMAL_COMMA})$")).as_py():
        return None
    plain = pc.replace_substring_regex(cells, f"[{THOUSANDS}]", "")
    return pc.replace_substring(plain, ",", ".")


def _integers(cells: pa.Array) -> pa.Array | None:
    made = pc.cast(cells, pa.int64())
    # Arrow reads 0x1F as well.
    odd = any(_any(pc.match_substring(cells, sign)) for sign in "xX")
    return None if odd else made


def _floats(cells: pa.Array) -> pa.Array | None:
    made = pc.cast(cells, pa.float64())
    # Arrow reads .5, inf and nan as well.
    odd = _any(pc.match_substring_regex(cells, r"^[-+]?\."))
    return None if odd or not pc.all(pc.is_finite(made)).as_py() else made


def _booleans(cells: pa.Array) -> pa.Array | None:
    made = pc.equal(cells, "true")
    return made if pc.all(pc.or_(made, pc.equal(cells, "false"))).as_py() else None


def _instants(cells: pa.Array, timezone: str) -> pa.Array | None:
    # A cast that fails costs forty times one that does not: look at one cell first.
    first = cells[pc.index(cells.is_valid(), True).as_py()].as_py()
    zoned = re.search(_HAS_ZONE, first) is not None
    try:
        made = pc.cast(cells, INSTANT) if zoned else _local(cells, timezone)
    except pa.ArrowInvalid:
        with_zone = pc.match_substring_regex(cells, _HAS_ZONE)
        made = pc.coalesce(
            pc.cast(pc.if_else(with_zone, cells, None), INSTANT),
            _local(pc.if_else(with_zone, None, cells), timezone),
        )
    ends = pc.min_max(made)
    return made if ends["min"].value >= FIRST and ends["max"].value <= LAST else None


def _local(cells: pa.Array, timezone: str) -> pa.Array:
    return at_zone(pc.cast(cells, pa.timestamp("us")), timezone)


def at_zone(times: pa.Array, timezone: str) -> pa.Array:
    """Times without zone as instants.

    Raises:
        ArrowInvalid: a time that the clock skips.
    """
    if timezone == "UTC":
        return times.cast(INSTANT)
    placed = pc.assume_timezone(times, timezone, ambiguous="earliest", nonexistent="raise")
    return placed.cast(INSTANT)

"""Columns that are typed already (of Parquet files, of Spark) as the kinds of a log.

Numbers, texts, times and truth values keep their kind. Decimals are text, which is exact, unless a
float is asked for; lists, maps and structures are canonical JSON. A column without a type, of
nothing but nulls, may be compared with anything. What a kind cannot hold (an integer beyond 64
bits, an infinite float, a time finer than microseconds) does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.sources.cells import kind_and_format
from whence.engine.sources.file_source import check_stated
from whence.engine.sources.typed import FIRST, INSTANT, LAST, Faults, at_zone, typed
from whence.engine.values import ValueFault
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import as_column, column_type

__all__ = ["as_kind", "kind_of_type", "kinds_of_schema", "stated_kinds"]


def kind_of_type(type_: pa.DataType) -> str | None:
    """The kind that an Arrow type is read as; ``None`` for bytes, which are no value."""
    if pa.types.is_dictionary(type_):
        return kind_of_type(type_.value_type)
    tests = {
        "boolean": (pa.types.is_boolean,),
        "integer": (pa.types.is_integer,),
        "float": (pa.types.is_floating,),
        "text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_decimal),
        "instant": (pa.types.is_timestamp, pa.types.is_date),
        "duration": (pa.types.is_duration,),
        "any": (pa.types.is_nested, pa.types.is_null),
    }
    for kind, checks in tests.items():
        if any(check(type_) for check in checks):
            return kind
    if str(type_) == "string_view":
        return "text"
    return None


def kinds_of_schema(schema: pa.Schema, names: Sequence[str], where: str) -> dict[str, str]:
    """The kinds of a table's columns.

    Raises:
        LogError: a column is of a type that no kind can hold.
    """
    kinds = {}
    for name, field in zip(names, schema, strict=True):
        kind = kind_of_type(field.type)
        if kind is None:
            msg = (
                f"{where}, column {name!r}: expected numbers, texts, times or truth values; "
                f"got {field.type}; try leaving the column out, or writing it as text"
            )
            raise LogError(msg)
        kinds[name] = kind
    return kinds


def stated_kinds(
    own: Mapping[str, str], stated: Mapping[str, str], where: str
) -> tuple[dict[str, str], dict[str, str]]:
    """The kinds as stated, with their formats, and without.

    Raises:
        LogError: a column or a kind is not known.
    """
    check_stated(where, list(own), stated)
    full, plain = {}, {}
    for name, kind in own.items():
        full[name] = stated.get(name, kind)
        try:
            plain[name] = kind_and_format(stated[name])[0] if name in stated else kind
        except ValueFault as fault:
            if stated[name] != kind:  # any and duration can be stated where they are so
                msg = f"{where}, column {name!r}: a kind: {fault}"
                raise LogError(msg) from fault
            plain[name] = kind
    return full, plain


def as_kind(
    column: pa.Array, stated: str, timezone: str, decimal: str = "."
) -> tuple[pa.Array, Faults]:
    """A column as a kind, and what does not fit.

    Args:
        column: the values.
        stated: the kind, with a format if times are texts.
        timezone: the zone of times that carry none.
        decimal: the decimal sign of numbers that are texts.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    own = kind_of_type(column.type)
    kind = stated.partition("(")[0]
    if column.null_count == len(column):
        return pa.nulls(len(column), column_type(kind)), []
    if own == "text" and not pa.types.is_decimal(column.type):
        texts, broken = _in_utf8(column.cast(pa.string()))
        if kind == "text":
            return texts, broken
        made, odd = typed(texts, stated, timezone, decimal)
        return made, [*broken, *odd]
    try:
        made = _at_once(column, own, kind, timezone)
        if made is not None:
            return made, []
    except pa.ArrowInvalid:
        pass
    return _one_by_one(column, kind, timezone)


def _in_utf8(texts: pa.Array) -> tuple[pa.Array, Faults]:
    """The texts without those that are none: Arrow and Parquet take any bytes for one."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        kept = [_text_of(one) for one in texts.cast(pa.binary())]
        fault = ValueFault("text in UTF-8", "other bytes", "writing the file again")
        wrong = [at for at, text in enumerate(kept) if text is None and texts[at].is_valid]
        return pa.array(kept, pa.string()), [(at, fault) for at in wrong]
    return texts, []


def _text_of(one: pa.Scalar) -> str | None:
    try:
        return one.as_py().decode() if one.is_valid else None
    except UnicodeDecodeError:
        return None


def _at_once(column: pa.Array, own: str | None, kind: str, timezone: str) -> pa.Array | None:
    if kind == "float" and pa.types.is_decimal(column.type):
        return None
    if (kind == "text" and own in ("integer", "boolean")) or pa.types.is_decimal(column.type):
        return column.cast(pa.string())
    if own == "instant" and kind == "instant":
        times = column.cast(pa.timestamp("us", tz=getattr(column.type, "tz", None)))
        made = times.cast(INSTANT) if times.type.tz else at_zone(times, timezone)
        ends = pc.min_max(made)
        return made if ends["min"].value >= FIRST and ends["max"].value <= LAST else None
    if own == "float" and kind == "float":
        made = column.cast(pa.float64())
        return made if pc.all(pc.is_finite(made)).as_py() else None
    if own == kind and kind != "any":
        return column.cast(column_type(kind))
    return None


def _one_by_one(column: pa.Array, kind: str, timezone: str) -> tuple[pa.Array, Faults]:
    values: list[Any] = []
    faults: Faults = []
    for index in range(len(column)):
        value: Any = None
        if column[index].is_valid:
            try:
                value = _value(column.slice(index, 1), kind, timezone)
            except ValueFault as fault:
                faults.append((index, fault))
        values.append(value)
    return as_column(values, kind), faults


def _value(one: pa.Array, kind: str, timezone: str) -> Any:
    own = kind_of_type(one.type)
    try:
        plain: Any = one[0].as_py()
    except UnicodeDecodeError as error:
        raise ValueFault("text in UTF-8", "other bytes", "writing the file again") from error
    except (ValueError, OverflowError) as error:
        if own not in ("instant", "duration"):  # two fields of one name, say
            got = " ".join(str(error).split())[:60]
            raise ValueFault("a value", got, "leaving the column out") from error
        # Finer than microseconds, or far beyond the calendar.
        plain = one.view(pa.int64())[0]
    if kind == "any":
        return _plain(_record(plain) if pa.types.is_map(one.type) else plain)
    if kind == "float" and isinstance(plain, Decimal | int) and not isinstance(plain, bool):
        return float(plain)
    try:
        made = _at_once(one, own, kind, timezone) if kind != "any" else None
    except pa.ArrowInvalid:
        made = None
    if made is None:
        hint = "another kind, or mending the value"
        if own == "instant" and kind == "instant":
            hint = "times in microseconds, in the years 1 to 9999, that exist in the zone"
        expected = {"integer": "an integer of 64 bits", "float": "a finite float"}.get(kind, kind)
        raise ValueFault(expected, f"{one.type} {str(plain)[:60]}", hint)
    return made[0].as_py()


def _record(pairs: Sequence[tuple[Any, Any]]) -> dict[str, Any]:
    """A map of Arrow, which may have a key twice."""
    made = {str(name): part for name, part in pairs}
    if len(made) < len(pairs):
        raise ValueFault("each key of a map once", "one twice", "leaving one out")
    return made


def _plain(value: Any) -> Any:
    """A nested value of which every part is a value."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
            return _plain(_record(value))  # how Arrow writes a map
        return [_plain(part) for part in value]
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.isoformat()
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        raise ValueFault("numbers, texts, times or truth values", "bytes", "leaving them out")
    return value

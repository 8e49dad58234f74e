"""Values of events as attributes: one at a time, and in columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta

import pyarrow as pa

from whence.engine.record.erasing import ERASED
from whence.engine.values import Value, kind_of
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import canonical, from_canonical
from whence.exporters.describing import facts
from whence.exporters.prov.identifiers import XSD, Name
from whence.exporters.prov.rows import Column, lexical
from whence.exporters.prov.statements import VALUE, Attributes, Literal, Typed, clean
from whence.exporters.vocabulary import term

__all__ = ["EventColumns", "typed_columns", "value_attributes", "value_columns", "written_value"]

EventColumns = tuple[tuple[Name, Column], ...]

_COMPOSED = ("list", "record", "map")
_WITHOUT = ("missing", ERASED)
_DATATYPES = {"boolean": Name(XSD, "boolean"), "integer": Name(XSD, "integer")}
_DATE_TIME = Name(XSD, "dateTime")


def value_attributes(value: Value) -> Attributes:
    """What an event's value becomes: PROV's one ``prov:value``, and its kind where that is needed.

    >>> [(key.short, v) for key, v in value_attributes([1, None])]
    [('prov:value', '[1,null]'), ('whence:kind', 'list')]
    """
    if value is None:
        return facts(kind="missing")
    if isinstance(value, timedelta):
        return ((VALUE, Typed(_duration(value), Name(XSD, "duration"))),)
    if isinstance(value, str):
        return ((VALUE, clean(value)),)
    if isinstance(value, (bool, int, float, datetime)):
        return ((VALUE, value),)
    return ((VALUE, clean(canonical(value))), *facts(kind=kind_of(value)))


def written_value(kind: str, text: str) -> Attributes:
    """The same from canonical JSON and its kind, as the record and the graph keep values.

    >>> [(key.short, v) for key, v in written_value("map", '{"map":[["a",1]]}')]
    [('prov:value', '{"map":[["a",1]]}'), ('whence:kind', 'map')]
    """
    if kind in _COMPOSED:
        return ((VALUE, clean(text)), *facts(kind=kind))
    if kind == ERASED:
        return facts(kind=ERASED)
    return value_attributes(from_canonical(text))


def _duration(value: timedelta) -> str:
    sign = "-" if value < timedelta(0) else ""
    size = abs(value)
    seconds = f"{size.days * 86400 + size.seconds}"
    part = f".{size.microseconds:06d}" if size.microseconds else ""
    return f"{sign}PT{seconds}{part}S"


def value_columns(kinds: pa.Array, texts: pa.Array) -> EventColumns:
    """The same for many events, whose values are of several kinds.

    >>> kinds, texts = pa.array(["integer", "list", "missing"]), pa.array(["7", "[1]", "null"])
    >>> for key, column in value_columns(kinds, texts):
    ...     print(key.short, column.text.to_pylist())
    prov:value ['7', None, None]
    prov:value [None, '[1]', None]
    whence:kind [None, 'list', None]
    whence:kind [None, None, 'missing']
    """
    found: list[tuple[Name, Column]] = []
    every = sorted(pc.unique(kinds).to_pylist())
    for kind in every:
        here = texts
        if len(every) > 1:
            here = pc.if_else(pc.equal(kinds, kind), texts, pa.scalar(None, pa.string()))
        if kind not in _WITHOUT:
            found += [(VALUE, column) for column in _columns(kind, here)]
        if kind in _COMPOSED or kind in _WITHOUT:
            there = pc.if_else(pc.is_valid(here), kind, pa.scalar(None, pa.string()))
            found.append((term("kind"), Column(there, None)))
    return tuple(found)


def _columns(kind: str, texts: pa.Array) -> Iterator[Column]:
    """Canonical JSON of one kind as literals."""
    if kind in _DATATYPES:
        yield Column(texts, _DATATYPES[kind])
    elif kind in _COMPOSED:
        yield Column(texts, None)
    elif kind == "text":
        if pc.any(pc.match_substring(texts, "\\")).as_py():
            read = (None if t is None else clean(json.loads(t)) for t in texts.to_pylist())
            yield Column(pa.array(read, pa.string()), None)
        else:
            yield Column(pc.utf8_slice_codeunits(texts, 1, -1), None)
    else:
        yield from _by_value([None if t is None else from_canonical(t) for t in texts.to_pylist()])


def _by_value(values: list[Value]) -> Iterator[Column]:
    """Values of one kind that have to be looked at one by one."""
    written: list[str | None] = []
    datatype: Name | None = None
    for value in values:
        text = None
        if value is not None:
            ((_, said),) = value_attributes(value)
            assert isinstance(said, Literal)
            text, datatype = lexical(said)
        written.append(text)
    yield Column(pa.array(written, pa.string()), datatype)


def typed_columns(values: pa.Array, kind: str) -> EventColumns:
    """The same for a column of a log."""
    if kind in _DATATYPES:
        return ((VALUE, Column(values.cast(pa.string()), _DATATYPES[kind])),)
    if kind == "text":
        return ((VALUE, Column(values, None)),)
    if kind == "instant":
        return ((VALUE, Column(_times(values), _DATE_TIME)),)
    if kind in ("float", "duration"):
        return tuple((VALUE, column) for column in _by_value(values.to_pylist()))
    read = [None if t is None else kind_of(from_canonical(t)) for t in values.to_pylist()]
    kinds = pa.array([each or "missing" for each in read], pa.string())
    return value_columns(kinds, pc.fill_null(values, "null"))


def _times(values: pa.Array) -> pa.Array:
    """Times as `time_text` writes them: parts of a second only where there are some."""
    plain = values.cast(pa.timestamp("us", "UTC"))
    whole = pc.floor_temporal(plain, unit="second")
    long = pc.strftime(plain, "%Y-%m-%dT%H:%M:%SZ")
    short = pc.strftime(whole.cast(pa.timestamp("s", "UTC")), "%Y-%m-%dT%H:%M:%SZ")
    return pc.if_else(pc.equal(plain, whole), short, long)

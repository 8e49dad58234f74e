"""JSON lines: one object a line. Values keep the kind that JSON gives them; null is missing.

Objects need not have the same fields. Which fields there are, and of which kinds, is known only
when all have been seen: opening such a log reads it once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.sources.arrow_columns import stated_kinds
from whence.engine.sources.cells import converter, zone_of
from whence.engine.sources.file_source import free_names
from whence.engine.sources.line_source import LineSource
from whence.engine.sources.numbering import without
from whence.engine.sources.opening import shown
from whence.engine.sources.repeated import repeated
from whence.engine.sources.source import Reading, Split, source_schema
from whence.engine.values import INT64_MAX, INT64_MIN, Value, ValueFault, describe, kind_of
from whence.engine.values.columns import as_column

__all__ = ["JsonlSource"]

_SCALARS = ("boolean", "integer", "float", "text")


class JsonlSource(LineSource):
    """A log in files of JSON lines.

    Attributes:
        fields: the field of each column.
    """

    format = "jsonl"

    def __init__(self, files: Sequence[Path], reading: Reading) -> None:
        """Read the files once to learn their fields.

        Raises:
            LogError: a line is no JSON object.
        """
        super().__init__(files, reading)
        self._zone = zone_of(reading.timezone)
        if reading.fields is None:
            self.fields, own = self._learn(reading)
        else:
            self.fields, own = dict(reading.fields), dict(reading.known)
        self._others_fit = reading.fields is None
        self._stated, self.columns = stated_kinds(own, reading.kinds, self.name)

    def _learn(self, reading: Reading) -> tuple[dict[str, str], dict[str, str]]:
        """The field of each column, and its kind."""
        found: dict[str, set[str]] = {}
        row = 0
        for number in range(len(self.files)):
            for block in self.blocks(Split(number)):
                for line, text in self.lines(block):
                    for name, value in self._survey(number, row, line, text).items():
                        found.setdefault(name, set()).add(_kind(value))
                    row += 1
                reading.limits.check("columns", len(found), self.name)
        self.report.begin()
        free = free_names(list(found))
        own = {new: _one_kind(found[old]) for new, old in zip(free, found, strict=True)}
        return dict(zip(free, found, strict=True)), own

    def _survey(self, file: int, row: int, line: int, text: bytes) -> dict[str, Value]:
        try:
            return self._object(file, line, text)
        except ValueFault as fault:
            self.bad(file, row, line, None, fault)
            return {}

    def _object(self, file: int, line: int, text: bytes) -> dict[str, Value]:
        """The object of a line.

        Raises:
            ValueFault: it is none.
            LogError: it is too large or too deep.
        """
        where = f"{shown(self.files[file])}, line {line}"
        try:
            value = json.loads(
                text.decode("utf-8"), object_pairs_hook=_pairs, parse_constant=_constant
            )
            if b"\\ud" in text.lower():
                json.dumps(value, ensure_ascii=False).encode()  # refuses half a character
        except UnicodeError as fault:
            hint = "saving the log as UTF-8, or --encoding latin-1"
            raise ValueFault("UTF-8", _first_bad(fault), hint) from fault
        except RecursionError as fault:
            raise self.reading.limits.exceeded("nesting", where) from fault
        except ValueError as fault:
            said = str(fault).partition(":")[0]
            raise ValueFault("a JSON object", said, "one object a line, each field once") from fault
        if not isinstance(value, dict):
            raise ValueFault("a JSON object", describe(value), "one object a line")
        self.reading.limits.check("attributes", len(value), where)
        for part in value.values():
            _check_depth(part, self.reading, where)
        return value

    def batch(self, file: int, row: int, lines: list[tuple[int, bytes]]) -> pa.RecordBatch:
        """The objects of some lines as columns."""
        objects: list[dict[str, Value]] = []
        columns: list[pa.Array] = []
        found: list[tuple[int, int, str | None, ValueFault]] = []
        for index, (line, text) in enumerate(lines):
            try:
                objects.append(self._object(file, line, text))
                self._check_fields(objects[-1])
            except ValueFault as fault:
                objects[index:] = [{}]
                found.append((index, -1, None, fault))
        for number, (name, field) in enumerate(self.fields.items()):
            convert = self._converter(name)
            values: list[Value] = []
            for index, each in enumerate(objects):
                value = each.get(field)
                if value is not None:
                    try:
                        value = convert(value)
                    except ValueFault as fault:
                        found.append((index, number, name, fault))
                        value = None
                values.append(value)
            columns.append(as_column(values, self.columns[name]))
        numbers = pa.array(np.arange(row, row + len(objects), dtype=np.int64))
        schema = source_schema(self.columns)
        batch = pa.RecordBatch.from_arrays([numbers, *columns], schema=schema)
        for index, _, column, problem in sorted(found, key=lambda each: each[:2]):
            self.bad(file, row + index, lines[index][0], column, problem)
        return without(batch, {index for index, *_ in found}, self.reading, self.report)

    def _check_fields(self, given: Mapping[str, Value]) -> None:
        """Refuse a field that would be lost, because it came after the columns were known."""
        if self._others_fit:
            return
        known = self.fields.values()
        for name in given:
            if name not in known:
                hint = "a stream of its own, or lines with these fields only"
                listed = f"one of the fields {', '.join(known)}"
                raise ValueFault(listed, repr(name[:40]), hint)

    def _converter(self, name: str) -> Callable[[Value], Value]:
        kind = self.columns[name]
        if kind in ("any", "duration"):
            return _whole
        of_text = converter(self._stated[name], self._zone, self.reading.decimal)

        def convert(value: Value) -> Value:
            if isinstance(value, str):
                return value if of_text is None else of_text(value)
            own = kind_of(_whole(value))
            if own == kind:
                return value
            if kind == "float" and own == "integer":
                return float(value)  # type: ignore[arg-type]
            hint = f"the kind {own}" if own in _SCALARS else "the kind any"
            raise ValueFault(kind, describe(value), hint)

        return convert


def _first_bad(fault: UnicodeError) -> str:
    if isinstance(fault, UnicodeDecodeError):
        return f"byte 0x{fault.object[fault.start]:02x} at byte {fault.start + 1} of the line"
    return "half a character"


def _pairs(given: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(given)
    if len(made) < len(given):
        twice = repeated(name for name, _ in given) or ""
        msg = f"the field {twice[:40]!r} twice"
        raise ValueError(msg)
    return made


def _constant(word: str) -> Any:
    msg = f"{word}, which JSON does not have"
    raise ValueError(msg)


def _kind(value: Value) -> str:
    """The kind of a value; a number that no kind can hold is reported later, with its row."""
    kind = kind_of(value)
    return kind if kind in (*_SCALARS, "missing") else "any"


def _one_kind(kinds: set[str]) -> str:
    present = kinds - {"missing"}
    if present == {"integer", "float"}:
        return "float"
    return present.pop() if len(present) == 1 else "any" if present else "text"


def _whole(value: Value) -> Value:
    """The value, if all numbers in it fit.

    Raises:
        ValueFault: an integer beyond 64 bits, or a float that is not finite.
    """
    if isinstance(value, Mapping):
        for part in value.values():
            _whole(part)
    elif isinstance(value, list):
        for part in value:
            _whole(part)
    elif type(value) is int and not INT64_MIN <= value <= INT64_MAX:
        raise ValueFault("an integer of 64 bits", str(value)[:40], "a float or a text")
    elif type(value) is float and not math.isfinite(value):
        raise ValueFault("a float below 1.8e308", str(value), "a text")
    return value


def _check_depth(value: Value, reading: Reading, where: str, depth: int = 1) -> None:
    if isinstance(value, str):
        reading.limits.check("text", len(value), where)
    if not isinstance(value, dict | list):
        return
    reading.limits.check("nesting", depth, where)
    for part in value.values() if isinstance(value, dict) else value:
        _check_depth(part, reading, where, depth + 1)

"""The attributes of events, each of the kind that the log declares for its type of event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.sources.cells import converter, kind_and_format
from whence.engine.sources.ocel.stage import Stage
from whence.engine.sources.source import Reading
from whence.engine.sources.xes.values import one
from whence.engine.values import Value, ValueFault
from whence.engine.values.columns import as_column, from_canonical

__all__ = ["Attributes"]

_FITTING = {
    "text": {"text"},
    "integer": {"integer", "text"},
    "float": {"float", "integer", "text"},
    "boolean": {"boolean", "integer", "text"},
    "instant": {"text"},
}
"""Which kinds of values a declared kind can be read from."""


class Attributes:
    """Reads attributes.

    Attributes:
        kinds: the kind of each, by name, in the order in which they appear.
    """

    def __init__(self, stage: Stage, reading: Reading, zone: tzinfo) -> None:
        """Find out what there is.

        Raises:
            LogError: a stated kind is none.
        """
        self._declared, self._zone = stage.declared, zone
        self._stage = stage
        self._stated = dict(reading.kinds)
        self._decimal = reading.decimal
        found: dict[str, set[str]] = {name: set() for _, name in self._declared}
        listed = "SELECT name, kind FROM attributes GROUP BY name, kind ORDER BY min(rowid)"
        for pairs in stage.rows(listed):
            for name, kind in pairs:
                found.setdefault(name, set()).add(kind)
        self.kinds = {name: self._kind(stage.name, name, kinds) for name, kinds in found.items()}

    def __getstate__(self) -> dict[str, Any]:
        """Travel without what is on this machine's disk."""
        return {**self.__dict__, "_stage": None}

    def at(self, stage: Stage) -> Attributes:
        """Read from this stage from now on."""
        self._stage = stage
        return self

    def columns(
        self, first: int, last: int, types: Sequence[str], fault: Callable[[int, str, object], None]
    ) -> list[pa.Array]:
        """The columns of these rows; ``fault`` is called for what does not fit."""
        count = last - first + 1
        values: dict[str, list[Value]] = {name: [None] * count for name in self.kinds}
        seen: set[tuple[int, str]] = set()
        query = (
            "SELECT row, name, kind, value FROM attributes "
            "WHERE row BETWEEN ? AND ? ORDER BY row, rowid"
        )
        for found in self._stage.rows(query, first, last):
            for row, name, kind, value in found:
                try:
                    if (row, name) in seen:
                        values[name][row - first] = None
                        raise ValueFault("each attribute once", "it twice", "renaming one")
                    seen.add((row, name))
                    type = str(types[row - first])
                    wanted = self._stated.get(name) or self._declared.get((type, name))
                    values[name][row - first] = self._value(wanted, name, kind, value)
                except ValueFault as problem:
                    fault(row, name, problem)
        return [as_column(values[name], kind) for name, kind in self.kinds.items()]

    def _kind(self, where: str, name: str, found: set[str]) -> str:
        if name in self._stated:
            try:
                return kind_and_format(self._stated[name])[0]
            except ValueFault as fault:
                msg = f"{where}, column {name!r}: a kind: {fault}"
                raise LogError(msg) from fault
        declared = {kind for (_, n), kind in self._declared.items() if n == name}
        fitting = found - {"huge", "bytes"}  # these fit nowhere and are reported when they come
        if len(declared) == 1:
            (kind,) = declared
            return kind if fitting <= _FITTING[kind] else "any"
        simple = not declared and len(fitting) == 1 and fitting <= set(_FITTING)
        return fitting.pop() if simple else "any"

    def _value(self, wanted: str | None, name: str, kind: str, value: Any) -> Value:
        if kind == "huge":
            raise ValueFault("a number of 64 bits", value, "a text in quotes")
        if kind == "bytes":
            raise ValueFault("a text or a number", "bytes", "leaving the column out")
        if name in self._stated and kind == "text":
            convert = converter(self._stated[name], self._zone, self._decimal)
            return value if convert is None else convert(value)
        if kind == "any":
            return from_canonical(value)
        if kind == "text" and wanted not in (None, "text"):
            return one(wanted, value, self._zone)
        if kind == "boolean" or (wanted == "boolean" and kind == "integer" and value in (0, 1)):
            value = bool(value)
        elif wanted == "float" and kind == "integer" and float(value) == value:
            value = float(value)
        if self.kinds[name] not in ("any", _name(value)):
            expected = f"the kind {self.kinds[name]}"
            raise ValueFault(expected, repr(value)[:60], "another kind (--type NAME=KIND)")
        return value


def _name(value: Value) -> str:
    names = {bool: "boolean", int: "integer", float: "float", str: "text"}
    return names.get(type(value), "any")

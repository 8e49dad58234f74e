"""Events that are in memory already, as a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.language.log import COLUMN_KINDS, base_kind
from whence.engine.sources.source import Report, Split, source_schema
from whence.engine.values import Value, describe, kind_of
from whence.engine.values.columns import as_column, kind_of_column

__all__ = ["MemorySource"]

_BATCH = 5_000


class MemorySource:
    """Records, or plain values, which become records with one field ``value``.

    Attributes:
        plain: whether events are plain values.
        columns: as declared, else what all events together have: then every event is seen first.
    """

    format = "memory"
    ordered = True

    def __init__(
        self, events: Iterable[Value], columns: Mapping[str, str] | None = None, name: str = ""
    ) -> None:
        """Take the events; they can be read once unless they are a list."""
        self.name = name or "the log"
        self.roles: Mapping[str, str] = {}
        self.report = Report()
        stream = iter(events)
        first = list(islice(stream, 1))
        self.plain = not (first and isinstance(first[0], Mapping)) and columns is None
        if columns is None:
            first += stream
            self.columns: Mapping[str, str] = _columns(first, self.plain)
        else:
            self.columns = {name: base_kind(kind) for name, kind in columns.items()}
        self._events: Iterable[Value] = chain(first, stream) if columns is not None else first
        for taken in ("position", "row"):
            if taken in self.columns:
                msg = (
                    f"{self.name}: expected columns other than position and row, which the record "
                    f"needs for itself; got {taken!r}; try {taken}_"
                )
                raise LogError(msg)

    def batches(self, split: Split | None = None) -> Iterator[pa.RecordBatch]:
        """The events in order."""
        self.report.begin()
        stream = iter(self._events)
        while events := list(islice(stream, _BATCH)):
            first = self.report.read
            records = [self._record(event, first + n) for n, event in enumerate(events)]
            rows = pa.array(range(first, first + len(events)), pa.int64())
            own = [
                self._column(name, kind, [r.get(name) for r in records], first)
                for name, kind in self.columns.items()
            ]
            self.report.read += len(events)
            yield pa.RecordBatch.from_arrays([rows, *own], schema=source_schema(self.columns))

    def splits(self, wanted: int) -> Sequence[Split]:
        """What is in this process's memory stays in one piece."""
        return (Split(),)

    def fingerprint(self) -> str:
        """Nothing outside can change it."""
        return ""

    def _record(self, event: Value, position: int) -> Mapping[str, Value]:
        if self.plain:
            return {"value": event}
        if isinstance(event, Mapping):
            return event
        msg = (
            f"{self.name}, position {position}: expected a record like the ones before; "
            f"got {describe(event)}; try records only, or plain values only"
        )
        raise LogError(msg)

    def _column(self, name: str, kind: str, values: list[Any], first: int) -> pa.Array:
        try:
            return as_column(values, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, ValueError) as fault:
            for at, value in enumerate(values):
                try:
                    as_column([value], kind)
                except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, ValueError):
                    where = f"{self.name}, position {first + at}, field {name!r}"
                    msg = f"{where}: {_unfit(value, kind)}"
                    raise LogError(msg) from fault
            raise


def _unfit(value: Any, kind: str) -> str:
    own = kind_of(value)
    if hasattr(value, "tolist"):  # of an array of numpy, or one itself
        hint = "array.tolist() in its place, or a pandas or Arrow table"
        return f"expected a value of Python itself; got {describe(value)}; try {hint}"
    if own == "integer":
        return f"expected an integer of 64 bits; got {describe(value)}; try a float or a text"
    hint = f"the kind {own}" if own in COLUMN_KINDS else "a number, a text, a list or a dict"
    return f"expected {kind}; got {describe(value)}; try {hint}"


def _columns(events: list[Any], plain: bool) -> dict[str, str]:
    names: dict[str, list[Value]] = {}
    for event in events:
        fields = {"value": event} if plain else event if isinstance(event, Mapping) else {}
        for name, value in fields.items():
            names.setdefault(name, []).append(value)
    return {name: kind_of_column(values) for name, values in names.items()}

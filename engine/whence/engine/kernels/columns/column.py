"""Values in columns: what a batch of events holds, typed as far as the kinds are known.

A column's kind is that of its values; ``any`` holds Python values, ``record`` holds a column for
every field. Where ``valid`` is false the value is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from whence.engine.kernels.columns.texts import Texts
from whence.engine.values import INT64_MAX, INT64_MIN, Value, kind_of
from whence.engine.values.columns import canonical, column_type, from_canonical

__all__ = ["Bools", "Column", "Ints", "concat", "constant", "from_arrow", "from_values", "records"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TYPES: dict[str, Any] = {
    "boolean": np.bool_,
    "integer": np.int64,
    "float": np.float64,
    "text": np.int64,
    "instant": np.int64,
    "duration": np.int64,
    "any": object,
}


@dataclass(frozen=True, slots=True)
class Column:
    """Some values of one kind.

    Attributes:
        kind: ``boolean``, ``integer``, ``float``, ``text``, ``instant``, ``duration``, ``any`` or
            ``record``.
        data: the values: text by number, times in microseconds; empty for records.
        valid: which are present; ``None`` if all are.
        texts: what the numbers of texts mean.
        fields: for records, the columns by name.
        length: how many values.
        bounds: of numbers, between which two all data lie, where that is known already.
        spare: nobody will read the data again but the one who has the column now, so that the next
            result may take their place; never in a batch.
    """

    kind: str
    data: npt.NDArray[Any]
    valid: Bools | None
    texts: Texts
    fields: Mapping[str, Column] | None = None
    length: int = -1
    bounds: tuple[float, float] | None = None
    spare: bool = False

    def __len__(self) -> int:
        return len(self.data) if self.fields is None else self.length

    @property
    def present(self) -> Bools:
        """Which values are not missing."""
        if self.kind == "any":
            return np.fromiter((v is not None for v in self.data), np.bool_, len(self))
        return np.ones(len(self), np.bool_) if self.valid is None else self.valid

    def take(self, rows: Ints) -> Column:
        """The values at some rows, in that order; a row below 0 gives missing."""
        lost = rows < 0
        if lost.any():
            if not len(self):
                return missing(len(rows), self.kind, self.texts, self.fields)
            valid = self.present[rows] & ~lost
            return self._at(np.where(lost, 0, rows), valid)
        return self._at(rows, None if self.valid is None else self.valid[rows])

    def _at(self, rows: Ints, valid: Bools | None) -> Column:
        if self.fields is not None:
            fields = {name: column.take(rows) for name, column in self.fields.items()}
            return Column(self.kind, self.data, valid, self.texts, fields, len(rows))
        data = self.data[rows]
        if self.kind == "any" and valid is not None:
            data[~valid] = None
            valid = None
        return Column(self.kind, data, valid, self.texts, bounds=self.bounds)

    def slice(self, start: int, stop: int) -> Column:
        """The values of some neighbouring rows."""
        valid = None if self.valid is None else self.valid[start:stop]
        if self.fields is not None:
            fields = {name: column.slice(start, stop) for name, column in self.fields.items()}
            return Column(self.kind, self.data, valid, self.texts, fields, stop - start)
        return Column(self.kind, self.data[start:stop], valid, self.texts, bounds=self.bounds)

    def held(self) -> Column:
        """The same values for others to read."""
        if not self.spare:
            return self
        return Column(self.kind, self.data, self.valid, self.texts, bounds=self.bounds)

    def copy(self) -> Column:
        """The same values, holding on to no other column."""
        valid = None if self.valid is None else self.valid.copy()
        if self.fields is not None:
            fields = {name: column.copy() for name, column in self.fields.items()}
            return Column(self.kind, self.data, valid, self.texts, fields, self.length)
        return Column(self.kind, self.data.copy(), valid, self.texts)

    def item(self, row: int) -> Value:
        """One value, as the interpreter has it."""
        return self.slice(row, row + 1).to_list()[0]

    def to_list(self) -> list[Value]:
        """All values, as the interpreter has them."""
        if self.fields is not None:
            names = list(self.fields)
            lists = [column.to_list() for column in self.fields.values()]
            rows = zip(*lists, strict=True) if lists else ((),) * len(self)
            values: list[Value] = [dict(zip(names, row, strict=True)) for row in rows]
        elif self.kind == "text":
            if not len(self.texts):
                return [None] * len(self)
            values = self.texts.at(self.data)  # type: ignore[assignment]
        elif self.kind == "instant":
            values = [_EPOCH + timedelta(microseconds=v) for v in self.data.tolist()]
        elif self.kind == "duration":
            values = [timedelta(microseconds=v) for v in self.data.tolist()]
        else:
            values = self.data.tolist()
        if self.valid is None:
            return values
        return [v if ok else None for v, ok in zip(values, self.valid.tolist(), strict=True)]

    def to_any(self) -> Column:
        """The same values as Python has them."""
        return self if self.kind == "any" else from_values(self.to_list(), "any", self.texts)

    def to_arrow(self) -> pa.Array:
        """As an Arrow array; what has no type of its own as canonical text."""
        if self.kind in ("any", "record"):
            values = [None if v is None else canonical(v) for v in self.to_list()]
            return pa.array(values, pa.string())
        mask = None if self.valid is None else ~self.valid
        if self.kind == "text":
            if not len(self.texts):
                return pa.nulls(len(self), pa.string())
            used, places = np.unique(self.data, return_inverse=True)
            table = pa.array(self.texts.at(used), pa.string())
            codes = pa.array(places.astype(np.int32), mask=mask)
            return pa.DictionaryArray.from_arrays(codes, table).dictionary_decode()
        return pa.array(self.data, mask=mask).cast(column_type(self.kind), safe=False)


def _typed(values: Sequence[Value], kind: str, texts: Texts) -> npt.NDArray[Any]:
    if kind == "text":
        return texts.codes(values)  # type: ignore[arg-type]
    if kind == "instant":
        return _numbers(values, lambda v: (v - _EPOCH) // _MICROSECOND)
    if kind == "duration":
        return _numbers(values, lambda v: v // _MICROSECOND)
    if kind == "any":
        data = np.empty(len(values), object)
        data[:] = values
        return data
    return np.fromiter((0 if v is None else v for v in values), _TYPES[kind], len(values))


def _numbers(values: Sequence[Any], convert: Callable[[Any], int]) -> Ints:
    return np.fromiter((0 if v is None else convert(v) for v in values), np.int64, len(values))


def from_values(values: Iterable[Value], kind: str, texts: Texts) -> Column:
    """A column of Python values of a kind; those that do not fit make it ``any``."""
    listed = list(values)
    if kind == "record" or kind not in _TYPES:
        kind = "any"
    if kind == "integer" and any(
        v is not None and not INT64_MIN <= v <= INT64_MAX  # type: ignore[operator]
        for v in listed
    ):
        kind = "any"
    if kind == "duration" and any(
        v is not None and not INT64_MIN <= v // _MICROSECOND <= INT64_MAX  # type: ignore[operator]
        for v in listed
    ):
        kind = "any"
    if kind == "any":
        data = np.empty(len(listed), object)
        for row, value in enumerate(listed):
            data[row] = value
        return Column("any", data, None, texts)
    valid = None
    if any(v is None for v in listed):
        valid = np.fromiter((v is not None for v in listed), np.bool_, len(listed))
    return Column(kind, _typed(listed, kind, texts), valid, texts)


def guessed(values: Iterable[Value], texts: Texts) -> Column:
    """A column of whatever kind all present values share."""
    listed = list(values)
    kinds = {kind_of(v) for v in listed} - {"missing"}
    (kind,) = kinds if len(kinds) == 1 else ("any",)
    if kind == "instant" and any(v is not None and v.tzinfo is None for v in listed):  # type: ignore[attr-defined]
        kind = "any"  # a time without zone is refused where it is used
    return from_values(listed, kind, texts)


def constant(value: Value, count: int, texts: Texts) -> Column:
    """The same value again and again."""
    one = guessed([value], texts)
    return one.take(np.zeros(count, np.int64))


def missing(
    count: int, kind: str, texts: Texts, fields: Mapping[str, Column] | None = None
) -> Column:
    """Nothing but missing values."""
    valid = np.zeros(count, np.bool_)
    if fields is not None:
        inner = {n: missing(count, c.kind, texts, c.fields) for n, c in fields.items()}
        return Column("record", np.empty(0, object), valid, texts, inner, count)
    if kind == "any":
        return Column("any", np.full(count, None, object), None, texts)
    return Column(kind, np.zeros(count, _TYPES[kind]), valid, texts)


def records(fields: Mapping[str, Column], count: int, texts: Texts) -> Column:
    """A column of records."""
    return Column("record", np.empty(0, object), None, texts, dict(fields), count)


def concat(columns: Sequence[Column]) -> Column:
    """One column after the other; of different kinds they become ``any``."""
    filled = [column for column in columns if len(column)] or list(columns[:1])
    if len(filled) == 1:
        return filled[0]
    first = filled[0]
    kinds = {column.kind for column in filled}
    valid = None
    if kinds == {"record"}:
        names = [tuple(c.fields or ()) for c in filled]
        if len(set(names)) == 1:
            assert first.fields is not None
            fields = {n: concat([c.fields[n] for c in filled if c.fields]) for n in first.fields}
            if any(c.valid is not None for c in filled):
                valid = np.concatenate([c.present for c in filled])
            count = sum(len(c) for c in filled)
            return Column("record", first.data, valid, first.texts, fields, count)
    if len(kinds) > 1 or kinds == {"record"}:
        filled = [column.to_any() for column in filled]
        return Column("any", np.concatenate([c.data for c in filled]), None, first.texts)
    if any(c.valid is not None for c in filled):
        valid = np.concatenate([c.present for c in filled])
    return Column(first.kind, np.concatenate([c.data for c in filled]), valid, first.texts)


def from_arrow(array: pa.Array, kind: str, texts: Texts) -> Column:
    """A column of an Arrow array, typed as the record types this kind."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks else pa.array([], array.type)
    if kind not in _TYPES or kind == "any":
        found = [None if v is None else from_canonical(v) for v in array.to_pylist()]
        return from_values(found, "any", texts)
    valid = None if not array.null_count else np.asarray(array.is_valid())
    if kind == "text":
        return Column(kind, texts.from_arrow(array), valid, texts)
    if kind == "boolean":
        data = array.fill_null(False).to_numpy(zero_copy_only=False)
    elif kind == "float":
        data = array.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    else:
        data = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return Column(kind, data, valid, texts)

"""What an expression reads: the events of some pipes, or some rows of them, in columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whence.engine.kernels.columns.column import Column, Ints, from_values
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.expressions.functions.base import by_rows, first_bad
from whence.engine.language.compiled import field_of

__all__ = ["Reading"]


class Reading:
    """Some rows of a front; what is read twice is prepared once.

    Args:
        columns: the values of each pipe.
        count: how many rows there are.
        texts: the numbers of texts.
    """

    __slots__ = ("_columns", "_fields", "_outer", "_rows", "count", "texts")

    def __init__(
        self,
        columns: Sequence[Column],
        count: int,
        texts: Texts,
        outer: Reading | None = None,
        rows: Ints | None = None,
    ) -> None:
        self._columns: dict[int, Column] = dict(enumerate(columns))
        self.count = count
        self.texts = texts
        self._outer = outer
        self._rows = rows
        self._fields: dict[tuple[int, str], Column] = {}

    def some(self, rows: Ints) -> Reading:
        """The same for some of the rows."""
        return Reading((), len(rows), self.texts, self, rows)

    def head(self, count: int) -> Reading:
        """The same for the first rows."""
        return self.some(np.arange(count))

    def event(self, pipe: int) -> Column:
        """The events of a pipe."""
        found = self._columns.get(pipe)
        if found is None:
            assert self._outer is not None
            assert self._rows is not None
            found = self._columns[pipe] = self._outer.event(pipe).take(self._rows)
        return found

    def field(self, pipe: int, name: str) -> Column:
        """A field of the events of a pipe; a constant if no event has it."""
        found = self._fields.get((pipe, name))
        if found is None:
            found = self._fields[pipe, name] = self._field(pipe, name)
        return found

    def _kind(self, pipe: int) -> str:
        return self._columns[pipe].kind if self._outer is None else self._outer._kind(pipe)

    def _field(self, pipe: int, name: str) -> Column:
        if self._outer is not None and self._kind(pipe) == "record":
            assert self._rows is not None
            outer = self._outer.field(pipe, name)
            return outer if len(outer) == 1 else outer.take(self._rows)
        events = self.event(pipe)
        if events.fields is not None:
            held = events.fields.get(name)
            if held is None:
                return from_values([None], "any", self.texts)
            return (
                held
                if events.valid is None
                else held.take(np.where(events.valid, np.arange(self.count), -1))
            )
        if events.kind == "any":
            return by_rows(lambda record: field_of(record, name), [events], self.count, self.texts)
        if name != "value":
            first_bad(events.present)
        return events

"""Pages of a long table, from the record: a part at a time, never all of it in memory.

The matches of a filter are counted once per part and cached; a page reads only its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whence.engine.record import LogRecord, RunRecord
from whence.engine.values import Value
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import from_canonical
from whence.store.catalog import StoredStream
from whence.store.questions.choosing import Condition

__all__ = ["Filter", "LogPages", "OutputPages", "Row"]

MOST_VALUES = 12
"""A pipe with more different values than this shows none of them as a shortcut."""


@dataclass(frozen=True)
class Filter:
    """Which rows are meant; what is empty says nothing.

    Attributes:
        where: a formula over an output's value.
        search: a text in the value, or in a text column of the log's event.
        case: the case of the event after which an output appeared.
    """

    where: str = ""
    search: str = ""
    case: str = ""

    @property
    def empty(self) -> bool:
        """Whether every row is meant."""
        return not (self.where or self.search or self.case)


@dataclass(frozen=True)
class Row:
    """An output: its position, when it appeared, and its value."""

    position: int
    moment: int
    value: Value


def _page(
    counts: Sequence[int], first: int, size: int, part: Callable[[int], pa.Table]
) -> Iterator[pa.Table]:
    """The stretch of the rows from ``first`` on, from the parts that hold it."""
    begin = 0
    for number, many in enumerate(counts):
        lo, hi = max(first - begin, 0), min(first + size - begin, many)
        if lo < hi:
            yield part(number).slice(lo, hi - lo)
        begin += many
        if begin >= first + size:
            return


def _text_mask(table: pa.Table, columns: Sequence[str], search: str) -> NDArray[np.bool_]:
    found = np.zeros(table.num_rows, dtype=bool)
    for name in columns:
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
            if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
                continue
            column = pc.cast(column, pa.string())
        hit = pc.match_substring(column, search, ignore_case=True)
        found |= np.asarray(pc.fill_null(hit, False).to_numpy(zero_copy_only=False), dtype=bool)
    return found


class LogPages:
    """The events of a log, page by page."""

    def __init__(self, log: LogRecord) -> None:
        self.log = log
        self.columns = list(log.columns)
        self.chunk = log.manifest.chunk

    def part(self, number: int, search: str) -> pa.Table:
        """What is left of a part."""
        table = self.log.part(number)
        return table.filter(pa.array(_text_mask(table, self.columns, search))) if search else table

    def counts(self, search: str) -> list[int]:
        """How many events of each part are meant."""
        parts = self.log.manifest.parts
        if not search:
            whole = [self.chunk] * parts
            return [*whole[:-1], self.log.length - self.chunk * (parts - 1)] if parts else []
        return [self.part(number, search).num_rows for number in range(parts)]

    def page(
        self, counts: Sequence[int], search: str, first: int, size: int
    ) -> list[tuple[int, Value]]:
        found: list[tuple[int, Value]] = []
        for table in _page(counts, first, size, lambda n: self.part(n, search)):
            places = table.column("position").to_pylist()
            found += zip(places, self.log.events(table), strict=True)
        return found

    def stretch(self, lo: int, hi: int) -> pa.Table:
        """The events from one position to another, as columns."""
        tables = [self.log.part(n) for n in range(lo // self.chunk, hi // self.chunk + 1)]
        whole = pa.concat_tables(tables)
        return whole.slice(lo - lo // self.chunk * self.chunk, hi - lo + 1)


class OutputPages:
    """The outputs of a pipe, page by page.

    The log's event after which an output appeared is looked at only if the chain reads one log:
    with several, the moment is a round.
    """

    def __init__(self, run: RunRecord, stream: StoredStream, log: LogPages | None) -> None:
        """Take a pipe of a run of the record."""
        self.run = run
        self.stream = stream
        self.log = log
        self.parts = run.manifest.by_name[stream.name].outputs

    def counts(self, asked: Filter) -> list[int]:
        """How many outputs of each part are meant."""
        if asked.empty:
            return [part.rows for part in self.parts]
        return [self._part(number, asked).num_rows for number in range(len(self.parts))]

    def values(self) -> dict[str, int]:
        """The different values with how often each is there; nothing if there are many."""
        found: dict[str, int] = {}
        for part in self.parts.numbers:
            table = self.run.outputs(self.stream.name, part)
            for each in pc.value_counts(table.column("value")).to_pylist():
                found[each["values"]] = found.get(each["values"], 0) + each["counts"]
            if len(found) > MOST_VALUES:
                return {}
        return found

    def page(self, counts: Sequence[int], asked: Filter, first: int, size: int) -> list[Row]:
        found: list[Row] = []
        for table in _page(counts, first, size, lambda n: self._part(n, asked)):
            places, moments = (table.column(n).to_pylist() for n in ("position", "moment"))
            values = [from_canonical(text) for text in table.column("value").to_pylist()]
            found += map(Row, places, moments, values)
        return found

    def _part(self, number: int, asked: Filter) -> pa.Table:
        table = self.run.outputs(self.stream.name, self.parts[number].part)
        if asked.empty or not table.num_rows:
            return table
        keep = np.ones(table.num_rows, dtype=bool)
        if asked.where:
            keep &= self._where(table, Condition(asked.where, self.stream))
        if asked.search or asked.case:
            keep &= self._beside(table, asked)
        return table.filter(pa.array(keep))

    def _where(self, table: pa.Table, condition: Condition) -> NDArray[np.bool_]:
        """Each different value is looked at once."""
        coded = table.column("value").combine_chunks()
        if not pa.types.is_dictionary(coded.type):
            coded = coded.dictionary_encode()
        coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
        holds = [
            condition.holds({"value": from_canonical(text), "kind": None})
            for text in coded.dictionary.to_pylist()
        ]
        return np.asarray(np.array(holds, dtype=bool)[coded.indices.to_numpy()])

    def _beside(self, table: pa.Table, asked: Filter) -> NDArray[np.bool_]:
        """What the value, or the log's event beside it, has of a text or a case."""
        moments = table.column("moment").to_numpy()
        found = _text_mask(table, ["value"], asked.search) if asked.search else None
        column = None if self.log is None else self.log.log.manifest.case
        if self.log is None or moments.max() < 0:
            keep = np.ones(table.num_rows, dtype=bool) if found is None else found
            return np.zeros_like(keep) if asked.case else keep
        low, high = max(int(moments.min()), 0), int(moments.max())
        beside = self.log.stretch(low, min(high, self.log.log.length - 1))
        rows = np.clip(moments - low, 0, beside.num_rows - 1)
        after_one = moments >= 0  # an output may be there before any event
        keep = np.ones(table.num_rows, dtype=bool)
        if found is not None:
            keep &= found | (_text_mask(beside, self.log.columns, asked.search)[rows] & after_one)
        if asked.case:
            if column not in beside.column_names:
                return np.zeros_like(keep)
            same = pc.equal(pc.cast(beside.column(column), pa.string()), asked.case)
            known = pc.fill_null(same, False).to_numpy(zero_copy_only=False)
            keep &= np.asarray(known, dtype=bool)[rows] & after_one
        return keep

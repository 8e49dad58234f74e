"""XES logs as a source.

XES does not say ahead which attributes events have. So the file is read once, when it is opened,
into typed columns that are put aside on disk; then every column is known, and batches are read
from there. No more than a block of the file is held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.sources.cells import kind_and_format, zone_of
from whence.engine.sources.file_source import FileSource, check_stated, free_names
from whence.engine.sources.opening import LogBytes, has_changed, shown
from whence.engine.sources.source import Reading, Report, Split, source_schema
from whence.engine.sources.spill import Spill
from whence.engine.sources.xes.columns import CASE, NESTED, Rows, rows_of
from whence.engine.sources.xes.details import details_of
from whence.engine.sources.xes.pieces import declared_encoding, pieces
from whence.engine.values import ValueFault
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import as_column, column_type

__all__ = ["XesSource"]

_ROLES = {"case": CASE + "concept:name", "activity": "concept:name", "time": "time:timestamp"}
_LARGE = 1 << 22


class XesSource(FileSource):
    """A log in XES files, plain or packed.

    Columns are named as the attributes are; those of traces begin with ``case:``. What is nested
    in an attribute is in a column of its own, whose name ends with ``:nested``.

    Attributes:
        details: classifiers and what else the log says of itself, and how many traces it has.
    """

    format = "xes"

    def __init__(self, files: Sequence[Path], reading: Reading) -> None:
        """Read the files into columns.

        Raises:
            LogError: something in them does not fit, unless it is to be dropped or kept.
        """
        super().__init__(files, reading)
        self._zone = zone_of(reading.timezone)
        for column, kind in reading.kinds.items():
            try:
                kind_and_format(kind)
            except ValueFault as fault:
                msg = f"{self.name}, column {column!r}: a kind: {fault}"
                raise LogError(msg) from fault
        self.details: dict[str, Any] = {}
        self._aside: Spill | None = None
        self._found = Report()
        self._tags: dict[str, set[str]] = {}
        self._set_aside()
        names = sorted(self._tags, key=lambda name: not name.startswith(CASE))
        check_stated(self.name, names, reading.kinds)
        self._named: Mapping[str, str] = dict(zip(names, free_names(names), strict=True))
        self.columns = {self._named[name]: self._kind(name) for name in names}
        self.roles = {r: column for r, column in _ROLES.items() if column in self.columns}

    def splits(self, wanted: int) -> Sequence[Split]:
        """One: what is behind a stretch of XES cannot be known without reading up to it."""
        return (Split(),)

    def read(self, split: Split | None) -> Iterator[pa.RecordBatch]:
        """The rows that were put aside."""
        aside = self._aside or self._set_aside()
        found = self._found
        self.report.missing, self.report.bad = found.missing, list(found.bad)
        self.report.drop(found.dropped)
        schema = source_schema(self.columns)
        for batch in aside:
            columns = [batch.column("row")]
            for name, free in self._named.items():
                columns.append(_column(batch, name, sorted(self._tags[name]), self.columns[free]))
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def __getstate__(self) -> dict[str, Any]:
        """Travel without what is on this machine's disk."""
        return {**self.__dict__, "_aside": None}

    def _kind(self, name: str) -> str:
        if name in self.reading.kinds:
            return kind_and_format(self.reading.kinds[name])[0]
        tags = self._tags[name]
        if "nested" in tags:
            if len(tags) > 1:
                msg = (
                    f"{self.name}: expected no attribute {name!r} beside attributes nested in "
                    f"{name.removesuffix(NESTED)!r}; got both; try renaming one"
                )
                raise LogError(msg)
            return "any"
        return next(iter(tags)) if len(tags) == 1 else "any"

    def _set_aside(self) -> Spill:
        aside = Spill()
        self._tags, self.details = {}, {}
        self._found = Report(self.reading.on_bad)
        row = traces = without = 0
        for number, file in enumerate(self.files):
            name = shown(file)
            encoding = self.reading.encoding or declared_encoding(file, self.reading.limits)
            with LogBytes(file, self.reading.limits, encoding=encoding) as stream:
                for piece in pieces(stream, name, self.reading.limits):
                    rows = rows_of(piece, name, self.reading, self._zone, traces)
                    if number == 0:
                        details_of(piece, self.details)
                    self._put_aside(aside, number, row, rows)
                    row, traces = row + rows.count, traces + rows.traces
                    without += rows.without_events
                    self.reading.limits.check("events", row, name)
                    if stream.size > _LARGE:
                        self.tell(stream.done, stream.size)
        if self.fingerprint() != self._as_opened:
            raise has_changed(self.name)
        self.details.update(traces=traces, traces_without_events=without)
        self._aside = aside
        return aside

    def _put_aside(self, aside: Spill, file: int, row: int, rows: Rows) -> None:
        report, self.report = self.report, self._found
        for fault in rows.faults:
            self.bad(file, row + fault.row, fault.line, fault.column, fault.problem)
        self.report = report
        for name, tag in rows.columns:
            self._tags.setdefault(name, set()).add(tag)
        self.reading.limits.check("columns", len(self._tags), shown(self.files[file]))
        if not rows.count:
            return
        numbers = pa.array(np.arange(row, row + rows.count, dtype=np.int64))
        names = ["row", *(f"{tag}:{name}" for name, tag in rows.columns)]
        batch = pa.RecordBatch.from_arrays([numbers, *rows.columns.values()], names)
        if self.reading.on_bad == "drop" and not rows.fits.all():
            self._found.dropped += int(rows.count - rows.fits.sum())
            batch = batch.filter(pa.array(rows.fits))
        aside.add(batch)


def _column(batch: pa.RecordBatch, name: str, tags: Sequence[str], kind: str) -> pa.Array:
    """One column of a batch, whichever kinds of values it has there."""
    made = None
    for tag in tags:
        place = batch.schema.get_field_index(f"{tag}:{name}")
        if place < 0:
            continue
        array = batch.column(place)
        if kind == "any" and tag not in ("any", "nested"):
            array = as_column(array.to_pylist(), "any")
        made = array if made is None else pc.coalesce(made, array)
    return pa.nulls(batch.num_rows, column_type(kind)) if made is None else made

"""Put rows in order by a key, with the row number as tie-break, in memory that does not grow.

Rows are sorted in runs that fit into memory; the runs lie on disk and are merged.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.values.arrow_compute import pc

__all__ = ["in_order_of"]

RUN_BYTES = 96 << 20
"""How much is sorted at once."""

BATCH_ROWS = 8_192
FAN_IN = 48
"""How many runs are merged at once."""


def in_order_of(
    batches: Iterable[pa.RecordBatch],
    keys: Sequence[str],
    *,
    folder: Path,
    name: str = "the log",
    missing: str | None = None,
    run_bytes: int = RUN_BYTES,
) -> Iterator[pa.RecordBatch]:
    """The rows in order of the keys, then of their row numbers.

    Args:
        batches: the rows; the column ``row`` numbers them.
        keys: columns to order by, the most important first.
        folder: where runs may lie meanwhile; they are removed.
        name: the log's name, for errors.
        missing: where rows without a key go, ``first`` or ``last``; ``None`` to refuse them.
        run_bytes: how much is sorted at once.

    Raises:
        LogError: a key is missing and nobody said where such rows go.
    """
    sorter = _Sorter([*keys, "row"], missing, folder, run_bytes)
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if missing is None:
            _check_keys(batch, keys, name)
        held.append(batch)
        size += batch.nbytes
        if size >= run_bytes:
            sorter.spill(sorter.cut(sorter.sort(pa.Table.from_batches(held))))
            held, size = [], 0
    if not sorter.runs:
        if held:
            yield from sorter.sort(pa.Table.from_batches(held)).to_batches(BATCH_ROWS)
        return
    if held:
        sorter.spill(sorter.cut(sorter.sort(pa.Table.from_batches(held))))
    yield from sorter.merged()


def _check_keys(batch: pa.RecordBatch, keys: Sequence[str], name: str) -> None:
    for key in keys:
        column = batch.column(key)
        if column.null_count:
            at = pc.index(column.is_null(), True).as_py()
            row = batch.column("row")[at].as_py() + 1
            msg = (
                f"{name}, row {row}, column {key!r}: expected a value, to order by; got none; "
                "try --missing first, or last, to state where such events go"
            )
            raise LogError(msg)


class _Sorter:
    """Sorted runs on disk."""

    def __init__(self, keys: list[str], missing: str | None, folder: Path, run_bytes: int) -> None:
        self.keys = keys
        self.runs: list[Path] = []
        self._batch_bytes = max(1, run_bytes // FAN_IN)
        self._first = missing == "first"
        self._folder = folder
        self._made = 0

    def sort(self, table: pa.Table) -> pa.Table:
        """The rows in order; Arrow puts what is missing last."""
        by: list[pa.ChunkedArray] = []
        for key in self.keys:
            column = table.column(key)
            if self._first and column.null_count:
                by.append(column.is_valid().cast(pa.int8()))
            by.append(column)
        names = [str(number) for number in range(len(by))]
        order = pc.sort_indices(
            pa.table(by, names=names), sort_keys=[(name, "ascending") for name in names]
        )
        return table.take(order)

    def cut(self, table: pa.Table) -> list[pa.RecordBatch]:
        """Batches so small that one of each run fits into memory."""
        rows = self._batch_bytes * table.num_rows // max(1, table.nbytes)
        return list(table.combine_chunks().to_batches(max(1, min(BATCH_ROWS, rows))))

    def spill(self, batches: Iterable[pa.RecordBatch]) -> None:
        path = self._folder / f"run-{self._made:05d}.arrow"
        self._made += 1
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        writer = None
        with pa.OSFile(str(path), "wb") as file:
            for batch in batches:
                writer = writer or pa.ipc.new_file(file, batch.schema, options=options)
                writer.write_batch(batch)
            assert writer is not None
            writer.close()
        self.runs.append(path)

    def merged(self) -> Iterator[pa.RecordBatch]:
        """All runs in one; they are gone afterwards."""
        while len(self.runs) > FAN_IN:
            some, self.runs = self.runs[:FAN_IN], self.runs[FAN_IN:]
            self.spill(self._merge(some, small=True))
        yield from self._merge(self.runs)
        self.runs = []

    def _merge(self, paths: Sequence[Path], *, small: bool = False) -> Iterator[pa.RecordBatch]:
        runs = [_Run(path) for path in paths]
        while runs:
            # What is not above the last row at hand of every run that goes on is complete.
            ends = [self._key(run.batch, run.batch.num_rows - 1) for run in runs if run.goes_on]
            end = min(ends) if ends else None
            ready = []
            for run in runs:
                count = run.batch.num_rows if end is None else self._until(run.batch, end)
                ready.append(run.take(count))
            table = self.sort(pa.Table.from_batches([batch for batch in ready if batch.num_rows]))
            yield from self.cut(table) if small else table.combine_chunks().to_batches(BATCH_ROWS)
            runs = [run for run in runs if run.fill()]
        for path in paths:
            path.unlink()

    def _until(self, batch: pa.RecordBatch, end: tuple[Any, ...]) -> int:
        places = range(batch.num_rows)
        return bisect_right(places, end, key=lambda place: self._key(batch, place))

    def _key(self, batch: pa.RecordBatch, place: int) -> tuple[Any, ...]:
        """A row's key, as Python compares it: in the order in which Arrow sorts."""
        made = []
        for name in self.keys:
            value = batch.column(name)[place]
            if not value.is_valid:
                made.append((0 if self._first else 3, 0))
            elif pa.types.is_temporal(value.type):
                made.append((1, value.value))
            else:
                plain = value.as_py()
                made.append((1, plain) if plain == plain else (2, 0))
        return tuple(made)


class _Run:
    """One run, a batch at a time."""

    def __init__(self, path: Path) -> None:
        self._source = pa.OSFile(str(path), "rb")
        self._reader = pa.ipc.open_file(self._source)
        self._next = 0
        self.batch: pa.RecordBatch = self._reader.get_batch(0).slice(0, 0)
        self.fill()

    @property
    def goes_on(self) -> bool:
        """Whether there are rows behind those at hand."""
        return bool(self._next < self._reader.num_record_batches)

    def take(self, count: int) -> pa.RecordBatch:
        """The first rows at hand; they are at hand no longer."""
        taken, self.batch = self.batch.slice(0, count), self.batch.slice(count)
        return taken

    def fill(self) -> bool:
        """Have rows at hand, if there are any left."""
        while not self.batch.num_rows and self.goes_on:
            self.batch = self._reader.get_batch(self._next)
            self._next += 1
        if not self.batch.num_rows:
            self._source.close()
            return False
        return True

"""Read logs of the record as batches of columns, cut at fixed multiples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from whence.engine.kernels.columns.column import Column, from_arrow, records
from whence.engine.kernels.columns.texts import Texts
from whence.engine.record.logs import LogRecord

__all__ = ["column_of", "read_batches"]


def read_batches(
    logs: Mapping[str, LogRecord], texts: Texts, size: int, first: int = 0
) -> Iterator[dict[str, Column]]:
    """The events of all logs, the same positions of each at a time.

    Args:
        logs: the logs by name.
        texts: numbers for their texts.
        size: positions a batch; batch n holds the positions from n*size on.
        first: the number of the first batch to read.
    """
    readers = {name: _Reader(log, first * size) for name, log in logs.items()}
    longest = max((log.length for log in logs.values()), default=0)
    for start in range(first * size, longest, size):
        yield {
            name: column_of(logs[name], reader.read(start + size), texts)
            for name, reader in readers.items()
        }


class _Reader:
    """Reads a log's parts one after the other."""

    def __init__(self, log: LogRecord, first: int) -> None:
        self.log = log
        chunk = log.manifest.chunk
        self.part = min(first // chunk, log.manifest.parts)
        self.at = first
        self.held: list[pa.Table] = []
        self.end = self.part * chunk
        self._more()
        if self.held:
            self.held = [self.held[0].slice(min(first - (self.part - 1) * chunk, chunk))]

    def _more(self) -> bool:
        if self.part >= self.log.manifest.parts:
            return False
        table = self.log.part(self.part)
        self.part += 1
        self.end += table.num_rows
        self.held.append(table)
        return True

    def read(self, stop: int) -> pa.Table:
        """The events up to a position."""
        while self.end < stop and self._more():
            pass
        whole = pa.concat_tables(self.held)
        count = max(min(stop, self.end) - self.at, 0)
        self.at += count
        self.held = [whole.slice(count)]
        return whole.slice(0, count)


def column_of(log: LogRecord, table: pa.Table, texts: Texts) -> Column:
    """The events of a table of a log's rows."""
    columns = {
        name: from_arrow(table.column(name), kind, texts) for name, kind in log.columns.items()
    }
    if log.manifest.plain:
        return columns["value"]
    return records(columns, table.num_rows, texts)

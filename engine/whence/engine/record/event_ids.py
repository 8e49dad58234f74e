"""The identity of single events, by which two versions of a log are matched.

An event is the same if it has the same id, where a column holds ids, else the same content, and is
the n-th such event of its log. Inserted rows therefore do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from whence.engine.record.event_digest import event_digests
from whence.engine.record.ordering import in_order_of
from whence.engine.values.arrow_compute import pc

__all__ = ["FILE", "EventIds"]

FILE = "events.parquet"
"""Beside a log's parts: digest (two numbers), occurrence, position; in order of the digests."""

_AT_ONCE = 8_192
_DIGESTS = pa.schema([("row", pa.int64()), ("high", pa.int64()), ("low", pa.int64())])
_SCHEMA = pa.schema(
    [
        ("high", pa.int64()),
        ("low", pa.int64()),
        ("occurrence", pa.int64()),
        ("position", pa.int64()),
    ]
)


class EventIds:
    """Writes the identities of a log's events while the log is taken in.

    Attributes:
        repeated: how many events are told from an earlier one only by their occurrence.
        twice: the positions of the first event whose id an earlier one has, and of that one; only
            where a column holds ids. Events without an id do not count.
        duplicates: how many events have an id that an earlier one has.
    """

    def __init__(self, folder: Path, secret: bytes, column: str | None = None) -> None:
        """Begin.

        Args:
            folder: the log's.
            secret: the key of the digests.
            column: the column that holds ids; ``None`` if none does.
        """
        self._folder = folder
        self._secret = secret
        self._column = column
        self.repeated = 0
        self.twice: tuple[int, int] | None = None
        self.duplicates = 0
        self._without: tuple[int, int] | None = None
        self._runs = folder / "digests.arrow"
        self._file = pa.OSFile(str(self._runs), "wb")
        self._writer = pa.ipc.new_stream(self._file, _DIGESTS)

    def add(self, batch: pa.RecordBatch, position: int) -> None:
        """Take the next events: row number, then the columns."""
        columns = batch.columns[1:]
        if self._column is not None:
            columns = [batch.column(self._column)]
        for start in range(0, batch.num_rows, _AT_ONCE):
            count = min(_AT_ONCE, batch.num_rows - start)
            some = [column.slice(start, count) for column in columns]
            high, low = event_digests(some, self._secret, count)
            if self._column is not None and self._without is None and some[0].null_count:
                at = pc.index(some[0].is_null(), True).as_py()
                self._without = int(high[at].view(np.int64)), int(low[at].view(np.int64))
            places = np.arange(position + start, position + start + count, dtype=np.int64)
            made = [pa.array(part.view(np.int64)) for part in (places, high, low)]
            self._writer.write_batch(pa.RecordBatch.from_arrays(made, schema=_DIGESTS))

    def finish(self) -> None:
        """Number the occurrences and write the file."""
        self.close()
        with (
            pa.OSFile(str(self._runs), "rb") as file,
            pq.ParquetWriter(self._folder / FILE, _SCHEMA, compression="zstd") as writer,
        ):
            stream = pa.ipc.open_stream(file)
            ordered = in_order_of(stream, ["high", "low"], folder=self._folder)
            before = -1
            for batch in _numbered(ordered):
                self.repeated += pc.sum(pc.greater(batch.column("occurrence"), 0)).as_py() or 0
                before = self._look_for_twice(batch, before)
                writer.write_batch(batch)
        self._runs.unlink()

    def _look_for_twice(self, batch: pa.RecordBatch, before: int) -> int:
        """Look for ids that come a second time; the last position of the batch.

        Args:
            batch: events in order of their digests, then of their positions.
            before: the last position of the batch before.
        """
        position = batch.column("position").to_numpy()
        if self._column is None:
            return int(position[-1])
        occurrence = batch.column("occurrence").to_numpy()
        again = occurrence > 0
        if self._without is not None:
            high, low = (batch.column(name).to_numpy() for name in ("high", "low"))
            again &= (high != self._without[0]) | (low != self._without[1])
        self.duplicates += int(np.count_nonzero(again))
        places = np.flatnonzero(again & (occurrence == 1))
        if len(places):
            at = int(places[np.argmin(position[places])])
            if self.twice is None or position[at] < self.twice[1]:
                self.twice = int(position[at - 1]) if at else before, int(position[at])
        return int(position[-1])

    def close(self) -> None:
        """Let go of the file."""
        if not self._file.closed:
            self._writer.close()
            self._file.close()


def _numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count events with the same digest, which come one after another, by position."""
    last: tuple[int, int] | None = None
    seen = 0
    for batch in batches:
        high = batch.column("high").to_numpy()
        low = batch.column("low").to_numpy()
        new = np.ones(len(high), dtype=bool)
        new[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
        new[0] = last != (int(high[0]), int(low[0]))
        places = np.arange(len(high))
        begins = np.maximum.accumulate(np.where(new, places, -1))
        occurrence = places - begins
        occurrence[begins < 0] += seen - 1  # goes on from the batch before
        last, seen = (int(high[-1]), int(low[-1])), int(occurrence[-1]) + 1
        yield pa.RecordBatch.from_arrays(
            [
                batch.column("high"),
                batch.column("low"),
                pa.array(occurrence.astype(np.int64)),
                batch.column("row"),
            ],
            schema=_SCHEMA,
        )

"""Batches put aside on disk until all of a log has been seen; removed with their owner."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator

import pyarrow as pa

from whence.engine.errors import LogError

__all__ = ["Spill"]


class Spill:
    """Batches, each with columns of its own, in a file that has no name and so cannot be left over.

    >>> aside = Spill()
    >>> aside.add(pa.record_batch({"a": [1]}))
    >>> aside.add(pa.record_batch({"b": ["x"]}))
    >>> [batch.schema.names for batch in aside]
    [['a'], ['b']]
    """

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            self._file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._file)
        self._places: list[tuple[int, int]] = []
        self._end = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Put a batch behind the others.

        Raises:
            LogError: there is no room for it.
        """
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        data = memoryview(sink.getvalue())
        self._places.append((self._end, len(data)))
        try:
            while data:
                written = os.pwrite(self._file, data, self._end)
                data, self._end = data[written:], self._end + written
        except OSError as fault:
            msg = (
                f"a log: expected room for temporary files in {tempfile.gettempdir()}; "
                f"got {fault.strerror}; try TMPDIR with a larger place"
            )
            raise LogError(msg) from fault

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The batches in order; several may read at the same time."""
        for offset, size in self._places:
            data = b""
            while len(data) < size:
                data += os.pread(self._file, size - len(data), offset + len(data))
            with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
                yield from reader

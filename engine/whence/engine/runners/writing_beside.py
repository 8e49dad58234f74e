"""Write parts beside the work: other threads pack and write them while kernels go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from typing import Any

import pyarrow as pa

from whence.engine.compact import Associations
from whence.engine.record.runs import RunWriter

__all__ = ["WritingBeside"]

_MOST = 8
"""So many parts wait at most: what is not written yet is in memory."""

_WRITERS = 2
"""So many are written at the same time; they are listed in order."""

_PUBLISHED = 1.0
"""Seconds between two manifests: each lists all parts, so that one a part would be too many."""


class WritingBeside:
    """Does what a run's writer does, in order, in threads of its own.

    Args:
        writer: the run's.
        seconds: at least so long between two manifests.
    """

    def __init__(self, writer: RunWriter, seconds: float = _PUBLISHED) -> None:
        """Begin with nothing to write."""
        self._writer = writer
        self._seconds = seconds
        self._published = time.monotonic()
        self._unpublished = False
        self._fault: BaseException | None = None
        self._queue: Queue[Callable[[], None] | None] = Queue(_MOST)
        self._pool = ThreadPoolExecutor(_WRITERS, "whence-writing")
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while (task := self._queue.get()) is not None:
            try:
                if self._fault is None:
                    task()
            except BaseException as fault:
                self._fault = fault
            finally:
                self._queue.task_done()
        self._queue.task_done()

    def _do(self, task: Callable[[], None]) -> None:
        self._check()
        self._queue.put(task)

    def _check(self) -> None:
        if self._fault is not None:
            raise self._fault

    def add_stream(self, stream: Mapping[str, Any]) -> None:
        """List one more stream, unless it is listed already."""
        self._do(lambda: self._writer.add_stream(stream))

    def add(
        self, stream: str, part: int, events: pa.Table | None, rows: Associations, tracked: int = 0
    ) -> None:
        """Write one part of a stream, when its turn has come."""
        self._check()
        self._unpublished = True
        written = self._pool.submit(self._writer.write_part, stream, part, events, rows, tracked)
        self._do(lambda: self._writer.list_part(written.result()))

    def publish(self) -> None:
        """Let what was added count, unless that was done a moment ago."""
        if time.monotonic() - self._published >= self._seconds:
            self._published = time.monotonic()
            self._unpublished = False
            self._do(self._writer.publish)

    def settle(self) -> None:
        """Wait until everything is written, and let it count."""
        if self._unpublished:
            self._unpublished = False
            self._do(self._writer.publish)
        self.wait()

    def wait(self) -> None:
        """Wait until everything is written."""
        self._queue.join()
        self._check()

    def close(self) -> None:
        """Write what waits, and no more; a fault stays where it is."""
        self._queue.put(None)
        self._thread.join()
        self._pool.shutdown()

"""Write parts of the record in other threads while the next events are worked on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import Queue
from typing import Any

import pyarrow as pa

from whence.engine.lineage.association import Association
from whence.engine.lineage.block import Associations
from whence.engine.record.journal import Journal
from whence.engine.record.manifest import StreamInfo
from whence.engine.record.run_writer import RunWriter

__all__ = ["Behind", "WriterBehind", "WritingBeside"]

_WAITING = 32
"""At most this number of files waits to be written; the caller then waits as well."""

_PARTS = 8
"""The same for parts of a run on batches, which are in memory until they are written."""

_WRITERS = 2
"""At most this number is written at the same time; they are listed in order."""

_PUBLISHED = 1.0
"""Seconds between two manifests: each lists all parts, so that one a part would be too many."""


class Behind:
    """Does work in threads of its own, in any order, and then what follows from it, in order.

    After a fault nothing more follows, and each further call raises it.

    Args:
        most: at most this number of things waits.
    """

    def __init__(self, most: int = _WAITING) -> None:
        self._pool = ThreadPoolExecutor(_WRITERS, "whence-writing")
        self._queue: Queue[tuple[Future[Any], Callable[[Any], None] | None] | None] = Queue(most)
        self._fault: BaseException | None = None
        self._dropped = False
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        while (item := self._queue.get()) is not None:
            done, then = item
            try:
                if self._fault is None and not self._dropped:
                    found = done.result()
                    if then is not None and not self._dropped:
                        then(found)
            except BaseException as fault:
                self._fault = fault
            finally:
                self._queue.task_done()
        self._queue.task_done()

    def do(self, work: Callable[[], Any], then: Callable[[Any], None] | None = None) -> None:
        """Have something done.

        Args:
            work: what is to be done.
            then: called with the result, in the order of these calls.
        """
        self._check()
        self._queue.put((self._pool.submit(work), then))

    def follow(self, then: Callable[[], None]) -> None:
        """Have something done in order, after all that follows from earlier work."""
        self._check()
        ready: Future[Any] = Future()
        ready.set_result(None)
        self._queue.put((ready, lambda _: then()))

    def _check(self) -> None:
        if self._fault is not None:
            raise self._fault

    def wait(self) -> None:
        self._queue.join()
        self._check()

    def end(self, *, drop: bool = False) -> None:
        """Do what waits, unless it is dropped, and nothing more; a fault stays where it is."""
        if not self._thread.is_alive():
            return
        self._dropped = drop
        if drop:
            self._pool.shutdown(cancel_futures=True)
        self._queue.put(None)
        self._thread.join()
        self._pool.shutdown()


class WriterBehind(RunWriter):
    """A writer that writes its parts behind; nothing counts before it is there.

    Attributes:
        behind: where the writing is done.
    """

    behind: Behind

    def write_behind(self) -> Behind:
        """From now on write behind."""
        self.behind = Behind()
        self._journal = Journal(self.folder)
        return self.behind

    def add(
        self,
        stream: str,
        part: int,
        events: pa.Table | None,
        rows: Iterable[Association] | Associations,
        tracked: int = 0,
    ) -> None:
        """Have one part of a stream written; `publish` waits for it and makes it count."""
        self.behind.do(lambda: self.write_part(stream, part, events, rows, tracked), self.list_part)

    def publish(self) -> None:
        """Wait for the parts, then let them count."""
        if not hasattr(self, "behind"):
            super().publish()  # taken up, and nothing was written yet
            return
        if self._stated.status == "failed":
            self.behind.end()  # perhaps it failed in writing: what is listed is there
        else:
            self.behind.wait()
        if self._stated.is_running:
            self.flush()
            self.check()
            self._journal.publish(self._listed())
        else:
            super().publish()

    def leave(self) -> None:
        """Write no more, without an end."""
        self.behind.end(drop=True)
        super().leave()

    def finish(self, status: str, **told: Any) -> None:
        """The run is over, and its parts are there."""
        super().finish(status, **told)
        self.behind.end()


class WritingBeside:
    """Does what a run's writer does, in order, in other threads.

    Args:
        writer: the run's.
        seconds: at least this time between two manifests.
    """

    def __init__(self, writer: RunWriter, seconds: float = _PUBLISHED) -> None:
        self._writer = writer
        self._seconds = seconds
        self._published = time.monotonic()
        self._unpublished = False
        self._behind = Behind(_PARTS)
        self.wait, self.close = self._behind.wait, self._behind.end

    def add_stream(self, stream: StreamInfo) -> None:
        """List one more stream, unless it is listed already."""
        self._behind.follow(lambda: self._writer.add_stream(stream))

    def add(
        self, stream: str, part: int, events: pa.Table | None, rows: Associations, tracked: int = 0
    ) -> None:
        """Write one part of a stream, and list it when its turn has come."""
        self._unpublished = True
        write = partial(self._writer.write_part, stream, part, events, rows, tracked)
        self._behind.do(write, self._writer.list_part)

    def publish(self) -> None:
        """Let what was added count, unless that was done a moment ago."""
        if time.monotonic() - self._published >= self._seconds:
            self._published = time.monotonic()
            self._unpublished = False
            self._behind.follow(self._writer.publish)

    def settle(self) -> None:
        """Wait until everything is written, and let it count."""
        if self._unpublished:
            self._unpublished = False
            self._behind.follow(self._writer.publish)
        self.wait()

"""Write parts of the record while the next events are worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pyarrow as pa

from whence.engine.associations import Association
from whence.engine.compact import Associations
from whence.engine.record.journal import Journal
from whence.engine.record.runs import RunWriter

__all__ = ["Behind", "WriterBehind"]

_WAITING = 32
"""So many files may wait to be written; who has more waits as well."""


_WRITERS = 2
"""So many are written at the same time."""


class Behind:
    """Does things in threads of its own, in any order; Arrow lets others work meanwhile."""

    def __init__(self) -> None:
        """Nothing is to be done yet."""
        self._pool = ThreadPoolExecutor(_WRITERS, "whence-writing")
        self._waiting: deque[tuple[Future[Any], Callable[[Any], None] | None]] = deque()

    def do(self, work: Callable[[], Any], then: Callable[[Any], None] | None = None) -> None:
        """Have something done; what went wrong before is told now.

        Args:
            work: what is to be done.
            then: told here what came of it, in the order in which things were asked for.
        """
        if len(self._waiting) >= _WAITING:
            self._settle()
        self._waiting.append((self._pool.submit(work), then))

    def _settle(self) -> None:
        done, then = self._waiting.popleft()
        found = done.result()
        if then is not None:
            then(found)

    def wait(self) -> None:
        """Wait until all is done, and tell what went wrong."""
        while self._waiting:
            self._settle()

    def end(self) -> None:
        """Begin nothing more, and wait for what has begun."""
        self._pool.shutdown(cancel_futures=True)


class WriterBehind(RunWriter):
    """A writer that writes its parts behind; nothing counts before it is there.

    Attributes:
        behind: where the writing is done.
    """

    behind: Behind

    def write_behind(self) -> Behind:
        """From now on write behind."""
        self.behind = Behind()
        self._journal = Journal(self.folder, self._manifest)
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
        self.behind.wait()
        if self._manifest["status"] == "running":
            self.flush()
            self.check()
            self._journal.publish()
        else:
            super().publish()

    def leave(self) -> None:
        """Write no more, without an end."""
        self.behind.end()
        super().leave()

    def finish(self, status: str, **told: Any) -> None:
        """The run is over, and its parts are there."""
        super().finish(status, **told)
        self.behind.end()

"""Follow a folder and be killed at a named point: ``python -m ... ROOT FOLDER CHAIN POINT BATCH``.

The points, in the order in which a batch passes them:

- ``begin``: Spark has written down what belongs to the batch; nothing was taken of it.
- ``copying``: of a record at a URI: Spark's notes are being copied there, the last one is not.
- ``part``: inside; a part of the record is about to appear.
- ``listed``: inside; the manifest lists the new parts, the state does not know of them.
- ``state``: just before the commit: the state is written, and not yet in its place.
- ``kept``: just after the commit; Spark does not know of it.
- ``between``: Spark has noted the batch as done, the next one has not begun.
- ``ending``: the run is being ended; the log may be complete, the run is not.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.engine.runners._support.stream_runs import CHAINS, DECLARED, OPTIONS
from whence.engine import Chain
from whence.engine.record import RunRecord, leases
from whence.engine.record.growing import GrowingLog
from whence.engine.record.journal import Journal
from whence.engine.record.manifest import RunManifest
from whence.engine.record.place import place_of
from whence.engine.record.remote import RemotePath
from whence.engine.runners.stream.following import Following
from whence.engine.runners.stream.on_spark import run_stream
from whence.engine.sources.folder_stream import FolderStream

EVERY, FRESH = 0.5, 4.0
"""Of a record at a URI: seconds until somebody who was killed is known to be."""


def _nothing(run: RunRecord | None = None) -> None: ...


def _die_at(point: str, batch: int, last: Callable[[], None]) -> None:
    """Put the point in place; the batch counts from 0."""

    def die() -> None:
        last()
        # Spark's own process ends when it finds its input closed.
        os.kill(os.getpid(), signal.SIGKILL)

    now = -1
    notes: Path | None = None
    take = Following._take_batch

    def take_batch(self: Any, frame: Any, number: int) -> None:
        nonlocal now, notes
        now, notes = number, self.commits.checkpoint.here
        if (point, number) == ("begin", batch):
            die()
        take(self, frame, number)

    def about(target: Path) -> None:
        last = target.parent.name == "offsets"
        is_part = target.suffix == ".parquet" and "outputs" in target.parts
        there = {"part": is_part, "state": _is_state(target), "copying": last}
        if now == batch and there.get(point):
            die()

    def done(target: Path) -> None:
        if now == batch and point == "kept" and _is_state(target):
            die()

    place, put = Path.replace, RemotePath.put

    def replace(self: Path, target: Any) -> Path:
        about(Path(target))
        found = place(self, target)
        done(Path(target))
        return found

    def put_there(self: RemotePath, file: Path) -> None:
        about(self)
        put(self, file)
        done(self)

    publish = Journal.publish

    def published(self: Any, manifest: RunManifest) -> None:
        publish(self, manifest)
        if now == batch and point == "listed":
            die()

    finish = GrowingLog.finish

    def finished(self: Any, report: Any) -> Any:
        found = finish(self, report)
        if point == "ending":
            die()
        return found

    def watch() -> None:
        while notes is None or not (notes / "commits" / str(batch)).exists():
            time.sleep(0.01)
        die()

    setattr(Following, "_take_batch", take_batch)  # noqa: B010  put in its place
    setattr(Path, "replace", replace)  # noqa: B010
    setattr(RemotePath, "put", put_there)  # noqa: B010
    setattr(Journal, "publish", published)  # noqa: B010
    setattr(GrowingLog, "finish", finished)  # noqa: B010
    if point == "between":
        threading.Thread(target=watch, daemon=True).start()


def _is_state(target: Path) -> bool:
    return target.name.startswith("state-")


def main(
    root: Path,
    folder: Path,
    name: str,
    point: str,
    batch: int,
    *,
    began: Callable[[RunRecord], None] = _nothing,
    last: Callable[[], None] = _nothing,
) -> None:
    """Run until the point is reached.

    Args:
        root: the record's place.
        folder: what is followed.
        name: of the chain.
        point: where to be killed.
        batch: in which one.
        began: told of the run as soon as it is in the record.
        last: what is done before dying.
    """
    leases.EVERY, leases.FRESH = EVERY, FRESH
    _die_at(point, batch, last)
    run_stream(
        root,
        Chain.of(CHAINS[name]()),
        FolderStream(folder, DECLARED),
        OPTIONS,
        available_now=point == "ending",
        every=0.1,
        master="local[1]",
        began=began,
    )


if __name__ == "__main__":
    main(place_of(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))

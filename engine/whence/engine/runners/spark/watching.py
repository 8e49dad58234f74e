"""How far a run on Spark has come, as the driver sees it.

A task that does a whole run leaves a note next to the run now and then; of a run in several tasks
Spark knows how many are done. Listeners are called about once a second.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from whence.engine.progress import Listener, Progress, Reporter
from whence.engine.record.folders import run_folder
from whence.engine.record.remote import RemotePath

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Left", "starting", "watched"]

NOTE = "progress.json"
EVERY = 1.0
"""Seconds from one note to the next, and from one look to the next."""


def starting(listener: Listener | None) -> None:
    """Report that Spark is being started, which takes some seconds."""
    if listener is not None:
        listener(Progress("starting", 0, 0, "", "starting Spark"))


class Left:
    """Writes notes on a run's progress next to it; a record at a URI gets none."""

    def __init__(self, root: Path, run_id: str) -> None:
        self._file = None if isinstance(root, RemotePath) else run_folder(root, run_id) / NOTE
        self._last = time.monotonic()

    def __call__(self, event: Progress) -> None:
        """Leave one, unless the last is younger than a second."""
        now, done, total = time.monotonic(), event.done, event.total
        if self._file is None or (now - self._last < EVERY and done < total):
            return
        self._last = now
        if done == total:
            self._file.unlink(missing_ok=True)
            return
        # Atomic for readers; not durable, as losing it does no harm.
        beside = self._file.with_name(f".{NOTE}.part")
        beside.write_text(json.dumps([done, total]), encoding="utf-8")
        beside.replace(self._file)


@contextmanager
def watched(
    session: SparkSession, root: Path, run_id: str, listener: Listener | None
) -> Iterator[None]:
    """Watch a run, and report its progress."""
    if listener is None:
        yield
        return
    over = threading.Event()
    watching = threading.Thread(
        target=_watch, args=(session, run_folder(root, run_id) / NOTE, listener, over), daemon=True
    )
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()


def _watch(session: SparkSession, note: Path, listener: Listener, over: threading.Event) -> None:
    events = Reporter(listener, "running", "events")
    tasks = Reporter(listener, "running", "tasks")
    before = (0, time.monotonic())
    while not over.wait(EVERY):
        told = _noted(note)
        if told is None:
            done, total = _tasks(session)
            if total > 1:
                tasks(done, total, "running on Spark")
            continue
        done, total = told
        now = time.monotonic()
        if done > before[0]:
            rate = (done - before[0]) / max(now - before[1], 1e-9)
            events(done, total, f"running on Spark, {rate:,.0f} events/s")
            before = (done, now)


def _noted(note: Path) -> tuple[int, int] | None:
    try:
        done, total = json.loads(note.read_text(encoding="utf-8"))
        return int(done), int(total)
    except (OSError, ValueError):
        return None


def _tasks(session: SparkSession) -> tuple[int, int]:
    """How many tasks of what Spark is doing are done, and how many there are."""
    try:
        tracker = session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    except Exception:  # a session of Spark Connect does not say
        return 0, 0
    known = [stage for stage in stages if stage is not None]
    return sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known)

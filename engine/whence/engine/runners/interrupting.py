"""Ctrl-C while Spark works: its jobs are cancelled, and only the caller prints messages.

PySpark answers Ctrl-C by asking Java to cancel all jobs, on the very connection on which this
thread is waiting for Java's answer, and then ends the waiting. Neither works, and py4j logs that in
tracebacks. Here another thread, with another connection, has the jobs cancelled; then Java's answer
comes by itself.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePath
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["interruptible"]

AGAIN_SECONDS = 0.2
"""From one look for jobs to the next: between two of them there is nothing to cancel."""


@contextmanager
def interruptible(session: SparkSession) -> Iterator[None]:
    """Let Ctrl-C end what Spark does here with `KeyboardInterrupt`; a handler of others stays.

    A second Ctrl-C does not wait for Java.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not getattr(before, "__module__", "").startswith("pyspark."):
        yield
        return
    asked, over = threading.Event(), threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if asked.is_set() or not _waits_for_java(frame):
            raise KeyboardInterrupt
        asked.set()
        threading.Thread(target=_cancel, args=(session, over), daemon=True).start()

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    except Exception as fault:
        if asked.is_set():
            raise KeyboardInterrupt from fault
        raise
    finally:
        over.set()
        signal.signal(signal.SIGINT, before)
    if asked.is_set():
        raise KeyboardInterrupt


def _waits_for_java(frame: FrameType | None) -> bool:
    while frame is not None:
        if PurePath(frame.f_code.co_filename).parent.name == "py4j":
            return True
        frame = frame.f_back
    return False


def _cancel(session: SparkSession, over: threading.Event) -> None:
    with suppress(Exception):  # Java is gone, and all its jobs with it
        while not over.is_set():
            session.sparkContext.cancelAllJobs()
            over.wait(AGAIN_SECONDS)

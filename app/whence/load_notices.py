"""What `run` says by itself: that the graph is being loaded, and that this fell short."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

from whence.engine.errors import WhenceWarning, warn_user
from whence.engine.progress import Progress
from whence.engine.values.printable import printable

if TYPE_CHECKING:
    from whence.results import Result

__all__ = ["NotLoadedWarning", "WaitingLines", "load_command", "warn_if_not_loaded"]

EVERY_SECONDS = 5.0


class NotLoadedWarning(WhenceWarning):
    """A run is in the record, and not, or not all of it, in the graph."""


class WaitingLines:
    """Says on stderr what is being loaded, while a program waits for nothing but that.

    Prints nothing while the chain runs, nor about a load that takes a few seconds.
    """

    def __init__(self) -> None:
        """The program does not wait yet."""
        self._said_at: float | None = None
        self._saying = threading.Lock()

    def begin(self) -> None:
        """From now on the program waits."""
        self._said_at = time.monotonic()

    def __call__(self, event: Progress) -> None:
        """Say how many parts are done, how many there are, and what is being done."""
        done, total = event.done, event.total
        with self._saying:
            now = time.monotonic()
            if self._said_at is None or now - self._said_at < EVERY_SECONDS:
                return
            self._said_at = now
            parts = f": {done:,} of {total:,} part{'' if total == 1 else 's'}" if total else ""
            line = printable(f"whence: the run is done; {event.text}{parts} …")
            print(line, file=sys.stderr, flush=True)


def warn_if_not_loaded(result: Result) -> None:
    """Warn of a run that should be in the graph, all of it, and is not."""
    loaded, why = result.loaded, result.not_loaded
    if why is None and loaded is not None and loaded.complete:
        return
    got = str(why) if why is not None else "a loader that stopped early"
    msg = (
        f"run {result.id}: expected all of it in the graph; got it in the record only, or in part "
        f"({got}); try {load_command(result)}"
    )
    warn_user(msg, NotLoadedWarning)


def load_command(result: Result) -> str:
    """The command that loads what is in the record of a run."""
    from whence.engine.record import record_place

    root = result.record.root
    return f"whence load {result.id}" + ("" if root == record_place() else f" --record {root}")

"""Whether somebody is writing a run at a URI, where no kernel can hold a lock.

Whoever writes keeps a small file fresh. When it has not been refreshed for a while, its writer has
ended. The store tells when it was written and this machine what time it is: their clocks must not
be many seconds apart.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from contextlib import suppress

from whence.engine.errors import LogError
from whence.engine.record.files import read_json, write_json
from whence.engine.record.remote import RemotePath

__all__ = ["Lease", "is_fresh", "is_refreshed"]

EVERY = 3.0
"""Seconds from one refreshing to the next."""
FRESH = 15.0
"""Seconds without one after which the writer has ended."""
SETTLED = 0.2
"""Seconds until two who took the same lease see whose was the last."""


def is_fresh(path: RemotePath) -> bool:
    """Whether somebody who lives holds this lease."""
    try:
        return not read_json(path)["left"] and path.age(time.time()) < FRESH
    except (FileNotFoundError, json.JSONDecodeError):
        return False


def is_refreshed(path: RemotePath) -> bool:
    """Whether somebody who lives holds this lease, for certain: wait until that is seen, or not."""
    first = _written(path)
    while is_fresh(path):
        if _written(path) != first:
            return True
        time.sleep(SETTLED)
    return False


def _written(path: RemotePath) -> float | None:
    try:
        return path.age(0.0)
    except FileNotFoundError:
        return None


class Lease:
    """A lease that is kept fresh until it is released, or left, or the process ends."""

    def __init__(self, path: RemotePath) -> None:
        """Know where it is; nothing is taken yet."""
        self.path = path
        self._mark = secrets.token_hex(8)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._refreshed = 0.0

    def take(self) -> bool:
        """Take it, unless somebody else holds it."""
        if is_fresh(self.path):
            return False
        self._write()
        time.sleep(SETTLED)
        if read_json(self.path)["mark"] != self._mark:
            return False
        self._thread = threading.Thread(target=self._refresh, daemon=True)
        self._thread.start()
        return True

    def is_held(self) -> bool:
        """Whether it is still this one's; nobody takes one that was refreshed a moment ago.

        A process that was stopped for a while and goes on may have lost it.
        """
        if time.monotonic() - self._refreshed < FRESH / 2:
            return True
        try:
            return bool(read_json(self.path)["mark"] == self._mark)
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """The run has ended: nobody holds it, and nobody needs to take it up."""
        if self._stop() and self.is_held():
            self.path.unlink(missing_ok=True)

    def leave(self) -> None:
        """Write no more, as if this process had ended."""
        if self._stop() and self.is_held():
            self._write(left=True)

    def _stop(self) -> bool:
        if self._thread is None:
            return False
        self._over.set()
        self._thread.join()
        self._thread = None
        return True

    def _write(self, *, left: bool = False) -> None:
        began = time.monotonic()
        write_json(self.path, {"mark": self._mark, "left": left})
        self._refreshed = began

    def _refresh(self) -> None:
        while not self._over.wait(EVERY):
            with suppress(LogError):  # a store that is away for a moment; the next time counts
                if not self.is_held():
                    return
                self._write()

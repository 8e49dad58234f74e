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

__all__ = ["Lease", "is_fresh"]

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


class Lease:
    """A lease that is kept fresh until it is released, or left, or the process ends."""

    def __init__(self, path: RemotePath) -> None:
        """Know where it is; nothing is taken yet."""
        self.path = path
        self._mark = secrets.token_hex(8)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

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

    def release(self) -> None:
        """The run has ended: nobody holds it, and nobody needs to take it up."""
        if self._stop():
            self.path.unlink(missing_ok=True)

    def leave(self) -> None:
        """Write no more, as if this process had ended."""
        if self._stop():
            self._write(left=True)

    def _stop(self) -> bool:
        if self._thread is None:
            return False
        self._over.set()
        self._thread.join()
        self._thread = None
        return True

    def _write(self, *, left: bool = False) -> None:
        write_json(self.path, {"mark": self._mark, "left": left})

    def _refresh(self) -> None:
        while not self._over.wait(EVERY):
            with suppress(LogError):  # a store that is away for a moment; the next time counts
                self._write()

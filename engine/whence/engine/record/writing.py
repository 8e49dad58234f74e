"""Whether somebody is writing a run: a lock that ends with its process, however that ends.

The lock is the kernel's. It cannot outlive the process that holds it, not even one that was killed
on the spot, and no other process can be taken for it, as it could if only a number were kept.
Where no kernel can lock, at a URI, a lease stands for it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from whence.engine.disk import writes_to
from whence.engine.errors import LogError
from whence.engine.record.leases import Lease, is_fresh, is_refreshed
from whence.engine.record.remote import RemotePath

try:
    import fcntl
except ImportError:  # no such locks on this system: then nobody can tell, and a run stays running
    fcntl = None  # type: ignore[assignment]

__all__ = ["LOADING", "LOCK", "BusyError", "WritingLock", "is_being_written", "is_left"]

LOCK = "writing.lock"
"""The file of the lock, in the run's folder; gone when the run has ended by itself."""

LOADING = "loading.lock"
"""The lock of the process that loads a run while it makes it; gone when all of it is loaded."""

WAIT_SECONDS = 20.0
"""How long the next writer waits: whoever is being ended may need a moment."""


class BusyError(LogError):
    """Another process writes what this one was about to write."""


class WritingLock:
    """Says that this process is writing a run, until it is released or the process ends."""

    def __init__(self, folder: Path, wait: float = WAIT_SECONDS, name: str = LOCK) -> None:
        """Take the lock.

        Args:
            folder: the run's.
            wait: seconds to wait for another process that holds it.
            name: the file of the lock.

        Raises:
            BusyError: another process goes on writing this run.
        """
        with writes_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / name
        self._file = -1
        self._lease = Lease(self.path) if isinstance(self.path, RemotePath) else None
        until = time.monotonic() + wait
        while not self._take():
            if time.monotonic() >= until:
                msg = (
                    f"run {folder.name}: expected to be the only one to write it; "
                    "got another process that does; try again when that one has ended"
                )
                raise BusyError(msg)
            time.sleep(0.05)

    def _take(self) -> bool:
        if self._lease is not None:
            return self._lease.take()
        with writes_to(self.path):
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        # Whoever held it may have ended meanwhile and taken the file away: then it locks nothing.
        if _locked(self._file, exclusive=True) and os.fstat(self._file).st_nlink:
            return True
        os.close(self._file)
        return False

    def check(self) -> None:
        """See to it that this is still the only one who writes, before anything counts.

        Raises:
            BusyError: this process did not say for so long that it lives that another one goes on.
        """
        if self._lease is not None and not self._lease.is_held():
            msg = (
                f"run {self.path.parent.name}: expected to be the only one to write it; "
                "got another process that resumed it, since this one did not answer for a "
                "while; try waiting for that one"
            )
            raise BusyError(msg)

    def release(self) -> None:
        """Say that the run has ended."""
        if self._lease is not None:
            self._lease.release()
        if self._file >= 0:
            self.path.unlink(missing_ok=True)
            self.leave()

    def leave(self) -> None:
        """Write no more, as if this process had ended: the run is interrupted, and can go on."""
        if self._lease is not None:
            self._lease.leave()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def is_being_written(folder: Path, name: str = LOCK) -> bool:
    """Whether a process that lives is writing this run; if nobody can tell, it may well be.

    Args:
        folder: the run's.
        name: the file of the lock.
    """
    if isinstance(folder, RemotePath):
        return is_fresh(folder / name)
    try:
        file = os.open(folder / name, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not _locked(file, exclusive=False)
    finally:
        os.close(file)


def is_left(folder: Path) -> bool:
    """Whether nobody writes this run, for certain: at a URI it takes some seconds to be sure."""
    if isinstance(folder, RemotePath):
        return not is_refreshed(folder / LOCK)
    return not is_being_written(folder)


def _locked(file: int, *, exclusive: bool) -> bool:
    """Try to lock; on a file system without locks only writers succeed."""
    if fcntl is None:
        return exclusive
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return exclusive
    return True

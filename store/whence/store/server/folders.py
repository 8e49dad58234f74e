"""Where the local Neo4j lives on disk, and how files there are written.

::

    WHENCE_HOME/                 else the platform's folder for a user's data
      jars/neo4j-5.26.21/        shared by all instances and all clones of the project
      instances/NAME/            conf, data, logs, run, password
      locks/                     never removed: removing a lock file that others wait on breaks it
      ivy/                       what an interrupted fetch already has
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from whence.engine.errors import ParameterError, ServerError

__all__ = [
    "default_instance",
    "disk_trouble",
    "instance_folder",
    "locked",
    "whence_home",
    "write_private",
]


def whence_home() -> Path:
    """Give the folder for everything that is kept for this user: ``WHENCE_HOME`` decides."""
    chosen = os.environ.get("WHENCE_HOME")
    return Path(chosen).expanduser().absolute() if chosen else platformdirs.user_data_path("whence")


def default_instance() -> str:
    """The local server that is meant where none is named: ``WHENCE_INSTANCE``, else "default"."""
    return os.environ.get("WHENCE_INSTANCE") or "default"


def instance_folder(name: str) -> Path:
    """Give the home of the instance with this name.

    >>> instance_folder("../other")
    Traceback (most recent call last):
    whence.engine.errors.ParameterError: expected an instance name of letters, digits, '-' and \
'_'; got '../other'; try 'default'
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", name):
        msg = (
            "expected an instance name of letters, digits, '-' and '_'; "
            f"got {name!r}; try 'default'"
        )
        raise ParameterError(msg)
    return whence_home() / "instances" / name


@contextmanager
def disk_trouble(doing: str, folder: Path) -> Iterator[None]:
    """Turn a full disk or a folder that cannot be written into one line for the user."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            hint = f"try freeing space, or set WHENCE_HOME to a disk with room; now {folder}"
        else:
            hint = f"try setting WHENCE_HOME to a folder you can write; now {whence_home()}"
        msg = f"{doing}: expected to write in {folder}; got {error.strerror or error}; {hint}"
        raise ServerError(msg) from error


@contextmanager
def locked(name: str, timeout: float) -> Iterator[int]:
    """Hold the lock of this name; the kernel releases it if this process dies.

    Gives the open file, so that a child which inherits it holds the lock as long as it lives.
    """
    path = whence_home() / "locks" / f"{name}.lock"
    with disk_trouble(f"lock {name}", path.parent):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(handle, path, timeout)
        yield handle
    finally:
        os.close(handle)


def _wait_for(handle: int, path: Path, timeout: float) -> None:
    until = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as busy:
            if time.monotonic() > until:
                msg = (
                    f"expected the lock {path} within {timeout:.0f} s; got another whence that "
                    "holds it; try again when that one has finished"
                )
                raise ServerError(msg) from busy
            time.sleep(0.1)


def write_private(path: Path, text: str) -> None:
    """Write a file only its owner can read, whole or not at all."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)

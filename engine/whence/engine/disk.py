"""A disk that is full, read-only or not the user's: one line, whatever was being written."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from whence.engine.errors import DiskError

__all__ = ["clear_about_disks", "disk_error", "writes_to"]

P = ParamSpec("P")
T = TypeVar("T")

_ROOM = "try freeing space, or a folder on a disk with room"
_OTHER = "try a folder that you can write"
_REASONS = {
    errno.ENOSPC: ("no space left on the disk", _ROOM),
    errno.EDQUOT: ("a disk quota that is used up", _ROOM),
    errno.EFBIG: ("a file that would be larger than this system allows", "try another disk"),
    errno.EROFS: ("a disk that is read-only", _OTHER),
    errno.EACCES: ("no permission", _OTHER),
    errno.EPERM: ("no permission", _OTHER),
    errno.EIO: ("an error of the disk", "try another disk"),
    errno.ENAMETOOLONG: ("a name that is too long for the disk", "try shorter names"),
}
_IN_A_RECORD = {
    errno.ENOENT: ("a place where no folder can be made", _OTHER),
    errno.ENOTDIR: ("a file where a folder should be", _OTHER),
    errno.EISDIR: ("a folder where a file should be", _OTHER),
}


def disk_error(error: OSError, place: Path | str | None = None) -> DiskError | None:
    """What the system says about a disk as one line; ``None`` if it is about something else.

    Args:
        error: what the system said.
        place: what was to be written, if the error does not name it.
    """
    if isinstance(error, DiskError):
        return error
    return _named(error, place, _REASONS)


def _named(
    error: OSError, place: Path | str | None, reasons: dict[int, tuple[str, str]]
) -> DiskError | None:
    if error.errno not in reasons:
        return None
    got, hint = reasons[error.errno]
    named = error.filename if isinstance(error.filename, str) else place
    where = "the disk" if named is None else str(named)
    found = DiskError(f"{where}: expected to read and write there; got {got}; {hint}")
    found.errno = error.errno
    return found


@contextmanager
def writes_to(place: Path) -> Iterator[None]:
    """Turn what the system says while this file or folder of a record is written into one line.

    Raises:
        DiskError: it cannot be written.
    """
    try:
        yield
    except DiskError:
        raise
    except OSError as error:
        found = _named(error, place, {**_REASONS, **_IN_A_RECORD})
        if found is None:
            raise
        raise found from error


def clear_about_disks(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function raise a `DiskError`, not what the system says about a disk."""

    @wraps(function)
    def clear(*given: P.args, **named: P.kwargs) -> T:
        try:
            return function(*given, **named)
        except OSError as error:
            found = disk_error(error)
            if found is None or found is error:
                raise
            raise found from error

    return clear

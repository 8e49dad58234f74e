"""The folders of runs and logs: an id becomes part of a path here, and nowhere else.

Ids come from manifests, files to import, links and command lines. An id that could name another
folder than one directly in the record is refused before anything is read, written or removed.
"""

from __future__ import annotations

import re
from pathlib import Path

from whence.engine.errors import LogError
from whence.engine.record.remote import RemotePath

__all__ = ["LATEST", "check_own_folder", "is_id", "log_folder", "run_folder"]

LATEST = "latest"
"""The newest run, on every command line; so no run can have it as its id."""

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_SHOWN = 80


def run_folder(root: Path, id: object) -> Path:
    """The folder of a run.

    Args:
        root: the record's place.
        id: the run's id, from any source.

    Raises:
        LogError: this cannot be an id.

    >>> run_folder(Path("record"), "20261119-035833-963b9b").as_posix()
    'record/runs/20261119-035833-963b9b'
    >>> run_folder(Path("record"), "../../x")
    Traceback (most recent call last):
    whence.engine.errors.LogError: a run: expected an id of letters, digits, '-', '_' and '.', at \
most 128; got '../../x'; try whence runs list
    """
    return root / "runs" / _checked(id, "a run")


def log_folder(root: Path, id: object) -> Path:
    """The folder of a log, under the same conditions as that of a run."""
    return root / "logs" / _checked(id, "a log")


def is_id(id: object) -> bool:
    """Whether this can be the id of a run or a log."""
    return isinstance(id, str) and _ID.fullmatch(id) is not None


def _checked(id: object, what: str) -> str:
    if is_id(id):
        return str(id)
    got = repr(id)
    got = got if len(got) <= _SHOWN else got[: _SHOWN - 1] + "…"
    msg = (
        f"{what}: expected an id of letters, digits, '-', '_' and '.', at most 128; got {got}; "
        "try whence runs list"
    )
    raise LogError(msg)


def check_own_folder(folder: Path) -> None:
    """Refuse to remove what is no folder of the record itself, but a link to another place."""
    if not isinstance(folder, RemotePath) and folder.is_symlink():
        msg = (
            f"{folder}: expected a folder of the record; got a link to {folder.readlink()}; "
            "try removing the link by hand"
        )
        raise LogError(msg)

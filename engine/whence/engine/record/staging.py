"""Folders that are made beside the place where they will stand, so that none is there half."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whence.engine.disk import writes_to
from whence.engine.record.files import remove_tree
from whence.engine.record.manifest import MANIFEST
from whence.engine.record.remote import RemotePath
from whence.engine.record.writing import WritingLock, is_being_written

__all__ = ["StagingFolder", "staging_folder"]

_ENDING = ".part"


class StagingFolder:
    """A folder that is being written.

    Attributes:
        path: where it is for now.
    """

    def __init__(self, folder: Path) -> None:
        """Make it inside this folder; remove what killed processes have left there.

        What will stand at a URI is made on this machine.
        """
        self._lock: WritingLock | None = None
        if isinstance(folder, RemotePath):
            self.path = Path(tempfile.mkdtemp(prefix="whence-"))
            return
        with writes_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        # As long as this is held nobody takes a folder for abandoned that has no lock of its own.
        gate = WritingLock(folder)
        try:
            for left in folder.glob(f".*{_ENDING}"):
                if not is_being_written(left):
                    remove_tree(left)
            with writes_to(folder):
                self.path = Path(tempfile.mkdtemp(prefix=".", suffix=_ENDING, dir=folder))
            self._lock = WritingLock(self.path)
        finally:
            gate.release()

    def become(self, target: Path, part: str = "") -> bool:
        """Give it its name, unless the same is there already; return whether it was not.

        Args:
            target: the name.
            part: the folder in it that is meant; all of it unless given.
        """
        if isinstance(target, RemotePath):
            return _upload(self.path / part, target)
        assert self._lock is not None
        gate = WritingLock(self._folder)
        try:
            if not part:
                self._lock.release()
            if os.path.lexists(target):
                return False
            target.parent.mkdir(parents=True, exist_ok=True)
            with writes_to(target):
                (self.path / part).rename(target)
            return True
        finally:
            gate.release()

    def remove(self) -> None:
        """Leave nothing of it, unless it has its name."""
        if self._lock is not None:
            self._lock.release()
        remove_tree(self.path)


def _upload(folder: Path, target: RemotePath) -> bool:
    """Put all files in their place; the manifest last, since without it nothing is there."""
    last = MANIFEST
    if (target / last).exists():
        return False
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in sorted(files, key=lambda path: (path.name == last, path)):
        (target / path.relative_to(folder).as_posix()).put(path)
    return True


@contextmanager
def staging_folder(folder: Path) -> Iterator[StagingFolder]:
    """A new folder inside this one, hidden, and gone afterwards unless it was given a name.

    What killed processes have left of this kind is removed; what a living one is writing is not.
    """
    beside = StagingFolder(folder)
    try:
        yield beside
    finally:
        beside.remove()

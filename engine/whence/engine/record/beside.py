"""Folders that are made beside the place where they will stand, so that none is there half."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whence.engine.record.files import remove_tree
from whence.engine.record.remote import RemotePath
from whence.engine.record.writing import WritingLock, is_being_written

__all__ = ["Beside", "made_beside"]

_ENDING = ".part"


class Beside:
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
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        # As long as this is held nobody takes a folder for abandoned that has no lock of its own.
        gate = WritingLock(folder)
        try:
            for left in folder.glob(f".*{_ENDING}"):
                if not is_being_written(left):
                    remove_tree(left)
            self.path = Path(tempfile.mkdtemp(prefix=".", suffix=_ENDING, dir=folder))
            self._lock = WritingLock(self.path)
        finally:
            gate.release()

    def become(self, target: Path) -> None:
        """Give it its name, unless the same is there already."""
        if isinstance(target, RemotePath):
            _upload(self.path, target)
            return
        assert self._lock is not None
        gate = WritingLock(self._folder)
        try:
            self._lock.release()
            if not target.exists():
                self.path.rename(target)
        finally:
            gate.release()

    def remove(self) -> None:
        """Leave nothing of it, unless it has its name."""
        if self._lock is not None:
            self._lock.release()
        remove_tree(self.path)


def _upload(folder: Path, target: RemotePath) -> None:
    """Put all files in their place; the manifest last, since without it nothing is there."""
    last = "manifest.json"
    if (target / last).exists():
        return
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in sorted(files, key=lambda path: (path.name == last, path)):
        (target / path.relative_to(folder).as_posix()).put(path)


@contextmanager
def made_beside(folder: Path) -> Iterator[Beside]:
    """A new folder inside this one, hidden, and gone afterwards unless it was given a name.

    What killed processes have left of this kind is removed; what a living one is writing is not.
    """
    beside = Beside(folder)
    try:
        yield beside
    finally:
        beside.remove()

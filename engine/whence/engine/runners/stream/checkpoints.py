"""Spark's own notes on a stream: which batches there are, and what belongs to each.

Spark can write them to folders of its machine, and to a store only with libraries and settings for
it. So they are on this machine. If the record is at a URI, there is a copy of them there which is
as new as it has to be: before anything of a batch counts, what belongs to that batch is there.
Resuming, on this machine or another, begins with the copy.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from whence.engine.record.files import remove_tree
from whence.engine.record.remote import RemotePath

__all__ = ["Checkpoint"]

_LAST = "offsets"
"""The folder that says what belongs to a batch; Spark takes all other notes for made before."""
_AT_ONCE = 8
"""Number of files to copy at a time."""


class Checkpoint:
    """The place of Spark's notes.

    Attributes:
        here: where Spark reads and writes them.
    """

    def __init__(self, place: Path) -> None:
        """Bring what is there.

        Args:
            place: where they are stored, with the record.
        """
        self.here = place
        self._copy: RemotePath | None = None
        self._there: set[str] = set()
        if isinstance(place, RemotePath):
            self.here, self._copy = Path(tempfile.mkdtemp(prefix="whence-")), place
            with ThreadPoolExecutor(_AT_ONCE, "whence-reading") as pool:
                self._there = set(pool.map(self._bring, _files(place)))

    def _bring(self, name: str) -> str:
        assert self._copy is not None
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((self._copy / name).read_bytes())
        return name

    def query(self) -> str:
        """Spark's name for the query, which it keeps as long as its notes are there."""
        path = self.here / "metadata"
        return str(json.loads(path.read_text(encoding="utf-8"))["id"]) if path.exists() else ""

    def keep(self) -> None:
        """See to it that the notes are where the record is, before something goes by them.

        What belongs to a batch comes last, as Spark does it: a copy that was not finished is one of
        a Spark that was killed at that moment.
        """
        if self._copy is None:
            return
        found = set(_files(self.here))
        for name in sorted(found - self._there, key=lambda name: (name.startswith(_LAST), name)):
            self._put(name, self._copy / name)
        for name in self._there - found:
            (self._copy / name).unlink(missing_ok=True)
        self._there = found

    def _put(self, name: str, target: RemotePath) -> None:
        try:
            target.put(self.here / name)
        except FileNotFoundError:
            if (self.here / name).exists():  # else Spark has just removed it, since it is old
                raise

    def close(self) -> None:
        """Spark is done with them for now; those that are stored with the record stay."""
        if self._copy is not None:
            shutil.rmtree(self.here, ignore_errors=True)

    def remove(self) -> None:
        """Remove them: the stream is complete."""
        self.close()
        remove_tree(self.here if self._copy is None else self._copy)


def _files(folder: Path) -> Iterator[str]:
    """The names of all files; hidden ones are being written, or sums that Spark can do without."""
    for path in folder.rglob("*"):
        if not path.name.startswith(".") and path.is_file():
            yield path.relative_to(folder).as_posix()

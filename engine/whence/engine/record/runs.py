"""Runs in the record: outputs and associations, part by part, as the manifest lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.lineage.association import Association
from whence.engine.lineage.block import Associations
from whence.engine.record.blocks import blocks_of
from whence.engine.record.files import read_table
from whence.engine.record.folders import LATEST, log_folder, run_folder
from whence.engine.record.journal import Following, read_manifest
from whence.engine.record.listing import latest_run, list_runs
from whence.engine.record.logs import LogRecord
from whence.engine.record.manifest import (
    MANIFEST,
    Listed,
    RunManifest,
)
from whence.engine.record.writing import is_being_written

__all__ = ["RunRecord", "check_stream_folder", "now"]

_LONGEST = 255
"""Bytes in a name of a folder: what the file systems have that are in use."""


def now() -> str:
    """This moment, in UTC, as the record writes times."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _stream_folder(name: str) -> str:
    """A folder name for a stream; ids may hold anything that a file system may not."""
    safe = "".join(c if c.isalnum() or c in "-_." else f"%{ord(c):x}" for c in name)
    return "%2e%2e" if safe == ".." else safe or "%"


def check_stream_folder(name: str, others: Iterable[str]) -> None:
    """Refuse a stream that would not have a folder of its own: two would be written as one.

    Args:
        name: the stream.
        others: the streams that have folders already.

    Raises:
        LogError: the name is too long, or another one is the same folder.
    """
    folder = _stream_folder(name)
    size = len(folder.encode("utf-8", "surrogatepass"))
    if size > _LONGEST:
        msg = (
            f"an output: expected a name of at most {_LONGEST} bytes, with the ids around it; "
            f"got {size:,} in {name[:60]!r}…; try shorter ids"
        )
        raise LogError(msg)
    other = next((other for other in others if _stream_folder(other) == folder), name)
    if other != name:
        msg = (
            f"an output: expected a name that differs from all others on disk; got {name!r} "
            f"beside {other!r}; try ids of letters and digits"
        )
        raise LogError(msg)


class RunRecord:
    """A run as the record has it; what its manifest does not list does not exist.

    Attributes:
        root: the record's place.
        id: the run's id.
        folder: where the run is.
    """

    def __init__(self, root: Path, id: str) -> None:
        """Find a run; the error lists the latest ones."""
        self.root = root
        if id == LATEST:
            id = latest_run(root) or id
        self.id = id
        self.folder = run_folder(root, id)
        if not (self.folder / MANIFEST).exists():
            known = list_runs(root)
            latest = ", ".join(known[-5:]) or "none yet"
            got = f"{id!r}, but only imported runs" if id == LATEST and known else repr(id)
            msg = f"a run: expected one of the record {root}; got {got}; try one of: {latest}"
            raise LogError(msg)

    @property
    def manifest(self) -> RunManifest:
        """The manifest as it is now; a running run replaces it again and again.

        A run that should be running, but that no process writes any more, is *interrupted*.
        """
        return self._standing(partial(read_manifest, self.folder))

    def following(self) -> Callable[[], RunManifest]:
        """Gives the manifest as it is whenever it is called, and reads only what is new of it."""
        return partial(self._standing, Following(self.folder).now)

    def _standing(self, read: Callable[[], RunManifest]) -> RunManifest:
        found = read()
        if found.is_running and not is_being_written(self.folder):
            found = read()  # it may have ended by itself in between
            if found.is_running:
                return replace(found, status="interrupted")
        return found

    def log(self, name: str) -> LogRecord:
        """A log of the run, by its name in the chain."""
        return LogRecord.open(log_folder(self.root, self.manifest.logs[name]))

    def outputs(self, stream: str, part: int) -> pa.Table:
        """One part of a stream's events."""
        return read_table(self.path("outputs", stream, part))

    def associations(self, stream: str, part: int) -> pa.Table:
        """One part of a stream's associations, as it is on disk."""
        return read_table(self.path("associations", stream, part))

    def blocks(self, stream: str, part: int) -> Associations:
        """One part of a stream's associations, whichever format it has on disk."""
        return blocks_of(self.associations(stream, part), stream)

    def rows(self) -> Iterator[Association]:
        """Every association of the run; for small runs and tests."""
        for stream in self.manifest.streams:
            for part in stream.associations.numbers:
                yield from self.blocks(stream.name, part).rows()

    def path(self, what: Listed, stream: str, part: int) -> Path:
        """Where a part is: of a stream's outputs or associations."""
        return self.folder / what / _stream_folder(stream) / f"part-{part:05d}.parquet"

"""What a run has added since its manifest was written: a line for each time, in a file beside it.

A stream lists new parts every second, for days. To write its whole manifest each time would take
longer and longer. So the manifest names a journal, and whoever reads it reads the journal, too. It
is written whole again when the journal has become as long as the manifest: all together that takes
a few times the last one's length.

Nothing can be added to an object of an object store. At a URI the journal is put there whole each
time, which is one step too, and stays short instead.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from whence.engine.errors import LogError
from whence.engine.record.files import read_json, whole_file, write_json
from whence.engine.record.remote import RemotePath

__all__ = ["Following", "Journal", "read_manifest", "remove_journals"]

_NAME = "journal"
_LISTS = ("outputs", "associations")
_LEAST = 65_536
"""Bytes that a journal may have in any case."""
_PUT = 262_144
"""Bytes that a journal may have that is put whole each time."""


class Journal:
    """Publishes what was added to a manifest.

    Args:
        folder: the run's.
        manifest: as it is; whoever changes it only adds streams, and parts at the end of a stream.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        """Nothing was published yet."""
        self._folder = folder
        self._manifest = manifest
        self._path: Path | None = None
        self._room = self._size = 0
        self._lines: list[str] = []
        self._listed: dict[str, tuple[int, ...]] = {}

    def publish(self) -> None:
        """From now on what was added counts."""
        if self._path is None or self._size > self._room:
            self._whole()
            return
        added = [told for stream in self._manifest["streams"] if (told := self._added(stream))]
        if added:
            self._add(self._path, json.dumps(added, ensure_ascii=False) + "\n")

    def _add(self, path: Path, line: str) -> None:
        self._size += len(line.encode())
        if isinstance(path, RemotePath):
            self._lines.append(line)
            _put(path, "".join(self._lines))
            return
        with path.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _whole(self) -> None:
        before = self._path
        self._path = self._folder / f"added-{secrets.token_hex(4)}.jsonl"
        self._size, self._lines = 0, []
        manifest = self._folder / "manifest.json"
        _put(self._path, "")
        write_json(manifest, {**self._manifest, _NAME: self._path.name}, indent=None)
        at_uri = isinstance(manifest, RemotePath)
        self._room = _PUT if at_uri else max(manifest.stat().st_size, _LEAST)
        self._listed = {stream["name"]: _lengths(stream) for stream in self._manifest["streams"]}
        if before is not None:
            before.unlink()

    def _added(self, stream: Mapping[str, Any]) -> dict[str, Any] | None:
        """What is new of a stream: its parts since the last time, and its counts as they are."""
        name, now = stream["name"], _lengths(stream)
        before = self._listed.get(name)
        if before == now:
            return None
        self._listed[name] = now
        lists = zip(_LISTS, before or (0, 0), strict=True)
        return {**stream, **{what: stream[what][first:] for what, first in lists}}


def _lengths(stream: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(len(stream[what]) for what in _LISTS)


def _put(path: Path, text: str) -> None:
    whole_file(path, lambda here: _write(here, text))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def remove_journals(folder: Path) -> None:
    """Take away what the manifest no longer names."""
    for path in folder.glob("added-*.jsonl"):
        path.unlink(missing_ok=True)


class Following:
    """Reads the manifest of a run again and again, and each time only what is new of it.

    What it gives does not change any more; as long as nothing was added it is the same object.

    Args:
        folder: the run's.
    """

    def __init__(self, folder: Path) -> None:
        """Nothing was read yet."""
        self._folder = folder
        self._stamp: tuple[int, ...] | None = None
        self._found: dict[str, Any] = {}
        self._journal: Path | None = None
        self._read = 0

    def now(self) -> dict[str, Any]:
        """The manifest as it is now, with all that was added.

        Raises:
            LogError: what was added is not there any more.
        """
        lacking: Path | None = None
        while True:
            if self._stamp is None or self._stamp != self._stamped():
                self._begin()
            try:
                return self._grown()
            except FileNotFoundError:
                # Unless somebody has removed it, there is a newer manifest by now.
                self._stamp = None
                if lacking is not None and lacking == self._journal:
                    msg = (
                        f"run {self._folder.name}: expected the file {lacking.name} that its "
                        "manifest names; got none; try a copy of the record, or another run"
                    )
                    raise LogError(msg) from None
                lacking = self._journal

    def _stamped(self) -> tuple[int, ...] | None:
        """What tells one manifest from the next; nothing does so at a URI."""
        path = self._folder / "manifest.json"
        if isinstance(path, RemotePath):
            return None
        told = path.stat()
        return told.st_ino, told.st_mtime_ns, told.st_size

    def _begin(self) -> None:
        stamp = self._stamped()  # before it is read: a newer one is read again
        self._found = read_json(self._folder / "manifest.json")
        name = self._found.pop(_NAME, None)
        self._journal = None if name is None else self._folder / name
        self._read = 0
        self._stamp = stamp

    def _grown(self) -> dict[str, Any]:
        if self._journal is not None:
            text = _after(self._journal, self._read)
            # A line without an end is being written, or was when the writer was killed.
            *lines, rest = text.split(b"\n")
            if lines:
                self._found = _with(self._found, lines)
                self._read += len(text) - len(rest)
        return self._found


def _after(path: Path, read: int) -> bytes:
    """What a file holds behind its first bytes."""
    if not read:
        return path.read_bytes()
    with path.open("rb") as file:
        file.seek(read)
        return file.read()


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run as it is now, with all that was added.

    Raises:
        LogError: what was added is not there any more.
    """
    return Following(folder).now()


def _with(manifest: Mapping[str, Any], lines: Iterable[bytes]) -> dict[str, Any]:
    streams = {
        stream["name"]: {**stream, **{what: [*stream[what]] for what in _LISTS}}
        for stream in manifest["streams"]
    }
    for line in lines:
        for added in json.loads(line):
            lists = {what: added.pop(what) for what in _LISTS}
            known = streams.setdefault(added["name"], {what: [] for what in _LISTS})
            for what, parts in lists.items():
                known[what].extend(parts)
            known.update(added)
    return {**manifest, "streams": list(streams.values())}

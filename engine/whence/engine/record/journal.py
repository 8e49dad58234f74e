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
import re
import secrets
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from whence.engine.disk import writes_to
from whence.engine.errors import LogError
from whence.engine.record.files import whole_file
from whence.engine.record.manifest import (
    MANIFEST,
    ManifestError,
    RunManifest,
    StreamInfo,
    read_stated,
    run_of_json,
    write_manifest,
)
from whence.engine.record.remote import RemotePath

__all__ = ["Following", "Journal", "read_manifest", "remove_journals"]

_NAME = "journal"
_OF_A_JOURNAL = re.compile(r"added-[0-9a-f]+\.jsonl")
_LEAST = 65_536
"""Bytes that a journal may have in any case."""
_PUT = 262_144
"""Bytes that a journal may have that is put whole each time."""


class Journal:
    """Publishes what was added to a manifest.

    Args:
        folder: the run's.
    """

    def __init__(self, folder: Path) -> None:
        """Nothing was published yet."""
        self._folder = folder
        self._path: Path | None = None
        self._room = self._size = 0
        self._lines: list[str] = []
        self._listed: dict[str, tuple[int, int]] = {}

    def publish(self, manifest: RunManifest) -> None:
        """From now on what was added counts.

        Args:
            manifest: as it is now: since the last time only streams were added, and parts at the
                end of a stream.
        """
        if self._path is None or self._size > self._room:
            self._whole(manifest)
            return
        added = [told for stream in manifest.streams if (told := self._added(stream))]
        if added:
            self._add(self._path, json.dumps(added, ensure_ascii=False) + "\n")

    def _add(self, path: Path, line: str) -> None:
        self._size += len(line.encode())
        if isinstance(path, RemotePath):
            self._lines.append(line)
            _put(path, "".join(self._lines))
            return
        with writes_to(path), path.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _whole(self, manifest: RunManifest) -> None:
        before = self._path
        self._path = self._folder / f"added-{secrets.token_hex(4)}.jsonl"
        self._size, self._lines = 0, []
        file = self._folder / MANIFEST
        _put(self._path, "")
        write_manifest(self._folder, manifest, indent=None, **{_NAME: self._path.name})
        at_uri = isinstance(file, RemotePath)
        self._room = _PUT if at_uri else max(file.stat().st_size, _LEAST)
        self._listed = {stream.name: _lengths(stream) for stream in manifest.streams}
        if before is not None:
            before.unlink()

    def _added(self, stream: StreamInfo) -> dict[str, Any] | None:
        """What is new of a stream: its parts since the last time, and its counts as they are."""
        name, now = stream.name, _lengths(stream)
        before = self._listed.get(name)
        if before == now:
            return None
        self._listed[name] = now
        outputs, associations = before or (0, 0)
        new = replace(
            stream,
            outputs=stream.outputs.since(outputs),
            associations=stream.associations.since(associations),
        )
        return new.json()


def _lengths(stream: StreamInfo) -> tuple[int, int]:
    return len(stream.outputs), len(stream.associations)


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
        self._found: RunManifest | None = None
        self._journal: Path | None = None
        self._read = 0

    def now(self) -> RunManifest:
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
        path = self._folder / MANIFEST
        if isinstance(path, RemotePath):
            return None
        told = path.stat()
        return told.st_ino, told.st_mtime_ns, told.st_size

    def _begin(self) -> None:
        stamp = self._stamped()  # before it is read: a newer one is read again
        id = self._folder.name
        stated = read_stated(self._folder / MANIFEST, f"run {id}")
        name = stated.pop(_NAME, None) if isinstance(stated, dict) else None
        if name is not None and not _OF_A_JOURNAL.fullmatch(str(name)):
            msg = (
                f"run {id}: expected a manifest that names a file beside it; "
                f"got {str(name)[:80]!r}; try a copy of the record, or another run"
            )
            raise LogError(msg)
        self._found = run_of_json(id, stated)
        self._journal = None if name is None else self._folder / name
        self._read = 0
        self._stamp = stamp

    def _grown(self) -> RunManifest:
        found = self._found
        assert found is not None  # `_begin` has read it
        if self._journal is not None:
            text = _after(self._journal, self._read)
            # A line without an end is being written, or was when the writer was killed.
            *lines, rest = text.split(b"\n")
            if lines:
                found = self._found = _with(found, lines)
                self._read += len(text) - len(rest)
        return found


def _after(path: Path, read: int) -> bytes:
    """What a file holds behind its first bytes."""
    if not read:
        return path.read_bytes()
    with path.open("rb") as file:
        file.seek(read)
        return file.read()


def read_manifest(folder: Path) -> RunManifest:
    """The manifest of a run as it is now, with all that was added.

    Raises:
        LogError: the manifest is damaged, or what was added is not there any more.
    """
    return Following(folder).now()


def _with(manifest: RunManifest, lines: Iterable[bytes]) -> RunManifest:
    streams, where = dict(manifest.by_name), f"run {manifest.id}"
    try:
        for line in lines:
            for added in map(StreamInfo.read, json.loads(line)):
                known = streams.get(added.name)
                streams[added.name] = added if known is None else known.with_more(added)
    except json.JSONDecodeError as fault:
        raise ManifestError("", "lines of JSON", str(fault)[:80], where) from fault
    except ManifestError as fault:
        raise fault.of(where) from None
    return replace(manifest, streams=tuple(streams.values()))

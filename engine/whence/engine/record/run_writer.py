"""Write a run, part by part, and the manifest that lists what is complete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.interpreter.pending import InSlices
from whence.engine.lineage.association import Association
from whence.engine.lineage.block import Associations
from whence.engine.record.coded import coded
from whence.engine.record.compact import encodings_of, joined_table
from whence.engine.record.files import flush_files, read_table, write_table
from whence.engine.record.folders import LATEST, run_folder
from whence.engine.record.journal import read_manifest, remove_journals
from whence.engine.record.manifest import (
    LISTS,
    MANIFEST,
    Listed,
    PartInfo,
    Parts,
    RunManifest,
    StreamInfo,
    StreamRole,
    run_of_json,
    write_manifest,
)
from whence.engine.record.runs import RunRecord, check_stream_folder, now
from whence.engine.record.schema import IN_ORDER, association_table
from whence.engine.record.writing import WritingLock

__all__ = ["RunWriter", "WrittenPart"]

_SAME = ("chain_digest", "logs", "options", "chunk")
"""What a second attempt at a run must share with the first."""

_PRETTY = 50
"""A manifest that lists more parts than these is one line: written many times faster."""


class WrittenPart(NamedTuple):
    """What was written of one part of a stream, as its manifest lists it."""

    stream: str
    outputs: PartInfo | None
    associations: PartInfo | None
    tracked: int


class _ListedStream:
    """A stream whose parts are being listed."""

    def __init__(self, stream: StreamInfo) -> None:
        self._stated = stream
        self._length, self._tracked = stream.length, stream.tracked
        self._parts = {what: list(stream.parts(what).json()) for what in LISTS}

    @property
    def role(self) -> StreamRole:
        return self._stated.role

    def add(self, part: WrittenPart) -> None:
        if part.outputs is not None:
            self._parts["outputs"].append(part.outputs.json())
            self._length += part.outputs.rows
        if part.associations is not None:
            self._parts["associations"].append(part.associations.json())
        self._tracked += part.tracked

    def take_in(self, stream: StreamInfo) -> None:
        for what in LISTS:
            both = Parts(self._parts[what]).merged(stream.parts(what))
            self._parts[what] = both.json()
        self._length += stream.length
        self._tracked += stream.tracked

    def info(self) -> StreamInfo:
        """As it is now. It shares the lists, which only get longer."""
        return replace(
            self._stated,
            length=self._length,
            tracked=self._tracked,
            outputs=Parts(self._parts["outputs"]),
            associations=Parts(self._parts["associations"]),
        )


class RunWriter(RunRecord):
    """Writes a run while it goes on; to be finished in any case, since it holds a lock."""

    def __init__(self, root: Path, id: str, stated: Mapping[str, Any]) -> None:
        """Begin: the manifest is there before anything else is.

        A run that did not come to its end may be written again under the same id. What the first
        attempt had written has to come out the same, since it may have been loaded.

        Args:
            root: the record's place.
            id: the new run's id.
            stated: in the manifest: chain, logs, options, versions, metadata, chunk, streams.

        Raises:
            LogError: there is another run of this id, or somebody is still writing it.
        """
        if id == LATEST:
            msg = f"run {id}: expected an id; got what means the newest run; try another id"
            raise LogError(msg)
        self._lock = WritingLock(run_folder(root, id))
        try:
            self._begin(root, id, stated)
            super().__init__(root, id)
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, root: Path, id: str, stated: Mapping[str, Any]) -> None:
        folder = run_folder(root, id)
        begun = {
            "format": RunManifest.FORMAT,
            "id": id,
            "status": "running",
            "started": now(),
            "ended": None,
            "error": None,
            "pending": {},
        }
        self._stated = run_of_json(id, {**begun, **stated})
        before = read_manifest(folder) if (folder / MANIFEST).exists() else None
        if before is not None:
            _check_same(before, self._stated)
            for left in folder.rglob(".*.part"):
                left.unlink(missing_ok=True)  # of a file that was being written when it was stopped
        self._before = {
            (what, stream.name, part)
            for stream in (() if before is None else before.streams)
            for what in LISTS
            for part in stream.parts(what).numbers
        }
        self._streams: dict[str, _ListedStream] = {}
        for stream in self._stated.streams:
            self.add_stream(stream)
        # With `where`, each part says how many of its events have associations.
        self._counts_tracked = self._stated.options.where is not None
        self._there: set[tuple[str, int]] = set()
        self._unflushed: list[Path] = []
        write_manifest(folder, self._listed())

    @classmethod
    def again(cls, root: Path, id: str) -> Self:
        """Go on with a run that was stopped; what its manifest lists is there already."""
        found = RunRecord(root, id)
        self = cls.__new__(cls)
        self.root, self.id, self.folder = root, found.id, found.folder
        self._lock = WritingLock(found.folder)
        self._before = set()
        self._unflushed = []
        before = read_manifest(found.folder)
        self._stated = replace(before, status="running", ended=None, error=None)
        self._counts_tracked = before.options.where is not None
        self._streams = {stream.name: _ListedStream(stream) for stream in before.streams}
        self._there = {
            (stream.name, part)
            for stream in before.streams
            for what in LISTS
            for part in stream.parts(what).numbers
        }
        self.publish()
        return self

    def _listed(self) -> RunManifest:
        """The manifest as it is to be published."""
        return replace(self._stated, streams=tuple(s.info() for s in self._streams.values()))

    def add_stream(self, stream: StreamInfo) -> None:
        """List one more stream, without its parts, unless it is listed already."""
        if stream.name not in self._streams:
            check_stream_folder(stream.name, self._streams)
            self._streams[stream.name] = _ListedStream(stream.without_parts())

    def add(
        self,
        stream: str,
        part: int,
        events: pa.Table | None,
        rows: Iterable[Association] | Associations,
        tracked: int = 0,
    ) -> None:
        """Write one part of a stream, unless it is there; `publish` makes it count.

        Args:
            stream: its name.
            part: its number.
            events: position, moment, kind, value; ``None`` for streams without events.
            rows: what these events lead to.
            tracked: how many of them have associations.
        """
        self.list_part(self.write_part(stream, part, events, rows, tracked))

    def write_part(
        self,
        stream: str,
        part: int,
        events: pa.Table | None,
        rows: Iterable[Association] | Associations,
        tracked: int = 0,
    ) -> WrittenPart:
        """The first half of `add`, for several parts at the same time: write the files."""
        if (stream, part) in self._there:
            return WrittenPart(stream, None, None, 0)
        outputs = None
        if events is not None and events.num_rows:
            digest = self._write("outputs", stream, part, coded(events), IN_ORDER)
            places = events.column("position")
            ends = (places[0].as_py(), places[-1].as_py())
            # Where none was tracked the loader need not look.
            told = tracked if self._counts_tracked else None
            outputs = _part(part, events.num_rows, ends, digest, told)
        if isinstance(rows, Associations):
            associations = self._compact(stream, part, rows)
        else:
            associations = self._rows(stream, part, rows)
        return WrittenPart(stream, outputs, associations, tracked)

    def list_part(self, part: WrittenPart) -> None:
        """The second half of `add`, for one part after the other: list what was written."""
        self._streams[part.stream].add(part)

    def _rows(self, stream: str, part: int, rows: Iterable[Association]) -> PartInfo | None:
        table = association_table(rows)
        if not table.num_rows:
            return None
        digest = self._write("associations", stream, part, table)
        lows = table.column("lo").to_pylist()
        return _part(part, table.num_rows, (min(lows), max(lows)), digest)

    def _compact(self, stream: str, part: int, rows: Associations) -> PartInfo | None:
        rows = rows.joined()
        blocks = [block for block in rows.blocks if len(block)]
        if not blocks:
            return None
        table = joined_table(rows)
        digest = self._write("associations", stream, part, table, encodings_of(rows))
        first = min(int(block.outputs.min()) for block in blocks)
        last = max(int(block.outputs.max()) for block in blocks)
        return _part(part, rows.row_count, (first, last), digest)

    def _write(
        self,
        what: Listed,
        stream: str,
        part: int,
        table: pa.Table,
        encodings: Mapping[str, str] | None = None,
    ) -> str:
        """Write a part; return the digest of its file."""
        path = self.path(what, stream, part)
        if (what, stream, part) in self._before and not _holds(path, table):
            msg = (
                f"run {self.id}: expected part {part} of {stream} as an earlier attempt wrote it; "
                "got something else, so that its code or its log must have changed; "
                "try it as a new run"
            )
            raise LogError(msg)
        digest = write_table(path, table, encodings, flushed=False)
        self._unflushed.append(path)
        return digest

    def take_in(self, stream: StreamInfo, folder: Path) -> None:
        """Give parts that were written elsewhere their place; `publish` makes them count.

        Args:
            stream: with the parts and counts of what was written.
            folder: where it was written, in the same order of folders.
        """
        self.add_stream(stream)
        for what in LISTS:
            for part in stream.parts(what).numbers:
                path = self.path(what, stream.name, part)
                path.parent.mkdir(parents=True, exist_ok=True)
                (folder / path.relative_to(self.folder)).replace(path)
        self._streams[stream.name].take_in(stream)

    def leave(self) -> None:
        """Write no more, without an end: the run is interrupted, and whoever comes goes on."""
        self._lock.leave()

    def check(self) -> None:
        """See to it that nobody else has taken this run for left, and goes on with it."""
        self._lock.check()

    def flush(self) -> None:
        """See to it that the parts are on the disk, so that something may say so."""
        paths, self._unflushed = self._unflushed, []
        flush_files(paths)

    def publish(self) -> None:
        """Replace the manifest: from now on what was added counts."""
        self.flush()
        self.check()
        manifest = self._listed()
        many = sum(len(stream.outputs) for stream in manifest.streams) > _PRETTY
        write_manifest(self.folder, manifest, indent=None if many else 1)
        remove_journals(self.folder)

    def finish(
        self,
        status: str,
        *,
        pending: Mapping[str, int | InSlices] | None = None,
        error: str | None = None,
        ended: str | None = None,
    ) -> None:
        """The run is over: now, unless it is known that it was earlier."""
        self._stated = replace(
            self._stated,
            status=status,
            ended=ended or now(),
            error=error,
            pending=dict(pending or {}),
        )
        self.publish()
        self._lock.release()


def _part(
    part: int, rows: int, ends: tuple[int, int], digest: str, tracked: int | None = None
) -> PartInfo:
    return PartInfo(
        part=part, rows=rows, first=ends[0], last=ends[1], digest=digest, tracked=tracked
    )


def _check_same(before: RunManifest, stated: RunManifest) -> None:
    """Refuse to write over a run that is another one, or that is complete."""
    other = [name for name in _SAME if getattr(before, name) != getattr(stated, name)]
    got = f"one with another {other[0].replace('_', ' ')}" if other else "one that is complete"
    if other or before.is_complete:
        msg = f"run {stated.id}: expected a new id; got {got}; try another id"
        raise LogError(msg)


def _holds(path: Path, table: pa.Table) -> bool:
    """Whether a part is there with this content; one that cannot be read is written again."""
    try:
        found = read_table(path)
        return bool(found.equals(table.cast(found.schema)))
    except (OSError, pa.ArrowException):
        return True

"""Runs in the record: outputs and associations, part by part, and the manifest that lists them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa

from whence.engine.associations import Association
from whence.engine.compact import Associations
from whence.engine.errors import LogError
from whence.engine.record.coded import coded
from whence.engine.record.compact import encodings_of, joined_table
from whence.engine.record.files import flush_files, read_table, write_json, write_table
from whence.engine.record.journal import Following, read_manifest, remove_journals
from whence.engine.record.logs import LogRecord
from whence.engine.record.schema import IN_ORDER, association_table, associations_of
from whence.engine.record.writing import WritingLock, is_being_written

__all__ = ["RunRecord", "RunWriter", "list_runs", "new_run_id", "now"]

_SAME = ("chain_digest", "logs", "options", "chunk")
"""What a second attempt at a run must share with the first."""

_PRETTY = 50
"""A manifest that lists more parts than these is one line: written many times faster."""


def now() -> str:
    """This moment, in UTC, as the record writes times."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_run_id() -> str:
    """A run's id: when it began, and something that no other run has."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def _stream_folder(name: str) -> str:
    """A folder name for a stream; ids may hold anything that a file system may not."""
    safe = "".join(c if c.isalnum() or c in "-_." else f"%{ord(c):x}" for c in name)
    return safe or "%"


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
        if id == "latest":
            known = list_runs(root)
            id = known[-1] if known else id
        self.id = id
        self.folder = root / "runs" / id
        if not (self.folder / "manifest.json").exists():
            latest = ", ".join(list_runs(root)[-5:]) or "none yet"
            msg = f"a run: expected one of the record {root}; got {id!r}; try one of: {latest}"
            raise LogError(msg)

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest as it is now; a running run replaces it again and again.

        A run that should be running, but that no process writes any more, is *interrupted*.
        """
        return self._standing(partial(read_manifest, self.folder))

    def following(self) -> Callable[[], dict[str, Any]]:
        """Gives the manifest as it is whenever it is called, and reads only what is new of it.

        What it gave before stays as it was, and is not to be changed.
        """
        return partial(self._standing, Following(self.folder).now)

    def _standing(self, read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        found = read()
        if found["status"] == "running" and not is_being_written(self.folder):
            found = read()  # it may have ended by itself in between
            if found["status"] == "running":
                return {**found, "status": "interrupted"}
        return found

    def log(self, name: str) -> LogRecord:
        """A log of the run, by its name in the chain."""
        return LogRecord.open(self.root / "logs" / self.manifest["logs"][name])

    def outputs(self, stream: str, part: int) -> pa.Table:
        """One part of a stream's events."""
        return read_table(self.path("outputs", stream, part))

    def associations(self, stream: str, part: int) -> pa.Table:
        """One part of a stream's associations."""
        return read_table(self.path("associations", stream, part))

    def rows(self) -> Iterator[Association]:
        """Every association of the run; for small runs and tests."""
        for stream in self.manifest["streams"]:
            for part in stream["associations"]:
                table = self.associations(stream["name"], part["part"])
                yield from associations_of(table, stream["name"])

    def path(self, what: str, stream: str, part: int) -> Path:
        """Where a part is: of a stream's ``outputs`` or ``associations``."""
        return self.folder / what / _stream_folder(stream) / f"part-{part:05d}.parquet"


class WrittenPart(NamedTuple):
    """What was written of one part of a stream, as its manifest lists it."""

    stream: str
    outputs: dict[str, Any] | None
    associations: dict[str, Any] | None
    tracked: int


class RunWriter(RunRecord):
    """Writes a run while it goes on; to be finished in any case, since it holds a lock."""

    def __init__(self, root: Path, id: str, manifest: Mapping[str, Any]) -> None:
        """Begin: the manifest is there before anything else is.

        A run that did not come to its end may be written again under the same id. What the first
        attempt had written has to come out the same, since it may have been loaded.

        Args:
            root: the record's place.
            id: the new run's id.
            manifest: chain, logs, options, versions, metadata, chunk and streams.

        Raises:
            LogError: there is another run of this id, or somebody is still writing it.
        """
        self._lock = WritingLock(root / "runs" / id)
        try:
            self._begin(root, id, manifest)
            super().__init__(root, id)
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, root: Path, id: str, manifest: Mapping[str, Any]) -> None:
        path = root / "runs" / id / "manifest.json"
        before = read_manifest(path.parent) if path.exists() else None
        if before is not None:
            _check_same(id, before, manifest)
            for left in path.parent.rglob(".*.part"):
                left.unlink(missing_ok=True)  # of a file that was being written when it was stopped
        self._before = {
            (what, stream["name"], part["part"])
            for stream in (before or {"streams": []})["streams"]
            for what in ("outputs", "associations")
            for part in stream[what]
        }
        self._manifest: dict[str, Any] = {
            "format": 1,
            "id": id,
            "status": "running",
            "started": now(),
            "ended": None,
            "error": None,
            "pending": {},
            **manifest,
        }
        for stream in self._manifest["streams"]:
            stream.update({"length": 0, "tracked": 0, "outputs": [], "associations": []})
        self._streams = {stream["name"]: stream for stream in self._manifest["streams"]}
        self._there: set[tuple[str, int]] = set()
        self._unflushed: list[Path] = []
        write_json(path, self._manifest)

    @classmethod
    def again(cls, root: Path, id: str) -> Self:
        """Go on with a run that was stopped; what its manifest lists is there already."""
        found = RunRecord(root, id)
        self = cls.__new__(cls)
        self.root, self.id, self.folder = root, found.id, found.folder
        self._lock = WritingLock(found.folder)
        self._before = set()
        self._unflushed = []
        self._manifest = read_manifest(found.folder)
        self._manifest.update({"status": "running", "ended": None, "error": None})
        self._streams = {stream["name"]: stream for stream in self._manifest["streams"]}
        self._there = {
            (name, part["part"])
            for name, stream in self._streams.items()
            for part in (*stream["outputs"], *stream["associations"])
        }
        self.publish()
        return self

    def add_stream(self, stream: Mapping[str, Any]) -> None:
        """List one more stream, unless it is listed already."""
        if stream["name"] not in self._streams:
            listed = {**stream, "length": 0, "tracked": 0, "outputs": [], "associations": []}
            self._manifest["streams"].append(listed)
            self._streams[listed["name"]] = listed

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
            outputs = _listed(part, events.num_rows, ends, digest)
            if self._manifest.get("options", {}).get("where") is not None:
                outputs["tracked"] = tracked  # who loads it need not look where there is none
        if isinstance(rows, Associations):
            associations = self._compact(stream, part, rows)
        else:
            associations = self._rows(stream, part, rows)
        return WrittenPart(stream, outputs, associations, tracked)

    def list_part(self, part: WrittenPart) -> None:
        """The second half of `add`, for one part after the other: list what was written."""
        known = self._streams[part.stream]
        if part.outputs is not None:
            known["outputs"].append(part.outputs)
            known["length"] += part.outputs["rows"]
        if part.associations is not None:
            known["associations"].append(part.associations)
        known["tracked"] += part.tracked

    def _rows(self, stream: str, part: int, rows: Iterable[Association]) -> dict[str, Any] | None:
        table = association_table(rows)
        if not table.num_rows:
            return None
        digest = self._write("associations", stream, part, table)
        lows = table.column("lo").to_pylist()
        return _listed(part, table.num_rows, (min(lows), max(lows)), digest)

    def _compact(self, stream: str, part: int, rows: Associations) -> dict[str, Any] | None:
        rows = rows.joined()
        blocks = [block for block in rows.blocks if len(block)]
        if not blocks:
            return None
        table = joined_table(rows)
        digest = self._write("associations", stream, part, table, encodings_of(rows))
        first = min(int(block.outputs.min()) for block in blocks)
        last = max(int(block.outputs.max()) for block in blocks)
        return _listed(part, rows.row_count, (first, last), digest)

    def _write(
        self,
        what: str,
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

    def take_in(self, stream: Mapping[str, Any], folder: Path) -> None:
        """Give parts that were written elsewhere their place; `publish` makes them count.

        Args:
            stream: as `add_stream` takes it, with the parts and counts of what was written.
            folder: where it was written, in the same order of folders.
        """
        self.add_stream(stream)
        known = self._streams[stream["name"]]
        for what in ("outputs", "associations"):
            for part in stream[what]:
                path = self.path(what, stream["name"], part["part"])
                path.parent.mkdir(parents=True, exist_ok=True)
                (folder / path.relative_to(self.folder)).replace(path)
            known[what] = sorted([*known[what], *stream[what]], key=lambda part: int(part["part"]))
        known["length"] += stream["length"]
        known["tracked"] += stream["tracked"]

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
        many = sum(len(stream["outputs"]) for stream in self._manifest["streams"]) > _PRETTY
        write_json(self.folder / "manifest.json", self._manifest, None if many else 1)
        remove_journals(self.folder)

    def finish(
        self,
        status: str,
        *,
        pending: Mapping[str, int] | None = None,
        error: str | None = None,
        ended: str | None = None,
    ) -> None:
        """The run is over: now, unless it is known that it was earlier."""
        self._manifest.update(
            {
                "status": status,
                "ended": ended or now(),
                "error": error,
                "pending": dict(pending or {}),
            }
        )
        self.publish()
        self._lock.release()


def _listed(part: int, rows: int, ends: tuple[int, int], digest: str) -> dict[str, Any]:
    return {"part": part, "rows": rows, "first": ends[0], "last": ends[1], "digest": digest}


def _check_same(id: str, before: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
    """Refuse to write over a run that is another one, or that is complete."""
    other = [name for name in _SAME if before.get(name) != manifest.get(name)]
    got = f"one with another {other[0].replace('_', ' ')}" if other else "one that is complete"
    if other or before["status"] == "complete":
        msg = f"run {id}: expected a new id; got {got}; try another id"
        raise LogError(msg)


def _holds(path: Path, table: pa.Table) -> bool:
    """Whether a part is there with this content; one that cannot be read is written again."""
    try:
        found = read_table(path)
        return bool(found.equals(table.cast(found.schema)))
    except (OSError, pa.ArrowException):
        return True


def list_runs(root: Path) -> list[str]:
    """The runs of a record, the latest last."""
    found = [path.parent for path in (root / "runs").glob("*/manifest.json")]
    return [folder.name for folder in sorted(found, key=lambda f: f.name)]

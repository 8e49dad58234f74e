"""Runs in the record: outputs and associations, part by part, and the manifest that lists them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from whence.engine.associations import Association
from whence.engine.compact import Associations
from whence.engine.errors import LogError
from whence.engine.record.compact import ENCODINGS, compact_table
from whence.engine.record.files import read_json, write_json, write_table
from whence.engine.record.logs import LogRecord
from whence.engine.record.schema import IN_ORDER, association_table, associations_of

__all__ = ["RunRecord", "RunWriter", "list_runs", "new_run_id", "now"]


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
        """The manifest as it is now; a running run replaces it again and again."""
        found: dict[str, Any] = read_json(self.folder / "manifest.json")
        return found

    def log(self, name: str) -> LogRecord:
        """A log of the run, by its name in the chain."""
        return LogRecord.open(self.root / "logs" / self.manifest["logs"][name])

    def outputs(self, stream: str, part: int) -> pa.Table:
        """One part of a stream's events."""
        return pq.read_table(self._path("outputs", stream, part))

    def associations(self, stream: str, part: int) -> pa.Table:
        """One part of a stream's associations."""
        return pq.read_table(self._path("associations", stream, part))

    def rows(self) -> Iterator[Association]:
        """Every association of the run; for small runs and tests."""
        for stream in self.manifest["streams"]:
            for part in stream["associations"]:
                table = self.associations(stream["name"], part["part"])
                yield from associations_of(table, stream["name"])

    def _path(self, what: str, stream: str, part: int) -> Path:
        return self.folder / what / _stream_folder(stream) / f"part-{part:05d}.parquet"


class RunWriter(RunRecord):
    """Writes a run while it goes on."""

    def __init__(self, root: Path, id: str, manifest: Mapping[str, Any]) -> None:
        """Begin: the manifest is there before anything else is.

        Args:
            root: the record's place.
            id: the new run's id.
            manifest: chain, logs, options, versions, metadata, chunk and streams.
        """
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
        write_json(root / "runs" / id / "manifest.json", self._manifest)
        super().__init__(root, id)

    @classmethod
    def again(cls, root: Path, id: str) -> RunWriter:
        """Go on with a run that was stopped; what its manifest lists is there already."""
        found = RunRecord(root, id)
        self = cls.__new__(cls)
        self.root, self.id, self.folder = root, found.id, found.folder
        self._manifest = found.manifest
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
        known = self._streams[stream]
        if (stream, part) in self._there:
            return
        if events is not None and events.num_rows:
            write_table(self._path("outputs", stream, part), events, IN_ORDER)
            places = events.column("position")
            known["outputs"].append(_listed(part, events.num_rows, places[0], places[-1]))
            known["length"] += events.num_rows
        if isinstance(rows, Associations):
            self._add_compact(stream, part, rows)
        else:
            self._add_rows(stream, part, rows)
        known["tracked"] += tracked

    def _add_rows(self, stream: str, part: int, rows: Iterable[Association]) -> None:
        table = association_table(rows)
        if table.num_rows:
            write_table(self._path("associations", stream, part), table)
            lows = table.column("lo").to_pylist()
            self._streams[stream]["associations"].append(
                {"part": part, "rows": table.num_rows, "first": min(lows), "last": max(lows)}
            )

    def _add_compact(self, stream: str, part: int, rows: Associations) -> None:
        blocks = [block for block in rows.blocks if len(block)]
        if blocks:
            write_table(self._path("associations", stream, part), compact_table(rows), ENCODINGS)
            first = min(int(block.outputs.min()) for block in blocks)
            last = max(int(block.outputs.max()) for block in blocks)
            self._streams[stream]["associations"].append(
                {"part": part, "rows": rows.row_count, "first": first, "last": last}
            )

    def publish(self) -> None:
        """Replace the manifest: from now on what was added counts."""
        write_json(self.folder / "manifest.json", self._manifest)

    def finish(
        self, status: str, *, pending: Mapping[str, int] | None = None, error: str | None = None
    ) -> None:
        """The run is over."""
        self._manifest.update(
            {"status": status, "ended": now(), "error": error, "pending": dict(pending or {})}
        )
        self.publish()


def _listed(part: int, rows: int, first: pa.Scalar, last: pa.Scalar) -> dict[str, int]:
    return {"part": part, "rows": rows, "first": first.as_py(), "last": last.as_py()}


def list_runs(root: Path) -> list[str]:
    """The runs of a record, the latest last."""
    found = [path.parent for path in (root / "runs").glob("*/manifest.json")]
    return [folder.name for folder in sorted(found, key=lambda f: f.name)]

"""A log of the record that grows while its events arrive.

Its parts appear as they are filled. Its digest, the identities of its events and its last part are
there when it is complete; until then it is known by where it comes from.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.language.log import ROLES, Log
from whence.engine.record.content_digest import ContentDigest
from whence.engine.record.event_ids import EventIds
from whence.engine.record.files import flush_files
from whence.engine.record.folders import log_folder
from whence.engine.record.logs import LogRecord, log_manifest, log_roles, write_log_part
from whence.engine.record.manifest import LogManifest, write_manifest
from whence.engine.record.remote import RemotePath
from whence.engine.record.schema import log_schema
from whence.engine.record.secret import record_secret
from whence.engine.sources.source import Report, Source

__all__ = ["GrowingLog"]


class GrowingLog:
    """Writes a log part by part; what its manifest does not count does not exist.

    Attributes:
        record: the log as the record has it by now.
        length: how many events arrived, those included that wait for their part to be full.
        write: has a part written, now or behind; then whoever publishes waits for it first.
    """

    def __init__(self, root: Path, record: LogRecord) -> None:
        """Go on with a log of the record; `load` says how far it had come."""
        self.record = record
        self._root = root
        self._chunk = record.manifest.chunk
        self._rows = pa.schema(list(log_schema(record.columns))[1:])
        self._held: list[pa.Table] = []
        self._unflushed: list[Path] = []
        self._parts = 0
        self.length = 0
        self.write: Callable[[Callable[[], None]], None] = lambda write: write()

    @classmethod
    def begin(
        cls,
        root: Path,
        name: str,
        source: Source,
        declared: Log,
        chunk: int,
        *,
        origin: str,
        apart: str,
    ) -> GrowingLog:
        """A new log, without events.

        Args:
            root: the record's place.
            name: what the log is called.
            source: what is known of it: its columns.
            declared: what its columns mean.
            chunk: events a part.
            origin: where it comes from.
            apart: tells it from what came from there at another time.
        """
        roles = log_roles(declared, source)
        identity = hashlib.sha256(json.dumps(["stream", origin, apart]).encode()).hexdigest()[:32]
        stated = {
            "order": "file",
            "missing": None,
            **{role: roles[role] for role in ROLES if role != "id"},
            "event_id": roles["id"],
        }
        manifest = log_manifest(source, identity, name, record_secret(root), chunk, stated)
        report = Report(source.report.on_bad).json()
        manifest = replace(manifest, source=origin, report=report)
        folder = log_folder(root, identity)
        write_manifest(folder, manifest)
        return cls(root, LogRecord(folder, manifest))

    def add(self, table: pa.Table) -> None:
        """Take the next rows: row number, then the columns; write the parts that are full."""
        self._held.append(table.cast(self._rows))
        self.length += table.num_rows
        waiting = self.length - self._parts * self._chunk
        if waiting < self._chunk:
            return
        whole = pa.concat_tables(self._held)
        full = waiting // self._chunk * self._chunk
        for start in range(0, full, self._chunk):
            self._part(whole.slice(start, self._chunk))
        self._held = [whole.slice(full)]

    def _part(self, table: pa.Table) -> None:
        if self._parts < self.record.manifest.parts:
            self._check_same(table)  # counted already: it may have been loaded
        else:
            number, first = self._parts, self._parts * self._chunk
            folder, columns = self.record.folder, self.record.columns

            def write() -> None:
                path = write_log_part(folder, number, table, columns, first, flushed=False)
                self._unflushed.append(path)

            self.write(write)
        self._parts += 1

    def _check_same(self, table: pa.Table) -> None:
        if not self.record.part(self._parts).drop(["position"]).equals(table):
            msg = (
                f"{self.record.manifest.source}: expected events that were read before to stay "
                f"as they were; got others in part {self._parts}; try it as a new run"
            )
            raise LogError(msg)

    def publish(self) -> None:
        """From now on the full parts count."""
        if self._parts > self.record.manifest.parts:
            self._flush()
            length = self._parts * self._chunk
            self._replace(replace(self.record.manifest, parts=self._parts, length=length))

    def _flush(self) -> None:
        paths, self._unflushed = self._unflushed, []
        flush_files(paths)

    def _replace(self, manifest: LogManifest) -> None:
        write_manifest(self.record.folder, manifest)
        self.record = LogRecord(self.record.folder, manifest)

    def save(self) -> dict[str, object]:
        """What is not written yet."""
        held = pa.concat_tables([self._rows.empty_table(), *self._held]).combine_chunks()
        return {"parts": self._parts, "held": held}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""
        self._parts = state["parts"]
        self._held = [state["held"]]
        self.length = self._parts * self._chunk + state["held"].num_rows

    def finish(self, report: Report) -> LogRecord:
        """The log is complete: write the rest, its digest and its events' identities."""
        self._flush()
        rest = pa.concat_tables([self._rows.empty_table(), *self._held])
        parts = self._parts
        if rest.num_rows or not parts:
            folder, columns = self.record.folder, self.record.columns
            write_log_part(folder, parts, rest, columns, parts * self._chunk)
            parts += 1
        by = self.record.manifest.event_id
        digest = ContentDigest(self.record.columns)
        with _room(self.record.folder) as room:
            ids = EventIds(room, record_secret(self._root), by)
            try:
                for number in range(parts):
                    table = self.record.part(number).drop(["position"])
                    for batch in table.combine_chunks().to_batches():
                        digest.add(batch)
                        ids.add(batch, number * self._chunk)
                ids.finish()
            finally:
                ids.close()
        before = self.record.manifest
        self._replace(
            replace(
                before,
                parts=parts,
                length=self.length,
                report=report.json(),
                digest=f"sha256:{digest.finish()}",
                events=replace(before.events, repeated=ids.repeated),
            )
        )
        return self.record


@contextmanager
def _room(folder: Path) -> Iterator[Path]:
    """Where a file of a log is worked out: in its folder; for one at a URI here, and put there."""
    if not isinstance(folder, RemotePath):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="whence-") as here:
        yield Path(here)
        for path in Path(here).iterdir():
            (folder / path.name).put(path)

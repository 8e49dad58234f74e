"""A folder into which files are put: a log that grows by whole files.

Spark's file source says which files have arrived, each once. Those of one batch are read in the
order of their names, row by row; what arrives later comes after. Files are read here and not by
Spark, so that a row means the same in a stream and in a log that is complete.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.language.log import Log
from whence.engine.sources.declared import open_declared
from whence.engine.sources.file_source import FileSource
from whence.engine.sources.following import Known, following
from whence.engine.sources.opening import on_one_line
from whence.engine.sources.source import Report, Source
from whence.engine.sources.stream import Nap, added, check_declared, counted, recounted, wait_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FolderStream"]

_FILE = "path string, modificationTime timestamp, length long, content binary"
_LOOK_SECONDS = 5.0
_PATTERNS = "[]{}*?\\"


class FolderStream:
    """Whole files that are put into a folder.

    Attributes:
        origin: the folder.
        declared: what is stated of the log.
        report: rows read and dropped so far.
        late: the last file whose name comes before one that had been read already.
    """

    def __init__(self, folder: str | Path, declared: Log | None = None) -> None:
        """Look at nothing but the folder.

        Raises:
            LogError: it is no folder, or one that Spark cannot follow.
        """
        self._folder = Path(os.path.abspath(folder))
        self.origin = on_one_line(str(self._folder))
        self.declared = declared or Log()
        if not self._folder.is_dir():
            got = "a file" if self._folder.exists() else "no such folder"
            msg = (
                f"a stream: expected a folder that files are put into; got {self.origin}, {got}; "
                "try its folder, or --log for a file"
            )
            raise LogError(msg)
        self._check_name(str(self._folder))
        check_declared(self.origin, self.declared)
        self.report = Report(self.declared.on_bad or "refuse")
        self.late: str | None = None
        self._known: Known | None = None
        self._row = 0
        self._last = b""
        self._waiting = 0
        self._since = time.time()
        self._looked, self._arrived = 0.0, 0

    def _check_name(self, name: str) -> None:
        """Spark takes such names for patterns: it would read other files, or none."""
        odd = [sign for sign in _PATTERNS if sign in name]
        if odd:
            msg = (
                f"{on_one_line(name)}: expected a name without {' '.join(_PATTERNS)}; "
                f"got {odd[0]}; try renaming it"
            )
            raise LogError(msg)

    def _files(self) -> list[os.DirEntry[str]]:
        """What is in the folder, but for notes of the writer and files under way."""
        with os.scandir(self._folder) as found:
            return [f for f in found if f.name[:1] not in ("", ".", "_") and f.is_file()]

    def learn(self, nap: Nap | None) -> Source:
        """Open what is there, to learn the columns."""
        wait_for(self.origin, "a first file", nap, lambda: bool(self._files()))
        source = open_declared([Path(f.path) for f in self._files()], self.declared)
        assert isinstance(source, FileSource)
        self._known = Known.of(source)
        return source

    def remember(self) -> dict[str, Any]:
        """What was learned, in plain values."""
        assert self._known is not None
        return self._known.told()

    def recall(self, told: Mapping[str, Any], columns: Mapping[str, str]) -> None:
        """Resume with what was learned before."""
        self._known = Known(told["format"], columns, told["fields"])

    def frame(self, session: SparkSession) -> DataFrame:
        """Names of files, as they arrive, all that have arrived in one batch."""
        source = session.readStream.format("binaryFile").schema(_FILE)
        # Else a file that is older than a week, compared with the newest, is left out in silence.
        return source.option("maxFileAge", "36500d").load(str(self._folder)).select("path")

    def rows(self, frame: DataFrame) -> Iterator[pa.RecordBatch]:
        """The rows of the files of a batch, by the files' names."""
        self._since = time.time()
        names = {self._name(row["path"]) for row in frame.collect()}
        for entry in self._files():
            self._check_name(entry.name)
        files = sorted(os.fsencode(name) for name in names if name[:1] not in ("", ".", "_"))
        self._waiting = len(files)
        for name in files:
            yield from self._read(self._folder / os.fsdecode(name))
            self.late = os.fsdecode(name) if name < self._last else self.late
            self._last = max(self._last, name)
            self._waiting -= 1

    def _name(self, path: str) -> str:
        """The name of a file of the folder; nothing for one of a folder inside."""
        found = Path(path.removeprefix("file:"))
        if self._folder not in found.parents:
            msg = f"{self.origin}: expected a file of this folder; got {path}; try another folder"
            raise LogError(msg)
        return found.name if found.parent == self._folder else ""

    def _read(self, file: Path) -> Iterator[pa.RecordBatch]:
        assert self._known is not None
        source = following(file, self.declared, self._known)
        first = self._row
        for batch in source.batches():
            rows = pa.array(np.asarray(batch.column("row")) + first)
            yield batch.set_column(0, batch.schema.field(0), rows)
        self._row = first + source.report.read
        added(self.report, source.report)

    def lag(self) -> str:
        """Files that have arrived and were not read yet."""
        now = time.time()
        if now - self._looked >= _LOOK_SECONDS:
            # When a file was put here, not when it was written: a file that is moved keeps that.
            self._arrived = sum(f.stat().st_ctime > self._since for f in self._files())
            self._looked = now
        files = self._waiting + self._arrived
        return f"{files:,} file{'' if files == 1 else 's'}"

    def save(self) -> dict[str, Any]:
        """How far it has come."""
        return {"row": self._row, "last": self._last.hex(), "report": counted(self.report)}

    def load(self, state: Mapping[str, Any]) -> None:
        """Resume from what `save` returned."""
        self._row, self._last = state["row"], bytes.fromhex(state["last"])
        recounted(self.report, state["report"])

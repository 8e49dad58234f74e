"""Parquet logs: typed columns, row groups that can be read by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from whence.engine.errors import LogError
from whence.engine.sources.arrow_columns import kinds_of_schema, stated_kinds
from whence.engine.sources.cells import zone_of
from whence.engine.sources.file_source import FileSource, free_names
from whence.engine.sources.numbering import numbered
from whence.engine.sources.opening import is_packed, on_one_line, readable, shown
from whence.engine.sources.repeated import repeated
from whence.engine.sources.source import Reading, Split

__all__ = ["ParquetSource"]

_BATCH = 65_536
_DAMAGE = (pa.ArrowException, OSError, UnicodeDecodeError)


class ParquetSource(FileSource):
    """A log in Parquet files that have the same columns."""

    format = "parquet"

    def __init__(self, files: Sequence[Path], reading: Reading) -> None:
        """Read the footers.

        Raises:
            LogError: a file is no Parquet, or has other columns than the first.
        """
        super().__init__(files, reading)
        zone_of(reading.timezone)
        self._groups: list[list[int]] = []
        first: pa.Schema | None = None
        for file in files:
            if is_packed(file):
                msg = f"{shown(file)}: expected Parquet; got gzip around it; try unpacking it"
                raise LogError(msg)
            with _opened(file) as parquet:
                schema = parquet.schema_arrow.remove_metadata()
                meta = parquet.metadata
                self._groups.append(
                    [meta.row_group(n).num_rows for n in range(meta.num_row_groups)]
                )
            first = schema if first is None else first
            if not schema.equals(first):
                msg = (
                    f"{shown(file)}: expected the columns of {shown(files[0])}, with their types; "
                    "got others; try the files one by one"
                )
                raise LogError(msg)
        assert first is not None
        reading.limits.check("columns", len(first), self.name)
        if (twice := repeated(first.names)) is not None:
            msg = (
                f"{self.name}: expected columns that differ; got {twice!r} twice; try renaming one"
            )
            raise LogError(msg)
        own = kinds_of_schema(first, free_names(first.names), self.name)
        self._stated, self.columns = stated_kinds(own, reading.kinds, self.name)

    def count(self, file: int) -> int:
        """How many rows a file has, from its footer."""
        return sum(self._groups[file])

    def splits(self, wanted: int) -> Sequence[Split]:
        """Row groups, several together if there are more than are wanted."""
        total = sum(map(sum, self._groups))
        size = max(1, total // max(1, wanted))
        made: list[Split] = []
        row = 0
        for number, groups in enumerate(self._groups):
            start, begins = 0, row
            for group, rows in enumerate(groups):
                row += rows
                if row - begins >= size or group == len(groups) - 1:
                    made.append(Split(number, start, group + 1, begins))
                    start, begins = group + 1, row
        return made or (Split(0, 0, 0),)

    def read(self, split: Split | None) -> Iterator[pa.RecordBatch]:
        """The rows of some row groups of one file, or of all files."""
        if split is not None:
            yield from self._file(split)
            return
        row = 0
        for number in range(len(self.files)):
            yield from self._file(Split(number, row=row))
            row += self.count(number)
            self.tell(number + 1, len(self.files), "files")

    def _file(self, split: Split) -> Iterator[pa.RecordBatch]:
        groups = range(len(self._groups[split.file]))[split.start :]
        if split.stop >= 0:
            groups = range(split.start, split.stop)
        row = split.row
        path = self.files[split.file]
        with _opened(path) as parquet:
            batches = parquet.iter_batches(_BATCH, row_groups=list(groups)) if groups else ()
            for batch in _sound(batches, path):
                yield numbered(self, split.file, row, batch.columns, self._stated)
                row += batch.num_rows


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    with readable(path):
        file = path.open("rb")
    with file:
        try:
            parquet = pq.ParquetFile(file)
        except _DAMAGE as fault:
            raise _damaged(path, fault) from fault
        yield parquet


def _sound(given: Iterable[pa.RecordBatch], path: Path) -> Iterator[pa.RecordBatch]:
    """The batches; what Arrow says of a damaged file becomes one line."""
    batches = iter(given)
    while True:
        try:
            batch = next(batches, None)
        except _DAMAGE as fault:
            raise _damaged(path, fault) from fault
        if batch is None:
            return
        yield batch


def _damaged(path: Path, fault: Exception) -> LogError:
    said = on_one_line(" ".join(str(fault).split())[:120].rstrip(".;"))
    return LogError(
        f"{shown(path)}: expected a whole Parquet file; got damage ({said}); try fetching it again"
    )

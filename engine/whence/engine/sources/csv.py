"""CSV logs: a header, then one record a row; read fast, and strictly.

Cells are text unless a kind is stated; an empty cell is missing, and nothing else is. Blocks of
rows are parsed by Arrow, several at a time. A block that Arrow does not take is gone through sign
by sign, which finds the row and line that are wrong. Where rows end is never guessed: a file whose
quotes are broken is refused whatever else is to be dropped or kept.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.sources.cells import kind_and_format, zone_of
from whence.engine.sources.csv_head import csv_head
from whence.engine.sources.csv_parser import CsvParser, CsvRows
from whence.engine.sources.file_source import FileSource, check_stated, free_names
from whence.engine.sources.in_order import in_order
from whence.engine.sources.numbering import without
from whence.engine.sources.opening import LogBytes, codec, shown
from whence.engine.sources.row_blocks import BLOCK, RowBlock, RowBlocks, row_ends
from whence.engine.sources.source import Reading, Split, source_schema
from whence.engine.values import ValueFault

__all__ = ["CsvSource"]

_WHOLE = 0
"""The line of a stretch that begins with the file's header."""


class CsvSource(FileSource):
    """A log in CSV files that have the same header."""

    format = "csv"

    def __init__(self, files: Sequence[Path], reading: Reading) -> None:
        """Read the headers.

        Raises:
            LogError: a header, a stated kind or the dialect is not right.
        """
        super().__init__(files, reading)
        tabs = files[0].name.lower().removesuffix(".gz").endswith(".tsv")
        self._delimiter = reading.delimiter or ("\t" if tabs else ",")
        if len(self._delimiter) != 1 or self._delimiter in '"\r\n':
            msg = (
                f"a CSV file: expected a delimiter of one sign; got {reading.delimiter!r}; try ';'"
            )
            raise LogError(msg)
        self._heads = [csv_head(file, reading, self._delimiter) for file in files]
        names = self._heads[0].names
        for file, head in zip(files, self._heads, strict=True):
            if head.names != names:
                msg = (
                    f"{shown(file)}: expected the columns of {shown(files[0])}; "
                    f"got {_difference(names, head.names)}; try the files one by one"
                )
                raise LogError(msg)
        self._stated = _stated_kinds(self.name, free_names(names), reading)
        self.columns = _kinds(self.name, self._stated)

    def read(self, split: Split | None) -> Iterator[pa.RecordBatch]:
        """The rows of a stretch of one file, or of all files."""
        if split is not None:
            yield from self._stretch(split)
            return
        row = 0
        for number in range(len(self.files)):
            row = yield from self._stretch(Split(number, row=row, line=_WHOLE))

    def splits(self, wanted: int) -> Sequence[Split]:
        """Cut plain files between rows; that reads them once, without parsing."""
        if wanted <= 1 and len(self.files) == 1:
            return (Split(line=_WHOLE),)
        total = max(1, sum(file.stat().st_size for file in self.files))
        made: list[Split] = []
        row = 0
        for number in range(len(self.files)):
            row = self._cut(number, max(1, total // max(1, wanted)), row, made)
        return made

    def _cut(self, number: int, size: int, row: int, made: list[Split]) -> int:
        """Add the stretches of one file; the row number behind it."""
        whole = Split(number, row=row, line=_WHOLE)
        first, found = row, list[Split]()
        with self._open(whole) as stream:
            regular = not stream.packed and codec(self.reading.encoding, self.name) == "utf-8"
            for block in (
                self._blocks(stream, whole, min(BLOCK, max(1, size // 4))) if regular else ()
            ):
                if not block.regular:
                    regular = False
                    break
                if not found or block.offset - found[-1].start >= size:
                    if found:
                        found[-1] = replace(found[-1], stop=block.offset)
                    found.append(Split(number, block.offset, -1, row, block.line))
                row += row_ends(block)
        if not regular:
            made.append(whole)
            return first + self.count(number)
        made += found or [whole]
        return row

    def _open(self, split: Split) -> LogBytes:
        """The bytes from the first row of a stretch on."""
        whole = split.line == _WHOLE
        stream = LogBytes(
            self.files[split.file],
            self.reading.limits,
            encoding=self.reading.encoding,
            start=0 if whole else split.start,
        )
        try:
            if whole:
                stream.skip(self._heads[split.file].start)
        except LogError:
            stream.close()
            raise
        return stream

    def _blocks(self, stream: LogBytes, split: Split, size: int = BLOCK) -> RowBlocks:
        head = self._heads[split.file]
        whole = split.line == _WHOLE
        return RowBlocks(
            stream,
            self.reading.limits,
            shown(self.files[split.file]),
            delimiter=self._delimiter,
            offset=head.mark + head.start if whole else split.start,
            line=head.line if whole else split.line,
            stop=split.stop,
            blank_is_row=len(self.columns) == 1,
            size=size,
        )

    def _stretch(self, split: Split) -> Generator[pa.RecordBatch, None, int]:
        """The batches of a stretch; then the row number behind it."""
        row = split.row
        name = shown(self.files[split.file])
        parser = CsvParser(name, self._stated, self._delimiter, self.reading)
        with self._open(split) as stream:
            blocks = self._blocks(stream, split)
            irregular: list[RowBlock] = []
            small = stream.size <= BLOCK and not stream.packed
            regular = _until(irregular, blocks)
            work = map(parser.parse, regular) if small else in_order(parser.parse, regular)
            for rows in work:
                yield self._numbered(split.file, row, rows)
                row += rows.count
                if not small:
                    self.tell(stream.done, stream.size)
            for block in irregular:
                for rows in parser.to_the_end(block, iter(blocks.more, b""), row):
                    yield self._numbered(split.file, row, rows)
                    row += rows.count
                    self.tell(stream.done, stream.size)
            if not small:
                self.tell(stream.size, stream.size)
        return row

    def _numbered(self, file: int, row: int, rows: CsvRows) -> pa.RecordBatch:
        """The rows as a batch, without those that are dropped."""
        numbers = pa.array(np.arange(row, row + rows.count, dtype=np.int64))
        schema = source_schema(self.columns)
        batch = pa.RecordBatch.from_arrays([numbers, *rows.columns], schema=schema)
        for index, column, problem in rows.faults:
            self.bad(file, row + index, rows.line_of(index), column, problem)
        return without(batch, {index for index, *_ in rows.faults}, self.reading, self.report)


def _until(irregular: list[RowBlock], blocks: RowBlocks) -> Iterator[RowBlock]:
    """The blocks that Arrow can take; the first that it cannot, if any, is put aside."""
    for block in blocks:
        if not block.regular:
            irregular.append(block)
            return
        yield block


def _stated_kinds(source: str, names: Sequence[str], reading: Reading) -> dict[str, str]:
    check_stated(source, names, reading.kinds)
    zone_of(reading.timezone)
    return {name: reading.kinds.get(name, "text") for name in names}


def _kinds(source: str, stated: Mapping[str, str]) -> dict[str, str]:
    kinds = {}
    for name, kind in stated.items():
        try:
            kinds[name] = kind_and_format(kind)[0]
        except ValueFault as fault:
            msg = f"{source}, column {name!r}: a kind: {fault}"
            raise LogError(msg) from fault
    return kinds


def _difference(expected: Sequence[str], got: Sequence[str]) -> str:
    for one, other in zip(expected, got, strict=False):
        if one != other:
            return f"{other!r} instead of {one!r}"
    return f"{len(got)} columns instead of {len(expected)}"

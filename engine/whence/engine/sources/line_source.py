"""Sources whose rows are lines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from whence.engine.sources.file_source import FileSource
from whence.engine.sources.opening import LogBytes, codec, shown
from whence.engine.sources.row_blocks import BLOCK, RowBlock, RowBlocks
from whence.engine.sources.source import Split

__all__ = ["LineSource"]


class LineSource(FileSource):
    """A log in files of lines; those without anything are no rows."""

    @abstractmethod
    def batch(self, file: int, row: int, lines: list[tuple[int, bytes]]) -> pa.RecordBatch:
        """The rows of some lines.

        Args:
            file: which file.
            row: the number of the first row.
            lines: the lines, without their ends, and their numbers in the file.
        """

    def read(self, split: Split | None) -> Iterator[pa.RecordBatch]:
        """The rows of a stretch of one file, or of all files."""
        row = 0 if split is None else split.row
        stretches = map(Split, range(len(self.files))) if split is None else (split,)
        for stretch in stretches:
            for block in self.blocks(stretch):
                lines = list(self.lines(block))
                if lines:
                    yield self.batch(stretch.file, row, lines)
                row += len(lines)

    def splits(self, wanted: int) -> Sequence[Split]:
        """Cut plain files between lines; that reads them once, without parsing."""
        total = max(1, sum(file.stat().st_size for file in self.files))
        size = max(1, total // max(1, wanted))
        made: list[Split] = []
        row = 0
        for number, file in enumerate(self.files):
            with LogBytes(file, self.reading.limits) as stream:
                stream.read(3)
                plain = codec(self.reading.encoding, self.name) == "utf-8"
                plain = plain and not stream.packed and not stream.mark
            last = -size
            for block in self.blocks(Split(number), size=min(max(1, size // 4), BLOCK)):
                if (plain and block.offset - last >= size) or last < 0:
                    if made and made[-1].file == number:
                        made[-1] = replace(made[-1], stop=block.offset)
                    start = block.offset if plain else 0
                    made.append(Split(number, start, -1, row, block.line))
                    last = block.offset
                row += sum(1 for _ in self.lines(block))
        return made or (Split(),)

    def blocks(self, split: Split, size: int = BLOCK) -> Iterator[RowBlock]:
        """The bytes of a stretch, cut between lines."""
        file = self.files[split.file]
        with LogBytes(
            file, self.reading.limits, encoding=self.reading.encoding, start=split.start
        ) as stream:
            blocks = RowBlocks(
                stream,
                self.reading.limits,
                shown(file),
                offset=split.start,
                line=split.line,
                stop=split.stop,
                size=size,
            )
            for block in blocks:
                yield block
                if stream.size > len(block.data):
                    self.tell(stream.done, stream.size)

    def lines(self, block: RowBlock) -> Iterator[tuple[int, bytes]]:
        """The lines that are not empty, with their numbers."""
        for number, line in enumerate(block.data.split(b"\n"), start=block.line):
            if line.strip():
                yield number, line.removesuffix(b"\r")

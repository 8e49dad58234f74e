"""Rows of a CSV file as columns of values: by Arrow where it can, sign by sign where it must."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import pyarrow as pa
import pyarrow.csv as pa_csv

from whence.engine.sources.csv_exact import ExactRow, decoded_lines, exact_rows
from whence.engine.sources.row_blocks import RowBlock
from whence.engine.sources.source import Reading
from whence.engine.sources.typed import typed
from whence.engine.values.arrow_compute import pc

__all__ = ["CsvParser", "CsvRows"]

_ROWS = 10_000


@dataclass(frozen=True)
class CsvRows:
    """Rows of which the numbers are not known yet.

    Attributes:
        columns: their values.
        count: how many.
        faults: index of the row, column or none, problem; in order.
        line: the line of the first row.
        lines: the line of each row; ``None`` if each has one, from the first on.
    """

    columns: Sequence[pa.Array]
    count: int
    faults: Sequence[tuple[int, str | None, str]]
    line: int
    lines: Sequence[int] | None = None

    def line_of(self, index: int) -> int:
        """The line at which a row ends."""
        return self.line + index if self.lines is None else self.lines[index]


@dataclass(frozen=True)
class CsvParser:
    """Knows all that is needed to parse rows of one file.

    Attributes:
        name: the file's name, for people.
        stated: the columns with their kinds as stated.
        delimiter: what separates cells.
        reading: limits and zone.
    """

    name: str
    stated: Mapping[str, str]
    delimiter: str
    reading: Reading

    def parse(self, block: RowBlock) -> CsvRows:
        """The rows of a block in which quotes are regular.

        Raises:
            LogError: it is not UTF-8, or a cell is too long.
        """
        names = [str(number) for number in range(len(self.stated))]
        if len(names) > 1 and _may_have_blank_lines(block.data):
            return self._exact(block)  # Arrow would take one for a row of empty cells
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(block.data),
                read_options=pa_csv.ReadOptions(
                    use_threads=False, block_size=len(block.data) + 1, column_names=names
                ),
                parse_options=pa_csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=block.quoted,
                    ignore_empty_lines=False,
                ),
                convert_options=pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                ),
            )
        except pa.ArrowInvalid:
            return self._exact(block)
        texts = [pa.concat_arrays(column.chunks) for column in table.columns]
        rows = self._typed(texts, table.num_rows, block.line)
        if rows.faults and block.quoted:
            return self._exact(block)  # which knows the lines
        if len(block.data) > self.reading.limits.text:
            self._check_length(texts)
        return rows

    def to_the_end(self, block: RowBlock, more: Iterable[bytes], row: int) -> Iterator[CsvRows]:
        """The rows of an irregular block and of all bytes behind it.

        Raises:
            LogError: it is not CSV, or not UTF-8.
        """
        rows = self._rows(block, more, row)
        while some := list(islice(rows, _ROWS)):
            yield self._of(some)

    def _exact(self, block: RowBlock) -> CsvRows:
        return self._of(list(self._rows(block, (), 0)))

    def _rows(self, block: RowBlock, more: Iterable[bytes], row: int) -> Iterator[ExactRow]:
        return exact_rows(
            decoded_lines(chain([block.data], more), self.name, block.offset, self.reading.limits),
            name=self.name,
            width=len(self.stated),
            delimiter=self.delimiter,
            limits=self.reading.limits,
            row=row,
            line=block.line,
        )

    def _of(self, rows: Sequence[ExactRow]) -> CsvRows:
        none = [""] * len(self.stated)
        cells = [row.cells or none for row in rows]
        texts = [
            pa.array([c[number] or None for c in cells], pa.string())
            for number in range(len(self.stated))
        ]
        ragged = [(index, row.problem) for index, row in enumerate(rows) if row.problem]
        self._check_length(texts)
        return self._typed(texts, len(rows), 0, [row.line for row in rows], ragged)

    def _typed(
        self,
        texts: Sequence[pa.Array],
        count: int,
        line: int,
        lines: Sequence[int] | None = None,
        ragged: Sequence[tuple[int, str]] = (),
    ) -> CsvRows:
        found: list[tuple[int, int, str | None, str]] = [(i, -1, None, p) for i, p in ragged]
        columns = []
        for number, ((name, stated), cells) in enumerate(
            zip(self.stated.items(), texts, strict=True)
        ):
            values, faults = typed(cells, stated, self.reading.timezone, self.reading.decimal)
            columns.append(values)
            found += [(index, number, name, str(fault)) for index, fault in faults]
        found.sort(key=lambda fault: fault[:2])
        return CsvRows(columns, count, [(i, c, p) for i, _, c, p in found], line, lines)

    def _check_length(self, texts: Sequence[pa.Array]) -> None:
        for name, cells in zip(self.stated, texts, strict=True):
            longest = pc.max(pc.utf8_length(cells)).as_py() or 0
            self.reading.limits.check("text", longest, f"{self.name}, column {name!r}")


def _may_have_blank_lines(data: bytes) -> bool:
    """Whether two line ends follow each other, be it inside quotes."""
    if data[:1] in (b"\n", b"\r") or b"\n\n" in data:
        return True
    return b"\r" in data and (b"\n\r" in data or b"\r\r" in data)

"""Text logs as a source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.sources.arrow_columns import stated_kinds
from whence.engine.sources.cells import kind_and_format, zone_of
from whence.engine.sources.file_source import free_names
from whence.engine.sources.line_source import LineSource
from whence.engine.sources.numbering import without
from whence.engine.sources.opening import on_one_line, shown
from whence.engine.sources.source import Reading, Split, source_schema
from whence.engine.sources.text.patterns import PATTERNS, Pattern, own_pattern, recognized
from whence.engine.sources.typed import typed
from whence.engine.values import ValueFault
from whence.engine.values.arrow_compute import pc

__all__ = ["TextSource"]

_SHOWN = 60


class TextSource(LineSource):
    """A log in text files, one event a line; empty lines are none."""

    format = "text"

    def __init__(self, files: Sequence[Path], reading: Reading) -> None:
        """Learn the columns from the pattern.

        Raises:
            LogError: there is no pattern, or a kind is stated that does not fit.
        """
        super().__init__(files, reading)
        zone_of(reading.timezone)
        if reading.pattern is None:
            self._pattern = self._recognize()
        else:
            self._pattern = own_pattern(reading.pattern)
        names = free_names(self._pattern.columns)
        written = {
            free: self._pattern.kinds.get(name, "text")
            for free, name in zip(names, self._pattern.columns, strict=True)
        }
        own = {name: kind_and_format(kind)[0] for name, kind in written.items()}
        stated, self.columns = stated_kinds(own, reading.kinds, self.name)
        self._stated = {name: reading.kinds.get(name, written[name]) for name in stated}
        self.roles = dict(self._pattern.roles)

    def _recognize(self) -> Pattern:
        """The named pattern of the first line."""
        first = ""
        for number in range(len(self.files)):
            for block in self.blocks(Split(number)):
                for _, line in self.lines(block):
                    first = line.decode("utf-8", "replace")
                    break
                if first:
                    break
            if first:
                break
        found = recognized(first) if first else PATTERNS["combined"]
        if found is None:
            msg = (
                f"{self.name}: expected a line as one of {', '.join(PATTERNS)}; "
                f"got {_short(first)}; try --pattern with a regular expression whose named groups "
                "are the columns"
            )
            raise LogError(msg)
        return found

    def batch(self, file: int, row: int, lines: list[tuple[int, bytes]]) -> pa.RecordBatch:
        """The columns of some lines."""
        faults: list[tuple[int, int, str | None, ValueFault]] = []
        texts = self._texts(lines, faults)
        self._check_length(file, lines, texts)
        found = self._pattern.match(texts)
        undecoded = {index for index, *_ in faults}
        for odd_line in np.flatnonzero(found.is_null()).tolist():
            if odd_line not in undecoded:
                fault = ValueFault(
                    f"a line as the pattern {self._pattern.name}",
                    _short(texts[odd_line].as_py()),
                    "another --pattern, or --on-bad drop",
                )
                faults.append((odd_line, -1, None, fault))
        columns = []
        for number, (name, group) in enumerate(zip(self._stated, found.flatten(), strict=True)):
            cells = pc.if_else(pc.equal(group, ""), pa.scalar(None, pa.string()), group)
            made, odd = typed(
                cells, self._stated[name], self.reading.timezone, self.reading.decimal
            )
            columns.append(made)
            faults += [(index, number, name, fault) for index, fault in odd]
        numbers = pa.array(np.arange(row, row + len(lines), dtype=np.int64))
        batch = pa.RecordBatch.from_arrays([numbers, *columns], schema=source_schema(self.columns))
        for index, _, column, fault in sorted(faults, key=lambda each: each[:2]):
            self.bad(file, row + index, lines[index][0], column, fault)
        return without(batch, {index for index, *_ in faults}, self.reading, self.report)

    def _texts(
        self, lines: list[tuple[int, bytes]], faults: list[tuple[int, int, str | None, ValueFault]]
    ) -> pa.Array:
        """The lines as text; null where one is not in UTF-8."""
        try:
            return pa.array([line.decode("utf-8") for _, line in lines], pa.string())
        except UnicodeDecodeError:
            pass
        made: list[str | None] = []
        for index, (_, line) in enumerate(lines):
            try:
                made.append(line.decode("utf-8"))
            except UnicodeDecodeError as fault:
                got = f"byte 0x{line[fault.start]:02x} at byte {fault.start + 1} of the line"
                hint = "encoding latin-1 (--encoding latin-1), or saving it as UTF-8"
                faults.append((index, -1, None, ValueFault("utf-8", got, hint)))
                made.append(None)
        return pa.array(made, pa.string())

    def _check_length(self, file: int, lines: list[tuple[int, bytes]], texts: pa.Array) -> None:
        longest = pc.max(pc.binary_length(texts)).as_py() or 0
        for limit in ("row", "text"):
            if longest > self.reading.limits.by_name(limit):
                at = max(range(len(lines)), key=lambda index: len(lines[index][1]))
                where = f"{shown(self.files[file])}, line {lines[at][0]}"
                raise self.reading.limits.exceeded(limit, where)


def _short(line: str) -> str:
    return on_one_line(repr(line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."))

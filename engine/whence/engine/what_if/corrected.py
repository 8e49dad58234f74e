"""A log of the record with some values corrected: the same events, in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from whence.engine.language.log import ROLES
from whence.engine.record.logs import LogRecord
from whence.engine.sources.source import Report, Split, source_schema
from whence.engine.values.columns import as_column
from whence.engine.what_if.corrections import Correction

__all__ = ["CorrectedLog"]


class CorrectedLog:
    """A source that reads a log of the record, with other values in some places.

    Positions and row numbers stay, even where the corrected field is one that the log was ordered
    by: order is taken as given.

    Attributes:
        plain: whether events are plain values.
    """

    ordered = True

    def __init__(self, log: LogRecord, corrections: Iterable[Correction]) -> None:
        """Sort the corrections by part; nothing is read yet."""
        self.log = log
        manifest = log.manifest
        self.name = manifest.source
        self.format = manifest.source_format
        self.plain = manifest.plain
        self.columns: Mapping[str, str] = log.columns
        known = {role: manifest.column_of(role) for role in ROLES}
        self.roles: Mapping[str, str] = {role: name for role, name in known.items() if name}
        self.report = Report()
        self._others: dict[int, dict[str, dict[int, Correction]]] = {}
        for each in corrections:
            part, at = divmod(each.position, manifest.chunk)
            cells = self._others.setdefault(part, {}).setdefault(each.field or "value", {})
            cells[at] = each

    def batches(self, split: Split | None = None) -> Iterator[pa.RecordBatch]:
        """The events in order."""
        self.report.begin()
        schema = source_schema(self.columns)
        for number in range(self.log.manifest.parts):
            table = self.log.part(number).drop_columns(["position"])
            for name, cells in self._others.get(number, {}).items():
                column = table.column(name).combine_chunks()
                for at, each in cells.items():
                    one = as_column([each.after], self.columns[name])
                    column = pa.concat_arrays([column.slice(0, at), one, column.slice(at + 1)])
                table = table.set_column(table.schema.get_field_index(name), name, column)
            self.report.read += table.num_rows
            yield from table.cast(schema).to_batches()

    def splits(self, wanted: int) -> Sequence[Split]:
        """In one piece."""
        return (Split(),)

    def fingerprint(self) -> str:
        """The record does not change."""
        return self.log.id

"""Files that follow others: more of a log whose columns are known from its first files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.engine.errors import LogError
from whence.engine.language.log import Log
from whence.engine.sources.file_source import FileSource
from whence.engine.sources.formats import source_class
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import shown
from whence.engine.sources.source import Reading

__all__ = ["FORMATS", "Known", "following"]

FORMATS = ("csv", "jsonl", "parquet", "text")
"""What more can follow of: what is read row by row, without knowing the whole."""


@dataclass(frozen=True)
class Known:
    """What the first files of a log determine for all that follow.

    Attributes:
        format: csv, jsonl, parquet or text.
        columns: the kind of every column.
        fields: of JSON lines: the field of each column.
    """

    format: str
    columns: Mapping[str, str]
    fields: Mapping[str, str] | None = None

    @classmethod
    def of(cls, source: FileSource) -> Known:
        """What an opened log determines.

        Raises:
            LogError: it is of a format of which no more can follow.
        """
        if source.format not in FORMATS:
            msg = (
                f"{source.name}: expected a log that can grow: {', '.join(FORMATS)}; "
                f"got {source.format}; try it whole, with --log"
            )
            raise LogError(msg)
        return cls(source.format, dict(source.columns), getattr(source, "fields", None))

    def told(self) -> dict[str, Any]:
        """In plain values, but for the columns."""
        return {"format": self.format, "fields": None if self.fields is None else dict(self.fields)}


def following(file: Path, declared: Log, known: Known) -> FileSource:
    """The next file of a log.

    Args:
        file: the file.
        declared: what is known of the log and how it is read.
        known: what its first files determined.

    Raises:
        LogError: it has other columns.
    """
    limits = Limits.stated(f"{name}={most}" for name, most in (declared.limits or {}).items())
    reading = Reading(
        dict(declared.columns or {}),
        declared.delimiter,
        declared.encoding,
        declared.header is not False,
        declared.pattern,
        declared.object_type,
        declared.timezone or "UTC",
        declared.on_bad or "refuse",
        limits,
        fields=known.fields,
        known=known.columns,
        decimal=declared.decimal or ".",
        sheet=declared.sheet,
    )
    source: FileSource = source_class(known.format)([file], reading)
    if dict(source.columns) != dict(known.columns):
        odd = sorted(set(source.columns.items()) ^ set(known.columns.items()))
        told = ", ".join(f"{column} ({kind})" for column, kind in odd[:3]) or "another order"
        msg = (
            f"{shown(file)}: expected the columns of the files before it; got a difference: "
            f"{told}; try a stream of its own for it"
        )
        raise LogError(msg)
    return source

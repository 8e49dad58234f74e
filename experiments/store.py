"""Where results are kept: one line a cell as soon as it is measured, then Parquet and CSV.

A cell's line is whole or not there: a half line at the end, left by a kill, is cut off before the
next one is written. What the tables hold and the lines do not is taken over, so that a fresh clone
goes on from the results that were committed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

__all__ = ["CSV", "PARQUET", "Results", "read_rows", "same_tables", "write_tables"]

PARQUET, CSV = "results.parquet", "results.csv"


class Results:
    """The lines of a folder: what has been measured."""

    def __init__(self, folder: Path) -> None:
        """Open or begin; cut off what a kill left unfinished."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._path = folder / "cells.jsonl"
        self.rows: list[dict[str, Any]] = []
        if self._path.exists():
            content = self._path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            if len(whole) < len(content):
                os.truncate(self._path, len(whole))
            self.rows = [json.loads(line) for line in whole.splitlines()]
        known = self.keys
        for row in read_rows(folder):
            if row["key"] not in known:
                self.add(row)

    @property
    def keys(self) -> set[str]:
        """Which cells are measured."""
        return {row["key"] for row in self.rows}

    def add(self, row: dict[str, Any]) -> None:
        """Keep one cell for good."""
        with self._path.open("ab") as file:
            file.write(_line(row))
            file.flush()
            os.fsync(file.fileno())
        self.rows.append(row)

    def forget(self, experiments: Collection[str] = ()) -> None:
        """Forget the rows of some experiments, or all of them."""
        kept = [row for row in self.rows if experiments and row["experiment"] not in experiments]
        # The tables first: what only the lines hold is not taken over from them again.
        write_tables(self.folder, kept)
        fresh = self._path.with_suffix(".part")
        fresh.write_bytes(b"".join(map(_line, kept)))
        fresh.replace(self._path)
        self.rows = kept


def _line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, sort_keys=True).encode() + b"\n"


def write_tables(folder: Path, rows: Iterable[dict[str, Any]]) -> list[Path]:
    """Write the rows as Parquet and as CSV, sorted, each as a whole."""
    ordered = sorted(rows, key=lambda row: row["key"])
    names = sorted({name for row in ordered for name in row} - {"key"})
    columns = {name: [row.get(name) for row in ordered] for name in ["key", *names]}
    table = pa.table({name: _column(values) for name, values in columns.items()})
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / PARQUET, folder / CSV]
    for path in paths:
        fresh = path.with_suffix(".part")
        if path.suffix == ".parquet":
            pq.write_table(table, fresh)
        else:
            pa_csv.write_csv(table, fresh)
        fresh.replace(path)
    return paths


def _column(values: list[Any]) -> pa.Array:
    """Numbers stay numbers; whatever is not of one kind becomes text."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.array(values, pa.string())
    if kinds <= {int, float} and kinds != {int}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if len(kinds) <= 1 and kinds <= {int, str, bool}:
        return pa.array(values)
    return pa.array([v if v is None or isinstance(v, str) else json.dumps(v) for v in values])


def same_tables(folder: Path) -> bool:
    """Whether the CSV says what the Parquet says; neither of them is as good."""
    if not (folder / PARQUET).exists() or not (folder / CSV).exists():
        return (folder / PARQUET).exists() == (folder / CSV).exists()
    told = pa.BufferOutputStream()
    pa_csv.write_csv(pq.read_table(folder / PARQUET), told)
    return bytes(told.getvalue()) == (folder / CSV).read_bytes()


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """What `write_tables` wrote; missing values are left out. Nothing yet: no rows."""
    if not (folder / PARQUET).exists():
        return []
    rows = pq.read_table(folder / PARQUET).to_pylist()
    return [{name: value for name, value in row.items() if value is not None} for row in rows]

"""Where results are kept: one line a cell as soon as it is measured, then Parquet and CSV.

A cell's line is whole or not there: a half line at the end, left by a kill, is cut off before the
next one is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

__all__ = ["Results", "read_rows", "write_tables"]

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

    @property
    def keys(self) -> set[str]:
        """Which cells are measured."""
        return {row["key"] for row in self.rows}

    def add(self, row: dict[str, Any]) -> None:
        """Keep one cell for good."""
        with self._path.open("ab") as file:
            file.write(json.dumps(row, sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.rows.append(row)


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
    if kinds <= {int, float} and kinds != {int}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if len(kinds) <= 1 and kinds <= {int, str, bool}:
        return pa.array(values)
    return pa.array([v if v is None or isinstance(v, str) else json.dumps(v) for v in values])


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """What `write_tables` wrote; missing values are left out."""
    rows = pq.read_table(folder / PARQUET).to_pylist()
    return [{name: value for name, value in row.items() if value is not None} for row in rows]

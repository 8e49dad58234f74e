"""Sources: log files as events, in file order, each row one record."""

from __future__ import annotations

from whence.engine.sources.csv import csv_columns, csv_header, read_csv

__all__ = ["csv_columns", "csv_header", "read_csv"]

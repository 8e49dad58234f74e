"""Runs come back from here: what Whence wrote as PROV, as a record again."""

from __future__ import annotations

from whence.exporters.importing.rebuilding import import_runs

__all__ = ["import_runs"]

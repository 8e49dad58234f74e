"""Care for a graph: whether it is whole, how large it is, from the record, into a file."""

from __future__ import annotations

from whence.store.care.checking import CheckReport, Finding, check
from whence.store.care.dumping import dump, restore
from whence.store.care.rebuilding import RebuildReport, rebuild
from whence.store.care.sizes import Share, StoreSizes, stats

__all__ = [
    "CheckReport",
    "Finding",
    "RebuildReport",
    "Share",
    "StoreSizes",
    "check",
    "dump",
    "rebuild",
    "restore",
    "stats",
]

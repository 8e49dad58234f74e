"""Care for a graph: whether it is whole, how large it is."""

from __future__ import annotations

from whence.store.care.checking import CheckReport, Finding, check
from whence.store.care.rebuilding import RebuildReport, rebuild
from whence.store.care.sizes import Share, StoreSizes, stats

__all__ = [
    "CheckReport",
    "Finding",
    "RebuildReport",
    "Share",
    "StoreSizes",
    "check",
    "rebuild",
    "stats",
]

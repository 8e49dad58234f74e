"""From the record to the graph: parts become chunks, each written exactly once."""

from __future__ import annotations

from whence.store.loading.loader import LoadReport, follow, load

__all__ = ["LoadReport", "follow", "load"]

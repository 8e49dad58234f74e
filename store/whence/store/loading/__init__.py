"""From the record to the graph: parts become chunks, each written exactly once."""

from __future__ import annotations

from whence.store.loading.following import follow
from whence.store.loading.loader import LoadReport, load
from whence.store.loading.sidecar import Loading, LoadOptions

__all__ = ["LoadOptions", "LoadReport", "Loading", "follow", "load"]

"""The version of a graph, and the steps from one to the next."""

from __future__ import annotations

from whence.store.migrations.versions import VERSION, bring_up_to_date, graph_version

__all__ = ["VERSION", "bring_up_to_date", "graph_version"]

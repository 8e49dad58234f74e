"""The whole graph as plain data, so that two graphs can be compared."""

from __future__ import annotations

import json
from typing import Any

from whence.store import Connection

__all__ = ["whole_graph"]

TIMES = ("started", "ended")
"""They differ from run to run, and nothing else may."""

NODES = "MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties"
EDGES = """
MATCH (a)-[r]->(b)
RETURN type(r) AS type, properties(r) AS properties, properties(a) AS source,
  labels(a) AS source_labels, properties(b) AS target, labels(b) AS target_labels
"""


def whole_graph(connection: Connection) -> tuple[list[str], list[str]]:
    """Every node and every relationship; one that is there twice is told of twice."""
    nodes = [_text([sorted(row["labels"]), row["properties"]]) for row in connection.read(NODES)]
    edges = [
        _text([row["type"], row["properties"], _name(row, "source"), _name(row, "target")])
        for row in connection.read(EDGES)
    ]
    return sorted(nodes), sorted(edges)


def _name(row: dict[str, Any], end: str) -> Any:
    known = row[end]
    for name in ("key", "id", "digest"):
        if name in known:
            return [sorted(row[f"{end}_labels"]), known[name]]
    return known


def _text(value: Any) -> str:
    return json.dumps(_without_times(value), sort_keys=True, default=str)


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_times(v) for name, v in value.items() if name not in TIMES}
    return [_without_times(v) for v in value] if isinstance(value, list) else value

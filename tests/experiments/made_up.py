"""Rows of a machine whose speed is known: one for every cell that is declared."""

from __future__ import annotations

import json
from typing import Any

from experiments.measures.sizes import SHARES
from experiments.plan import cells, declared
from experiments.report.graph import QUESTIONS

__all__ = ["ABOUT", "made"]

SPEED = {"off": 4e6, "ends": 2e6, "steps": 1e6, "compact": 2e6, "rows": 5e5, "objects": 1e6}
ABOUT = {
    "processor": "P", "architecture": "x86_64", "cores": "2", "memory_gib": "8", "commit": "c",
    "python": "3", "java": "17", "numpy": "2", "pyarrow": "20", "pyspark": "4", "neo4j": "6",
}  # fmt: skip


def made() -> list[dict[str, Any]]:
    """A row for every cell."""
    seed, experiments = declared()
    rows = []
    for cell in cells(experiments, seed):
        row: dict[str, Any] = {"key": cell.key, "experiment": cell.experiment, **ABOUT}
        row |= {"length": 5000, **cell.parameters, "repetition": cell.repetition}
        row |= {"cell_seconds": 6.0, "busy_before": 1.0, **_told(cell.measure, row)}
        rows.append(row)
    return rows


def _told(measure: str, row: dict[str, Any]) -> dict[str, Any]:
    if measure == "growth":
        each = [_told("local", {**row, "length": length}) for length in row["lengths"]]
        return {"each": json.dumps(each)}
    length = row["length"]
    if measure == "sizes":
        size = float(length if row["query"] == "total" else 3)
        told: dict[str, Any] = {f"explained_by_p{share}": size for share in SHARES}
        return {**told, "explained_by_mean": size, "outputs": length, "association_bytes": length}
    if measure == "precision":
        numbers = {"corruptions": 300, "outputs": 1000, "promised": 600, "truly": 800}
        return {**numbers, "recognised": 600}
    if measure == "questions":
        return {f"{name}_ms": 5.0 if name == "explain" else length / 100 for name in QUESTIONS}
    if measure == "load":
        return {"seconds": length / 1e4, "nodes": 2 * length, "edges": 3 * length}
    if measure == "stream":
        length = row["files"] * 1000
    seconds = length / SPEED[row.get("tracking", "ends")]
    fresh = row.get("query") == "lifecycle.fresh"
    return {
        "length": length,
        "seconds": seconds,
        "cpu_seconds": seconds,
        "start_seconds": 0.0,
        "start_cpu_seconds": 0.0,
        "peak_bytes": 100 * length if fresh else 10**8,
        "process_bytes": 100 * length if fresh else 10**8,
        "association_bytes": length // 2,
        "document_bytes": 10 * length,
        "memory_growth": 1.0,
    }

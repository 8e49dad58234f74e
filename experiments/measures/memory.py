"""The kernels on batches in memory: associations as compact rules, and spread into rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.suites._queries import BATCH, QUERIES
from bench.suites._running import Level, run
from experiments.measures._cell import answer, probed

LEVELS: dict[str, Level] = {"off": "untracked", "compact": "compact", "rows": "rows"}


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Once short, so that what is compiled is compiled; then the one that counts."""
    query, length = QUERIES[parameters["query"]], parameters["length"]
    level = LEVELS[parameters["tracking"]]
    arrays = query.log(length, parameters["seed"])
    run(query.own(), arrays, min(2 * BATCH, length), level)
    with probed() as spent:
        run(query.own(), arrays, length, level)
    (took,) = spent
    return took.told()


if __name__ == "__main__":
    answer(measure)

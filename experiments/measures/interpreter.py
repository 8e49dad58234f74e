"""The interpreter, one event at a time, with a tracker of Python objects in memory."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

from bench.suites._queries import QUERIES
from experiments.measures._cell import answer, probed
from whence.engine import MemoryTracker, interpret


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run over a list of events; the tracker and all outputs stay in memory until the end."""
    query, length = QUERIES[parameters["query"]], parameters["length"]
    lists = {
        name: array[:length].tolist()
        for name, array in query.log(length, parameters["seed"]).items()
    }
    log = lists.get("value") or [
        dict(zip(lists, event, strict=True)) for event in zip(*lists.values(), strict=True)
    ]
    tracker = None if parameters["tracking"] == "off" else MemoryTracker()
    chain = query.own()
    gc.collect()
    with probed() as spent:
        kept = interpret(chain, log, tracker=tracker)
    (took,) = spent
    del kept
    return took.told()


if __name__ == "__main__":
    answer(measure)

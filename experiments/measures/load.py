"""From the record into Neo4j: events a second until all of a run can be queried."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.suites._graph_run import a_server
from bench.suites.spark import chain_of, written
from experiments.measures._cell import answer
from whence.engine.record import RunRecord
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.options import LOADED_CHUNK
from whence.store.cypher import cypher
from whence.store.loading import load

WARM = 100_000
"""Events of the same query that are loaded before: a server that has just been started compiles
itself while it works, for half a minute or so, and after fewer it is not yet warm."""
MEGABYTES = 2_048
SERVER = "experiments"


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A run that does not count first, until the server is warm."""
    query, length, seed = (parameters[name] for name in ("query", "length", "seed"))
    with TemporaryDirectory() as place, a_server(SERVER, MEGABYTES) as graph:
        # Of another log: what the graph has of this one already would not be written again.
        first = _run(Path(place) / "first", query, WARM, seed + 1)
        run = _run(Path(place) / "run", query, length, seed)
        load(first.root, first.id, graph)
        before = _counts(graph)
        began = time.perf_counter()
        report = load(run.root, run.id, graph)
        seconds = time.perf_counter() - began
        assert report.complete
        nodes, edges = (now - then for now, then in zip(_counts(graph), before, strict=True))
        return {"seconds": seconds, "nodes": nodes, "edges": edges}


def _run(root: Path, query: str, length: int, seed: int) -> RunRecord:
    log = written(root, query, length, chunk=LOADED_CHUNK, seed=seed)
    return run_kernels(root, chain_of(query), {"log": log}, RunOptions(chunk=LOADED_CHUNK))


def _counts(graph: Any) -> tuple[int, int]:
    (whole,) = graph.read(cypher("store_counts"))
    return whole["nodes"], whole["edges"]


if __name__ == "__main__":
    answer(measure)

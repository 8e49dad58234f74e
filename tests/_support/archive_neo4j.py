"""Let Neo4j do what tests let it do, once, so that its Java knows which classes that takes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.engine.runners._support.stream_runs import CHAINS, EVENTS, OPTIONS
from whence.api import run
from whence.engine import Chain
from whence.store import connect
from whence.store.loading import load
from whence.store.questions import explain
from whence.store.server import Memory, remove, start, stop

PATIENCE = 120.0
"""Seconds in which Java writes its classes down when it ends."""

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        record = Path(folder) / "record"
        chain = Chain.of(CHAINS["nested"]())
        made = run(chain, EVENTS, runner="local", options=OPTIONS, record=record)
        server = start("archive", port=None, memory=Memory.of(768))
        try:
            with connect(server.settings()) as graph:
                load(record, made.id, graph)
                explain(graph, made.id, "5")
                graph.write("MATCH (n) DETACH DELETE n")
        finally:
            stop("archive", patience=PATIENCE)
            remove("archive")

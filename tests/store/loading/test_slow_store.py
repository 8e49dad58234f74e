"""A slow store slows the loading, never the run; and no more is in memory than is being written."""

from __future__ import annotations

import gc
import logging
import threading
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.runners._support.stream_runs import CHAINS, EVENTS, OPTIONS
from tests.store.loading._support.cutting_proxy import proxied
from tests.store.loading._support.loaded_beside import (
    PATIENCE,
    RUN_ID,
    loaded_beside,
    outputs,
    slowly,
    until,
)
from tests.store.loading._support.whole_graph import whole_graph
from whence.engine import Chain
from whence.engine.record import RunRecord, ingest
from whence.engine.runners.local_kernels import run_kernels
from whence.store import Connection, Settings
from whence.store.care import check
from whence.store.loading import LoadReport, load, loader
from whence.store.loading.chunks import write_chunk
from whence.store.loading.content import ChunkContent
from whence.store.loading.parts import RecordParts
from whence.store.server import Status

pytestmark = pytest.mark.neo4j


def test_a_run_is_over_while_a_slow_store_is_still_being_loaded(
    graph: Connection, neo4j_server: Status, tmp_path: Path
) -> None:
    assert neo4j_server.port is not None
    known = graph.settings
    there: list[int] = []
    with proxied(neo4j_server.port) as proxy:
        proxy.hold_after(2_000)

        def half_way() -> None:
            until(lambda: proxy.holding, "a loader that has begun")

        def at_end(run: RunRecord) -> None:
            assert run.manifest.status == "complete"
            there.append(outputs(graph))
            for many in (1, 100):  # it goes on, slowly
                slowly(proxy, graph, many)
                there.append(outputs(graph))
            proxy.let_go()

        settings = Settings(f"bolt://127.0.0.1:{proxy.port}", known.username, known.password)
        _, loading = loaded_beside(tmp_path, settings, half_way, at_end=at_end, writers=1)
    assert there[0] == 0
    assert there[-1] < 400
    assert loading.error is None
    assert loading.report is not None
    assert loading.report.complete
    found = whole_graph(graph)
    assert check(graph, tmp_path).findings == ()
    graph.write("MATCH (n) DETACH DELETE n")
    assert load(tmp_path, RUN_ID, graph, writers=1).complete
    assert whole_graph(graph) == found


class _Alive:
    """How many contents of chunks there are, and how many at most there were."""

    def __init__(self, allowed: int) -> None:
        self._lock = threading.RLock()
        self._allowed = allowed
        self.now = self.most = self.all = 0

    def born(self, content: ChunkContent) -> ChunkContent:
        with self._lock:
            if self.now >= self._allowed:
                gc.collect()  # a transaction that met a deadlock is garbage that leads around
            self.now += 1
            self.all += 1
            self.most = max(self.most, self.now)
        weakref.finalize(content, self._gone)
        return content

    def _gone(self) -> None:
        with self._lock:
            self.now -= 1


@pytest.mark.parametrize(
    ("writers", "where", "writing", "held"),
    # What was selected is written in its order: one part, while the next one is made ready.
    [(1, None, 1, 1), (3, None, 3, 3), (3, "value = false", 1, 2)],
)
def test_a_loader_holds_no_more_contents_than_it_writes_at_a_time(
    graph: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    writers: int,
    where: str | None,
    writing: int,
    held: int,
) -> None:
    caplog.set_level(logging.ERROR, "neo4j")  # what is captured of a deadlock keeps its content
    chain = Chain.of(CHAINS["lifecycle"]())
    log = ingest(tmp_path, chain.inputs[0], EVENTS, chunk=OPTIONS.chunk)
    options = replace(OPTIONS, where=where)
    run = run_kernels(tmp_path, chain, {chain.inputs[0]: log}, options, batch=50)
    alive, began, may_end = _Alive(held), threading.Semaphore(0), threading.Semaphore(0)

    def counted(name: str) -> Any:
        make = getattr(RecordParts, name)
        return lambda parts, what: alive.born(make(parts, what))

    def blocked(*given: Any) -> bool:
        began.release()
        assert may_end.acquire(timeout=PATIENCE)
        return write_chunk(*given)

    monkeypatch.setattr(RecordParts, "content", counted("content"))
    monkeypatch.setattr(RecordParts, "selected_content", counted("selected_content"))
    monkeypatch.setattr(loader, "write_chunk", blocked)
    reports: list[LoadReport] = []
    thread = threading.Thread(
        target=lambda: reports.append(load(tmp_path, run.id, graph, writers=writers))
    )
    thread.start()
    try:
        for _ in range(writing):
            assert began.acquire(timeout=PATIENCE)
        # A store that answers nobody: no more is made than what waits for it.
        until(lambda: alive.now == held, "contents that wait")
        assert not began.acquire(blocking=False)
    finally:
        may_end.release(1_000)
        thread.join()
    (report,) = reports
    assert report.complete
    assert alive.all == report.parts > 2 * held
    assert alive.most == held
    gc.collect()
    assert alive.now == 0

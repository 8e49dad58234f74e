"""The process that loads a run beside it is killed: another one goes on; the run never minds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.store.loading._support.cutting_proxy import Proxy, proxied
from tests.store.loading._support.loaded_beside import RUN_ID, loaded_beside, outputs, slowly, until
from tests.store.loading._support.whole_graph import whole_graph
from whence.store import Connection, Settings
from whence.store.care import check
from whence.store.loading import load
from whence.store.loading.sidecar import TRIES
from whence.store.server import Status

pytestmark = pytest.mark.neo4j


@pytest.fixture
def proxy(neo4j_server: Status) -> Iterator[Proxy]:
    assert neo4j_server.port is not None
    with proxied(neo4j_server.port) as proxy:
        yield proxy


def slow_from_the_start(proxy: Proxy, graph: Connection) -> Settings:
    """Where a loader writes to the graph, and is held back before it has loaded much."""
    proxy.hold_after(2_000)
    known = graph.settings
    return Settings(f"bolt://127.0.0.1:{proxy.port}", known.username, known.password)


def loading_processes() -> list[psutil.Process]:
    """The processes that load beside runs of this one."""
    found = []
    for process in psutil.Process().children():
        with suppress(psutil.Error):  # it has just ended
            if "whence.store.loading.child" in process.cmdline():
                found.append(process)
    return found


def kill_the_loader() -> int:
    """Kill the one that there is, on the spot; say which it was."""
    (process,) = loading_processes()
    process.kill()
    until(lambda: process not in loading_processes(), "the end of what was killed")
    return process.pid


def kill_a_slow_loader(proxy: Proxy, graph: Connection) -> int:
    """Let some outputs through, then kill; say which process it was."""
    slowly(proxy, graph)
    return kill_the_loader()


def assert_whole(graph: Connection, root: Path) -> None:
    """The graph is that of a load that nobody disturbed, and a check finds nothing."""
    found = whole_graph(graph)
    assert check(graph, root).findings == ()
    graph.write("MATCH (n) DETACH DELETE n")
    assert load(root, RUN_ID, graph, writers=1).complete
    assert whole_graph(graph) == found


@pytest.mark.fault("batch, the loader beside the run killed")
def test_another_loader_takes_over_from_one_that_is_killed(
    graph: Connection, tmp_path: Path, proxy: Proxy
) -> None:
    pids: list[int] = []

    def half_way() -> None:
        pids.append(kill_a_slow_loader(proxy, graph))
        assert outputs(graph) < 160
        proxy.let_go()
        until(lambda: outputs(graph) >= 160, "outputs that another one loads")
        pids.extend(process.pid for process in loading_processes())

    _, loading = loaded_beside(tmp_path, slow_from_the_start(proxy, graph), half_way)
    assert len(set(pids)) == 2
    assert loading.error is None
    assert loading.report is not None
    assert loading.report.complete
    assert 0 < loading.report.written < loading.report.parts
    assert_whole(graph, tmp_path)


@pytest.mark.fault("batch, every loader beside the run killed")
def test_a_run_whose_loaders_are_all_killed_says_what_is_not_loaded(
    graph: Connection, tmp_path: Path, proxy: Proxy
) -> None:
    pids: list[int] = []

    def half_way() -> None:
        pids.append(kill_a_slow_loader(proxy, graph))
        for _ in range(TRIES - 1):
            until(lambda: bool(loading_processes()), "another one")
            proxy.hold_after(500)
            until(lambda: proxy.holding, "something to be held back")
            pids.append(kill_the_loader())

    _, loading = loaded_beside(tmp_path, slow_from_the_start(proxy, graph), half_way)
    assert len(set(pids)) == TRIES
    assert loading_processes() == []
    assert loading.report is None
    assert loading.done is not None
    done, total = loading.done
    assert str(loading.error) == (
        f"{done} of {total} parts are there; expected the process that loads {RUN_ID} to come to "
        f"its end; got {TRIES} that were ended by others; try whence load"
    )
    proxy.let_go()
    report = load(tmp_path, RUN_ID, graph)
    assert report.complete
    assert 0 < report.written < report.parts
    assert_whole(graph, tmp_path)

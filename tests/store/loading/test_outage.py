"""A run is loaded beside it, and finishes whatever becomes of the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.loading._support.cutting_proxy import Proxy, proxied
from tests.store.loading._support.loaded_beside import RUN_ID, loaded_beside, outputs, until
from tests.store.loading._support.whole_graph import whole_graph
from whence.engine.errors import ParameterError
from whence.store import Connection, Secret, Settings
from whence.store.loading import Loading, load
from whence.store.server import Status

pytestmark = pytest.mark.neo4j
fault = pytest.mark.fault

Whole = tuple[list[str], list[str]]


@pytest.fixture
def proxy(neo4j_server: Status) -> Iterator[Proxy]:
    assert neo4j_server.port is not None
    with proxied(neo4j_server.port) as proxy:
        yield proxy


def through(proxy: Proxy, graph: Connection, username: str | None = None) -> Settings:
    """The settings of the shared server, by way of the proxy."""
    known = graph.settings
    password = known.password if username is None else Secret.of("as it was then")
    return Settings(f"bolt://127.0.0.1:{proxy.port}", username or known.username, password)


@pytest.fixture(scope="module")
def undisturbed() -> list[Whole]:
    """The graph that an undisturbed load of the run gives; made by the first that needs it."""
    return []


def assert_whole(graph: Connection, root: Path, undisturbed: list[Whole]) -> None:
    """The graph is that of an undisturbed load of the same record."""
    found = whole_graph(graph)
    if not undisturbed:
        graph.write("MATCH (n) DETACH DELETE n")
        assert load(root, RUN_ID, graph, writers=1).complete
        undisturbed.append(whole_graph(graph))
    assert found == undisturbed[0]


def test_outputs_can_be_asked_about_while_the_run_goes_on(
    graph: Connection, tmp_path: Path, undisturbed: list[Whole]
) -> None:
    seen: list[int] = []

    def half_way() -> None:
        until(lambda: outputs(graph) >= 100, "outputs of a run that goes on")
        seen.append(outputs(graph))

    _, loading = loaded_beside(tmp_path, graph.settings, half_way, priority="high", writers=3)
    assert seen[0] < 400
    assert loading.error is None
    assert loading.report is not None
    assert loading.report.complete
    assert loading.report.written == loading.report.parts
    assert_whole(graph, tmp_path, undisturbed)


@fault
def test_a_server_that_comes_up_during_the_run_is_loaded_by_itself(
    graph: Connection, tmp_path: Path, proxy: Proxy, undisturbed: list[Whole]
) -> None:
    proxy.leave()

    def half_way() -> None:
        assert outputs(graph) == 0
        proxy.come_back()
        until(lambda: outputs(graph) > 0, "outputs once the server is there")

    _, loading = loaded_beside(tmp_path, through(proxy, graph), half_way)
    assert loading.report is not None
    assert loading.report.complete
    assert_whole(graph, tmp_path, undisturbed)


@fault
def test_connections_that_are_cut_are_made_again(
    graph: Connection, tmp_path: Path, proxy: Proxy, undisturbed: list[Whole]
) -> None:
    def half_way() -> None:
        for more in (1_000, 9_000):
            proxy.cut_after(more)
            until(lambda: not proxy.cutting, "what is sent to the server")

    _, loading = loaded_beside(tmp_path, through(proxy, graph), half_way)
    assert loading.report is not None
    assert loading.report.complete
    assert_whole(graph, tmp_path, undisturbed)


@fault
def test_a_server_that_stays_away_leaves_the_rest_to_whence_load(
    graph: Connection, tmp_path: Path, proxy: Proxy, undisturbed: list[Whole]
) -> None:
    def half_way() -> None:
        until(lambda: outputs(graph) > 0, "outputs of a run that goes on")
        proxy.leave()

    _, loading = loaded_beside(tmp_path, through(proxy, graph), half_way)
    assert loading.report is None
    assert loading.done is not None
    done, total = loading.done
    assert str(loading.error).startswith(f"{done} of {total} parts are there; ")
    assert "expected a Neo4j server at bolt://127.0.0.1" in str(loading.error)
    report = load(tmp_path, RUN_ID, graph)
    assert report.complete
    assert 0 < report.written < report.parts
    assert_whole(graph, tmp_path, undisturbed)


@fault
def test_a_password_that_was_changed_leaves_the_rest_to_whence_load(
    graph: Connection, tmp_path: Path, proxy: Proxy, undisturbed: list[Whole]
) -> None:
    graph.write("CREATE USER loader SET PASSWORD 'as it was then' CHANGE NOT REQUIRED")
    try:

        def half_way() -> None:
            until(lambda: outputs(graph) > 0, "outputs of a run that goes on")
            graph.write("ALTER USER loader SET PASSWORD 'as it is now'")
            proxy.cut()

        _, loading = loaded_beside(tmp_path, through(proxy, graph, "loader"), half_way)
    finally:
        graph.write("DROP USER loader")
    assert loading.report is None
    assert "to accept user 'loader'; got a refusal" in str(loading.error)
    assert "as it" not in str(loading.error)
    assert load(tmp_path, RUN_ID, graph).complete
    assert_whole(graph, tmp_path, undisturbed)


def test_a_pace_that_there_is_not_is_refused(tmp_path: Path, graph: Connection) -> None:
    with pytest.raises(ParameterError, match="expected low, normal, high; got 'fast'"):
        Loading(tmp_path, RUN_ID, graph.settings, None, priority="fast")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="writers: expected at least 1; got 0"):
        Loading(tmp_path, RUN_ID, graph.settings, None, writers=0)

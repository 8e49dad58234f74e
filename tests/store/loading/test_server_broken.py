"""The server's disk is full, or it is killed, while a run is loaded: nothing is lost or double."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests._support.quick_java import FOR_NEO4J
from tests.store.loading._support.disturbed_load import Fault, disturbed_load
from tests.store.loading._support.loaded_beside import RUN_ID, loaded_beside, outputs, until
from tests.store.loading._support.whole_graph import whole_graph
from whence.engine.errors import StoreError
from whence.store import Connection, connect
from whence.store.care import check
from whence.store.loading import load
from whence.store.server import Memory, Status, remove, start, stop

pytestmark = pytest.mark.neo4j

NAME = "broken"
SMALL = Memory.of(768)
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
POINTS = (
    "after the marker",
    "between two statements",
    "before the commit",
    "between commit and acknowledgement",
    "between chunks",
)


@pytest.fixture(scope="module")
def mortal(jars: Path) -> Iterator[None]:
    """A server of this file alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", FOR_NEO4J)
        yield
        stop(NAME)
        remove(NAME)


@pytest.fixture
def server(mortal: None) -> Status:
    status = start(NAME, port=None, memory=SMALL)
    with connect(status.settings()) as connection:
        connection.write("MATCH (n) DETACH DELETE n")
    return status


def fill_disk(server: Status) -> None:
    """From now on the server can write to no file beyond its first byte, as on a full disk."""
    assert server.pid is not None
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    with connect(server.settings()) as connection, pytest.raises(StoreError):
        connection.write("CREATE (:Bystander)")


def again(server: Status) -> Status:
    """Kill the server and start it on the same port; the disk has room again."""
    assert server.pid is not None
    with suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGKILL)
    return start(NAME, port=server.port, memory=SMALL)


def assert_undisturbed(connection: Connection, root: Path, run: str = RUN_ID) -> None:
    """The graph is that of a load that nobody disturbed, and a check finds nothing."""
    found = whole_graph(connection)
    assert check(connection, root).findings == ()
    connection.write("MATCH (n) DETACH DELETE n")
    assert load(root, run, connection, writers=1).complete
    assert found == whole_graph(connection)


@pytest.mark.full
@pytest.mark.fault("batch, the server's disk full")
def test_a_full_disk_leaves_the_rest_to_whence_load(server: Status, tmp_path: Path) -> None:
    def half_way() -> None:
        with connect(server.settings()) as connection:
            until(lambda: outputs(connection) > 0, "outputs of a run that goes on")
        fill_disk(server)

    _, loading = loaded_beside(tmp_path, server.settings(), half_way)
    assert loading.report is None
    assert " parts are there; expected " in str(loading.error)
    with connect(again(server).settings()) as connection:
        report = load(tmp_path, RUN_ID, connection)
        assert report.complete
        assert 0 < report.written < report.parts
        assert_undisturbed(connection, tmp_path)


@pytest.mark.full
@pytest.mark.fault("batch, Neo4j killed while it goes on")
def test_a_server_that_is_killed_and_comes_back_is_loaded_by_itself(
    server: Status, tmp_path: Path
) -> None:
    def half_way() -> None:
        with connect(server.settings()) as connection:
            until(lambda: outputs(connection) > 0, "outputs of a run that goes on")
        with connect(again(server).settings()) as connection:
            until(lambda: outputs(connection) >= 160, "outputs once the server is back")

    _, loading = loaded_beside(tmp_path, server.settings(), half_way)
    assert loading.error is None
    assert loading.report is not None
    assert loading.report.complete
    with connect(server.settings()) as connection:
        assert_undisturbed(connection, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("nth", [2, 7])
@pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, marks=pytest.mark.fault(f"batch, Neo4j killed {point}"))
        for point in POINTS
    ],
)
def test_a_server_that_is_killed_is_made_up_for(
    server: Status, tmp_path: Path, point: str, nth: int
) -> None:
    root = tmp_path / "record"
    with connect(server.settings()) as connection:
        loaded_beside(root, server.settings())
        connection.write("MATCH (n) DETACH DELETE n")
    assert server.pid is not None
    hit = tmp_path / "hit"
    fault = Fault(point, nth, "neo4j", server.pid)
    disturbed_load(root, RUN_ID, server.settings(), fault, hit)
    assert hit.exists()
    with connect(again(server).settings()) as connection:
        assert load(root, RUN_ID, connection).complete
        assert_undisturbed(connection, root)

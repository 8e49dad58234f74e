"""The server's disk is full, or it is killed, while a run is loaded: nothing is lost or double."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.loading._support.broken_server import (
    POINTS,
    again,
    assert_undisturbed,
    fill_disk,
)
from tests.store.loading._support.disturbed_load import Fault, disturbed_load
from tests.store.loading._support.loaded_beside import RUN_ID, loaded_beside, outputs, until
from whence.store import connect
from whence.store.loading import load
from whence.store.server import Status

pytestmark = pytest.mark.neo4j


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

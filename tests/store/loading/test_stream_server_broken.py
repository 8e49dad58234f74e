"""Neo4j is killed while a stream is loaded, or while it goes on: nothing is lost or double."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.engine.runners._support.stream_runs import (
    CHAINS,
    DECLARED,
    EVENTS,
    OPTIONS,
    put,
    streamed,
)
from tests.store.loading._support.broken_server import POINTS, again, assert_undisturbed
from tests.store.loading._support.disturbed_load import Fault, disturbed_load
from tests.store.loading._support.loaded_beside import outputs, until
from whence.api import stream
from whence.engine import Chain
from whence.engine.runners.stream.on_spark import StreamProgress
from whence.engine.sources.folder_stream import FolderStream
from whence.store import connect
from whence.store.loading import load
from whence.store.server import Status

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.neo4j, pytest.mark.spark, pytest.mark.full]

CHAIN = "lifecycle"


@pytest.fixture(scope="module")
def stages(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> tuple[str, tuple[Path, Path]]:
    """A stream's id, and its record when it had been stopped and when it was complete."""
    folder = tmp_path_factory.mktemp("stream")
    arriving, root, half = folder / "arriving", folder / "record", folder / "half"
    arriving.mkdir()
    put(arriving, "1.csv", EVENTS[:100])
    streamed(root, arriving, CHAIN, OPTIONS, spark, [("2.csv", EVENTS[100:180])])
    shutil.copytree(root, half)
    put(arriving, "3.csv", EVENTS[180:])
    return streamed(root, arriving, CHAIN, OPTIONS, spark).id, (half, root)


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, marks=pytest.mark.fault(f"stream, Neo4j killed {point}"))
        for point in POINTS
    ],
)
def test_a_server_that_is_killed_under_a_stream_is_made_up_for(
    server: Status, tmp_path: Path, stages: tuple[str, tuple[Path, Path]], point: str
) -> None:
    run, (half, whole) = stages
    with connect(server.settings()) as connection:
        assert load(half, run, connection).status == "interrupted"
    assert server.pid is not None
    hit = tmp_path / "hit"
    fault = Fault(point, 2, "neo4j", server.pid)
    disturbed_load(whole, run, server.settings(), fault, hit)
    assert hit.exists()
    with connect(again(server).settings()) as connection:
        assert load(whole, run, connection).complete
        assert_undisturbed(connection, whole, run)


@pytest.mark.fault("stream, Neo4j killed while it goes on")
def test_a_live_stream_whose_server_is_killed_and_comes_back_is_loaded_by_itself(
    server: Status, tmp_path: Path, spark: SparkSession
) -> None:
    arriving = tmp_path / "arriving"
    arriving.mkdir()
    put(arriving, "1.csv", EVENTS)
    killed: list[int] = []

    def taken(progress: StreamProgress) -> None:
        with connect(server.settings()) as connection:
            until(lambda: outputs(connection) > 0, "outputs of a stream that goes on")
        with connect(again(server).settings()) as connection:
            killed.append(outputs(connection))
            until(lambda: outputs(connection) >= 200, "outputs once the server is back")

    with connect(server.settings()) as connection:
        result = stream(
            Chain.of(CHAINS[CHAIN]()),
            FolderStream(arriving, DECLARED),
            options=OPTIONS,
            available_now=True,
            record=tmp_path / "record",
            connection=connection,
            session=spark,
            progress=taken,
        )
    assert len(killed) == 1
    assert result.not_loaded is None
    assert result.loaded is not None
    assert result.loaded.complete
    with connect(server.settings()) as connection:
        assert_undisturbed(connection, tmp_path / "record", result.id)

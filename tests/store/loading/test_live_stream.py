"""A stream is loaded while it is followed, and whatever happens meanwhile: once, and all of it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from typer.testing import CliRunner

from tests.engine.runners._support.kernel_records import check as check_record
from tests.engine.runners._support.stream_runs import (
    CHAINS,
    DECLARED,
    EVENTS,
    OPTIONS,
    interpreted,
    put,
    streamed,
)
from tests.store.loading._support.cutting_proxy import Proxy, proxied
from tests.store.loading._support.live_load_killed import CHAIN
from tests.store.loading._support.loaded_beside import outputs, slowly, until
from tests.store.loading._support.whole_graph import whole_graph
from whence.api import LoadOptions, stream
from whence.cli.app import app
from whence.engine import Chain
from whence.engine.record import RunRecord, list_runs
from whence.engine.runners.stream.on_spark import StreamProgress
from whence.engine.sources.folder_stream import FolderStream
from whence.results import Result
from whence.store import Connection, Settings
from whence.store.care import check
from whence.store.loading import load
from whence.store.server import Status

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.neo4j, pytest.mark.spark]


@pytest.fixture
def proxy(neo4j_server: Status) -> Iterator[Proxy]:
    assert neo4j_server.port is not None
    with proxied(neo4j_server.port) as proxy:
        yield proxy


@pytest.fixture
def arriving(tmp_path: Path) -> Path:
    folder = tmp_path / "arriving"
    folder.mkdir()
    return folder


def followed(
    root: Path, folder: Path, graph: Connection | None, spark: SparkSession, **how: object
) -> Result:
    """Follow the folder to its end and load what comes of it meanwhile."""
    return stream(
        Chain.of(CHAINS[CHAIN]()),
        FolderStream(folder, DECLARED),
        options=OPTIONS,
        available_now=True,
        record=root,
        connection=graph,
        session=spark,
        **how,  # type: ignore[arg-type]
    )


def assert_undisturbed(graph: Connection, run: RunRecord) -> None:
    """The graph is that of a load that nobody disturbed, and a check finds nothing."""
    found = whole_graph(graph)
    assert check(graph, run.root).findings == ()
    graph.write("MATCH (n) DETACH DELETE n")
    assert load(run.root, run.id, graph, writers=1).complete
    assert whole_graph(graph) == found


@pytest.mark.fault("stream, connections cut while it goes on")
def test_a_stream_whose_store_is_cut_off_and_comes_back_is_loaded_by_itself(
    graph: Connection, tmp_path: Path, arriving: Path, spark: SparkSession, proxy: Proxy
) -> None:
    put(arriving, "1.csv", EVENTS)
    known = graph.settings
    there: list[int] = []

    def taken(progress: StreamProgress) -> None:
        """All was taken of the batch, and most of it is in the record; the run waits for this."""
        slowly(proxy, graph)
        proxy.leave()
        there.append(outputs(graph))
        proxy.let_go()
        proxy.come_back()
        until(lambda: outputs(graph) > there[0], "outputs once the server is back")

    settings = Settings(f"bolt://127.0.0.1:{proxy.port}", known.username, known.password)
    how = LoadOptions(settings, "high", writers=2)
    proxy.hold_after(2_000)
    result = followed(tmp_path, arriving, None, spark, load=how, progress=taken)
    assert result.not_loaded is None
    assert result.loaded is not None
    assert result.loaded.complete
    assert 0 < there[0] < len(EVENTS)
    assert_undisturbed(graph, result.record)


def command(tmp_path: Path, arriving: Path, *more: str) -> list[str]:
    """``whence run --stream`` on the folder."""
    chain = tmp_path / "chain.json"
    chain.write_text(json.dumps(Chain.of(CHAINS[CHAIN]()).tree()), encoding="utf-8")
    place = ["--stream", str(arriving), "--type", "x=integer", "--record", str(tmp_path / "record")]
    return ["run", str(chain), *place, "--track", "--every", "0.1", *more]


@pytest.fixture
def away(
    proxy: Proxy, graph: Connection, neo4j_server: Status, monkeypatch: pytest.MonkeyPatch
) -> Proxy:
    """The server that the environment names; it is away."""
    monkeypatch.setenv("NEO4J_URI", f"bolt://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("NEO4J_USERNAME", graph.settings.username)
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(neo4j_server.home / "password"))
    proxy.leave()
    return proxy


@pytest.mark.fault("stream, the server away until its end")
def test_a_stream_without_a_server_ends_and_names_the_command_that_loads_it(
    graph: Connection, tmp_path: Path, arriving: Path, spark: SparkSession, away: Proxy
) -> None:
    put(arriving, "1.csv", EVENTS)
    done = CliRunner().invoke(app, command(tmp_path, arriving, "--available-now"))
    assert done.exit_code == 0, done.stderr
    run = RunRecord(tmp_path / "record", "latest")
    assert run.manifest.status == "complete"
    assert f"not in Neo4j: expected a Neo4j server at bolt://127.0.0.1:{away.port}" in done.stdout
    assert outputs(graph) == 0
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("load it: "))
    away.come_back()
    assert line.startswith(f"load it: whence load {run.id}")
    loaded = CliRunner().invoke(app, shlex.split(line)[3:])
    assert loaded.exit_code == 0, loaded.stderr
    assert outputs(graph) == len(EVENTS)
    assert_undisturbed(graph, run)


@pytest.mark.fault("stream, the server away until it was stopped")
def test_a_stream_that_is_stopped_says_what_is_not_loaded_and_is_loaded_as_it_goes_on(
    graph: Connection, tmp_path: Path, arriving: Path, spark: SparkSession, away: Proxy
) -> None:
    root = tmp_path / "record"

    def stop() -> None:
        taken = root / "runs"
        try:
            until(lambda: any(taken.glob("*/stream/checkpoint/commits/0")), "a first batch")
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    put(arriving, "1.csv", EVENTS[:200])
    stopping = threading.Thread(target=stop)
    stopping.start()
    stopped = CliRunner().invoke(app, command(tmp_path, arriving))
    stopping.join()
    assert stopped.exit_code == 0, stopped.stderr
    run = RunRecord(root, "latest")
    assert run.manifest.status == "interrupted"
    assert "not all in Neo4j: expected a Neo4j server at bolt://" in stopped.stdout
    assert outputs(graph) == 0
    (line,) = (line for line in stopped.stdout.splitlines() if line.startswith("load what "))
    away.come_back()
    loaded = CliRunner().invoke(app, shlex.split(line.partition("whence ")[2]))
    assert loaded.exit_code == 0, loaded.stderr
    assert "run the same whence run to resume it" in loaded.stdout
    put(arriving, "2.csv", EVENTS[200:])
    done = CliRunner().invoke(app, command(tmp_path, arriving, "--available-now"))
    assert done.exit_code == 0, done.stderr
    assert f"run {run.id} (resumed" in done.stdout
    assert "in Neo4j: " in done.stdout
    assert outputs(graph) == len(EVENTS)
    assert_undisturbed(graph, run)


def killed(root: Path, folder: Path, server: Status, point: str, batch: int) -> int:
    """Follow the folder in a process of its own until it is killed; say which process loads it."""
    here = [
        "tests.store.loading._support.live_load_killed",
        str(root),
        str(folder),
        point,
        str(batch),
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TMPDIR": str(folder.parent),
        "NEO4J_URI": server.settings().uri,
        "NEO4J_PASSWORD_FILE": str(server.home / "password"),
    }
    ended = subprocess.run(
        [sys.executable, "-m", *here],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-2000:]
    there, loader = (int(word) for word in ended.stdout.split())
    assert there > 0
    return loader


def has_ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def named_alike(graph: Connection, run: RunRecord) -> tuple[list[str], list[str]]:
    """The graph, with the ids that every run and log of a stream has for itself made the same."""
    (log,) = run.manifest.logs.values()

    def alike(texts: list[str]) -> list[str]:
        return sorted(text.replace(run.id, "THE-RUN").replace(log, "THE-LOG") for text in texts)

    nodes, edges = whole_graph(graph)
    return alike(nodes), alike(edges)


POINTS = [("listed", 0), ("state", 0), ("kept", 1), ("between", 1), ("begin", 1), ("ending", -1)]
"""Where a driver is killed, and in which batch."""


@pytest.mark.parametrize(
    ("point", "batch"),
    [
        pytest.param(
            *where,
            id=where[0],
            marks=[
                pytest.mark.fault(f"stream loaded meanwhile, driver killed: {where[0]}"),
                *([] if where[0] == "listed" else [pytest.mark.full]),
            ],
        )
        for where in POINTS
    ],
)
def test_a_stream_whose_driver_is_killed_leaves_the_graph_of_one_that_was_not(
    graph: Connection,
    neo4j_server: Status,
    tmp_path: Path,
    arriving: Path,
    spark: SparkSession,
    point: str,
    batch: int,
) -> None:
    root = tmp_path / "record"
    put(arriving, "1.csv", EVENTS[:200])
    loaders = []
    if batch == 1:  # a batch that was begun has its number; it is the second that is disturbed
        loaders.append(killed(root, arriving, neo4j_server, "between", 0))
        put(arriving, "2.csv", EVENTS[200:250])
    loaders.append(killed(root, arriving, neo4j_server, point, batch))
    if point != "ending":
        put(arriving, "3.csv", EVENTS[200 if batch == 0 else 250 :])
    result = followed(root, arriving, graph, spark)
    assert list_runs(root) == [result.id]
    assert result.not_loaded is None
    assert result.loaded is not None
    assert result.loaded.complete
    until(lambda: all(has_ended(pid) for pid in loaders), "the end of what loaded before")
    found = named_alike(graph, result.record)
    assert check(graph, root).findings == ()
    if point != "ending":
        check_record(result.record, interpreted(CHAIN))
    undisturbed = streamed(tmp_path / "undisturbed", arriving, CHAIN, OPTIONS, spark)
    graph.write("MATCH (n) DETACH DELETE n")
    assert load(tmp_path / "undisturbed", undisturbed.id, graph, writers=1).complete
    assert named_alike(graph, undisturbed) == found

"""Kill the loader, Neo4j or the run at any moment, and go on: the same graph, nothing double."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests._support.own_server import own_server, up
from tests.store.loading._support.whole_graph import whole_graph
from whence.engine.errors import StoreError
from whence.engine.record import RunRecord
from whence.store import Connection, connect
from whence.store.loading import follow, load
from whence.store.questions import explain, impact
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

NAME = "killed"
RUN_ID = "the-run"
MOMENTS = (4, 18, 40)
"""How many chunks are there when the killing happens; there are about 55 in all."""


def kills(what: str) -> pytest.MarkDecorator:
    """At each moment a fault of its own; one of them in each test run."""
    moments = []
    for moment in MOMENTS:
        marks = [pytest.mark.fault(f"{what} at about {moment} chunks")]
        if moment != MOMENTS[1]:
            marks.append(pytest.mark.full)
        moments.append(pytest.param(moment, marks=marks))
    return pytest.mark.parametrize("moment", moments)


RUN = """
import random, sys
from pathlib import Path
from tests.engine.examples import lifecycle
from whence.engine import Slice
from whence.engine.language.chain import Chain, Log
from whence.engine.record import ingest
from whence.engine.runners import RunOptions, run_recorded

root = Path(sys.argv[1])
draw = random.Random(17)
actions = ["create"] * 6 + ["approve", "pay"]
events = [{"case": f"c{draw.randrange(300)}", "action": draw.choice(actions)} for _ in range(1300)]
log = ingest(root, "log", events, declared=Log(None, "case", "action"), chunk=100)
chain = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
run_recorded(root, chain, {"log": log}, RunOptions(chunk=100), run_id=sys.argv[2])
"""


@pytest.fixture(scope="module", autouse=True)
def mortal(jars: Path) -> Iterator[None]:
    """A server of this file alone: it will not live long, but several times."""
    with own_server(NAME):
        up(NAME)
        yield


@pytest.fixture
def empty() -> Iterator[Connection]:
    with connect(up(NAME).settings()) as connection:
        connection.write("MATCH (n) DETACH DELETE n")
        yield connection


def run_process(root: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", RUN, str(root), RUN_ID]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(command, env=environment)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("record")
    assert run_process(root).wait(120) == 0
    return root


@pytest.fixture(scope="module")
def undisturbed(mortal: None, record: Path) -> tuple[list[str], list[str]]:
    """The graph that an uninterrupted load gives."""
    with connect(up(NAME).settings()) as connection:
        connection.write("MATCH (n) DETACH DELETE n")
        report = load(record, RUN_ID, connection)
        assert report.complete
        assert report.parts == report.written > MOMENTS[-1]
        return whole_graph(connection)


def load_process(record: Path, server: Status) -> subprocess.Popen[bytes]:
    """``whence load`` as a process of its own."""
    environment = {
        **os.environ,
        "NEO4J_URI": server.settings().uri,
        "NEO4J_PASSWORD_FILE": str(server.home / "password"),
    }
    command = [sys.executable, "-m", "whence", "load", RUN_ID, "--record", str(record)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)


def wait_for_chunks(connection: Connection, many: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 90
    while connection.read("MATCH (c:Chunk) RETURN count(c) AS n")[0]["n"] < many:
        assert time.monotonic() < deadline
        assert process.poll() is None, "it was over before it could be killed"
        time.sleep(0.005)


@kills("batch, loader killed")
def test_a_killed_loader_is_made_up_for(
    empty: Connection,
    record: Path,
    undisturbed: tuple[list[str], list[str]],
    moment: int,
) -> None:
    empty.write("MATCH (n) DETACH DELETE n")
    process = load_process(record, up(NAME))
    wait_for_chunks(empty, moment, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert whole_graph(empty) != undisturbed
    report = load(record, RUN_ID, empty)
    assert report.complete
    assert 0 < report.written < report.parts
    assert whole_graph(empty) == undisturbed


@kills("batch, Neo4j killed")
def test_a_killed_neo4j_is_made_up_for(
    empty: Connection,
    record: Path,
    undisturbed: tuple[list[str], list[str]],
    moment: int,
) -> None:
    empty.write("MATCH (n) DETACH DELETE n")
    process = load_process(record, up(NAME))
    wait_for_chunks(empty, moment, process)
    alive = up(NAME)
    assert alive.pid is not None
    os.kill(alive.pid, signal.SIGKILL)
    again = up(NAME, alive.port)  # meanwhile the loader tries again
    assert again.pid != alive.pid
    process.wait(120)
    with connect(again.settings()) as connection:
        assert load(record, RUN_ID, connection).complete
        assert whole_graph(connection) == undisturbed


@kills("batch, run killed")
def test_a_killed_run_is_made_up_for_while_it_is_followed(
    empty: Connection,
    undisturbed: tuple[list[str], list[str]],
    tmp_path: Path,
    moment: int,
) -> None:
    empty.write("MATCH (n) DETACH DELETE n")
    process = run_process(tmp_path)
    manifest = tmp_path / "runs" / RUN_ID / "manifest.json"
    deadline = time.monotonic() + 60
    while not manifest.exists() or _listed(tmp_path) < moment * 0.5:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    followed = follow(tmp_path, RUN_ID, empty)  # it does not wait for the dead
    assert followed.status == "interrupted"
    assert not followed.complete
    assert_shown_as_interrupted(empty, tmp_path)
    assert run_process(tmp_path).wait(120) == 0
    report = follow(tmp_path, RUN_ID, empty)
    assert report.complete
    assert report.written < report.parts
    assert whole_graph(empty) == undisturbed


def assert_shown_as_interrupted(graph: Connection, root: Path) -> None:
    """Every answer says how the run stands, and none promises anything."""
    for status in ("interrupted", "running"):  # the second as it stands if the loader died as well
        graph.write("MATCH (r:Run) SET r.status = $status", status=status)
        why = explain(graph, "latest", "per-case@0", record=root)
        assert str(why.coverage).endswith("run interrupted, not all of it loaded")
        with pytest.raises(StoreError, match="is interrupted; try the same whence run again"):
            impact(graph, "latest", {"log": [(0, 0)]}, record=root)


def _listed(root: Path) -> int:
    streams = RunRecord(root, RUN_ID).manifest.streams
    return sum(len(stream.associations) for stream in streams)

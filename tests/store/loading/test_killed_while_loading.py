"""A command that is killed while the graph is loaded: the same command continues its run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.loading._support.cutting_proxy import Proxy, proxied
from tests.store.loading._support.loaded_beside import EVENTS, outputs, until
from tests.store.loading._support.whole_graph import whole_graph
from whence.engine.record import RunRecord, list_runs
from whence.engine.record.writing import LOADING, LOCK
from whence.store import Connection
from whence.store.care import check
from whence.store.loading import load
from whence.store.server import Status

pytestmark = [pytest.mark.neo4j, pytest.mark.fault]

CHAIN = """
id: per-case
slice: {by: case, combine: and, of: {id: rule, formula: G action != 'audit'}}
"""


@pytest.fixture
def proxy(neo4j_server: Status) -> Iterator[Proxy]:
    assert neo4j_server.port is not None
    with proxied(neo4j_server.port) as proxy:
        yield proxy


class Command:
    """``whence run`` in a group of processes of its own, as from a terminal."""

    def __init__(self, folder: Path, proxy: Proxy, server: Status) -> None:
        self.folder, self.root = folder, folder / "record"
        (folder / "rule.yaml").write_text(CHAIN, encoding="utf-8")
        rows = [f"{event['case']},{event['action']}" for event in EVENTS]
        (folder / "log.csv").write_text("\n".join(["case,action", *rows]), encoding="utf-8")
        self._environment = {
            **os.environ,
            "NEO4J_URI": f"bolt://127.0.0.1:{proxy.port}",
            "NEO4J_PASSWORD_FILE": str(server.home / "password"),
            "WHENCE_RECORD": str(self.root),
        }

    def begin(self, *more: str) -> subprocess.Popen[str]:
        words = ["run", "rule.yaml", "--log", "log.csv", "--runner", "local", "--track", *more]
        return subprocess.Popen(
            [sys.executable, "-m", "whence", *words],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self, *more: str) -> str:
        process = self.begin(*more)
        out, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        return out

    def is_being_loaded(self) -> bool:
        """Whether its run is complete, and another process loads it."""
        return any(
            RunRecord(self.root, id).manifest.status == "complete"
            and (self.root / "runs" / id / LOADING).exists()
            for id in list_runs(self.root)
        )

    def stopped(self, proxy: Proxy, how: signal.Signals) -> str:
        """Stop it with all its processes while a complete run is loaded; the run's id."""
        proxy.hold_after(25_000)
        process = self.begin()
        try:
            until(lambda: self.is_being_loaded() and proxy.holding, "a run that is being loaded")
            os.killpg(process.pid, how)
            _, said = process.communicate(timeout=100)
        finally:
            process.kill()
        assert process.returncode in (-signal.SIGKILL, 130), said
        proxy.let_go()
        (id,) = list_runs(self.root)
        return id


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_same_command_continues_the_run_that_was_being_loaded(
    graph: Connection, tmp_path: Path, proxy: Proxy, neo4j_server: Status, how: signal.Signals
) -> None:
    command = Command(tmp_path, proxy, neo4j_server)
    id = command.stopped(proxy, how)
    assert outputs(graph) < len(EVENTS)
    half = check(graph, command.root).findings
    assert [str(f) for f in half if f.about == id and f.kind == "half"], half
    said = command.end()
    assert f"run {id} (resumed after an interruption)" in said
    assert list_runs(command.root) == [id]
    assert check(graph, command.root).findings == ()
    assert not {LOADING, LOCK} & {path.name for path in (command.root / "runs" / id).iterdir()}
    found = whole_graph(graph)
    graph.write("MATCH (n) DETACH DELETE n")
    load(command.root, id, graph)
    assert whole_graph(graph) == found  # nothing is there twice
    assert "taken up again" not in command.end()  # that one had come to its end
    assert len(list_runs(command.root)) == 2


def test_a_new_run_can_be_wanted_all_the_same(
    graph: Connection, tmp_path: Path, proxy: Proxy, neo4j_server: Status
) -> None:
    command = Command(tmp_path, proxy, neo4j_server)
    id = command.stopped(proxy, signal.SIGKILL)
    assert "taken up again" not in command.end("--fresh", "--quiet")
    (new,) = set(list_runs(command.root)) - {id}
    assert "taken up again" not in command.end("--quiet")  # a newer one is there and loaded
    assert len(list_runs(command.root)) == 3
    assert RunRecord(command.root, new).manifest.status == "complete"


def test_once_it_is_loaded_by_hand_the_same_command_makes_a_new_run(
    graph: Connection, tmp_path: Path, proxy: Proxy, neo4j_server: Status
) -> None:
    command = Command(tmp_path, proxy, neo4j_server)
    id = command.stopped(proxy, signal.SIGKILL)
    assert load(command.root, id, graph).complete
    command.end()
    assert len(list_runs(command.root)) == 2

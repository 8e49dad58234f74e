"""``whence store``, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.store.in_neo4j import record_of
from whence.cli.app import app
from whence.engine import ApplyFunction, Chain
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.loading import load
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

Whence = Callable[..., str]


@pytest.fixture
def whence(graph: Connection, neo4j_server: Status, tmp_path: Path) -> Whence:
    """Run a command on the shared server, in this process: a new one each time takes long."""
    environment = {
        "NEO4J_URI": neo4j_server.settings().uri,
        "NEO4J_PASSWORD_FILE": str(neo4j_server.home / "password"),
        "WHENCE_RECORD": str(tmp_path / "record"),
    }

    def run(*arguments: str, code: int = 0) -> str:
        done = CliRunner(env=environment).invoke(app, [*arguments, "--quiet"])
        assert done.exit_code == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    return run


def test_check_and_stats(whence: Whence, graph: Connection, tmp_path: Path) -> None:
    root = tmp_path / "record"
    empty = json.loads(whence("store", "stats", "--json"))
    assert (empty["nodes"], empty["edges"], empty["shares"]) == (0, 0, [])
    chain = Chain.of(ApplyFunction("big", "value > 2"))
    runs = [record_of(root, chain, {"log": [1, 2, 3]}, RunOptions()) for _ in range(2)]
    for run in runs:
        load(root, run.id, graph)
    assert whence("store", "check") == (
        "3 chunks, 9 events, 6 relationships: all as it was loaded\n"
    )
    told = json.loads(whence("store", "stats", "--json"))
    shares = {(s["kind"], s["id"]): s for s in told["shares"]}
    (log,) = [s for kind, s in ((k[0], v) for k, v in shares.items()) if kind == "log"]
    assert sorted(log["runs"]) == sorted(run.id for run in runs)
    assert (log["nodes"], log["edges"]) == (3, 0)
    for run in runs:
        share = shares["run", run.id]
        assert (share["nodes"], share["edges"]) == (3, 3)
        assert share["graph_bytes"] > 0
        assert share["record_bytes"] > 0
    assert told["store_bytes"] > sum(share["graph_bytes"] for share in shares.values()) > 0
    assert "3" in whence("store", "stats").splitlines()[1]
    assert whence("store", "stats", "--csv").startswith("kind,id,runs,nodes,edges,")
    graph.write("MATCH (:Output)-[r]->() WITH r LIMIT 1 DELETE r")
    lines = whence("store", "check", code=1).splitlines()
    assert lines[0].endswith(": expected 3 relationships; got 2")
    assert lines[1].endswith(": 1 findings")
    found = json.loads(whence("store", "check", "--json", code=1))
    assert [f["kind"] for f in found["findings"]] == ["chunk"]

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli
from whence.store import Connection
from whence.store.server import Status, instances, status

pytestmark = pytest.mark.neo4j


def test_the_demo_tells_why_on_a_server_of_its_own(cli: Cli, jars: Path) -> None:
    done = cli("demo")
    assert done.returncode == 0, done.stderr
    assert "output 0 is zero because of event 2 (0)\n" in done.stdout
    assert "output 3 is not zero because of event 3 (4), event 4 (1), event 5 (5)" in done.stdout
    assert "wasDerivedFrom" in done.stderr
    assert status("demo").state == "stopped"
    assert "default" not in instances()


def test_the_demo_uses_a_given_server_and_leaves_it_as_it_was(
    cli: Cli, neo4j_server: Status, graph: Connection
) -> None:
    graph.write("CREATE (:Event:Input {key: 77})")
    environment = {
        "NEO4J_URI": str(neo4j_server.uri),
        "NEO4J_PASSWORD_FILE": str(neo4j_server.home / "password"),
    }
    done = cli("demo", "--json", env=environment)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["uri"] == neo4j_server.uri
    assert told["answers"][1] == {
        "output": 1,
        "is_zero": True,
        "because": [{"event": 2, "value": 0}],
    }
    assert graph.read("MATCH (n) RETURN n.key AS key") == [{"key": 77}]


@pytest.mark.fault
def test_a_wrong_password_ends_the_demo_with_one_line(cli: Cli, neo4j_server: Status) -> None:
    environment = {"NEO4J_URI": str(neo4j_server.uri), "NEO4J_PASSWORD": "hush-hush-hush"}
    done = cli("demo", env=environment)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("whence: expected bolt://127.0.0.1:")
    traced = cli("demo", "--debug", env=environment)
    assert "Traceback" in traced.stderr
    assert "hush-hush-hush" not in traced.stderr + done.stderr

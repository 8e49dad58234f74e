"""No link, search field or record that is looked at runs anything."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from tests.cli.test_own_functions import hostile_import
from tests.web._support.page_requests import ask, take
from tests.web._support.watched_tabs import Runs
from tools.browser import Served, served
from whence.exporters.evidence import Wanted, create_keys, create_pack
from whence.exporters.importing import import_runs
from whence.store import connect
from whence.store.loading import load
from whence.store.server import Status
from whence.web import Asker

pytestmark = pytest.mark.neo4j


def get(page: Served, path: str) -> tuple[int, str]:
    """What somebody who has a session gets."""
    answer = take(page, path) if path.startswith("/take/") else ask(page, path, **page.headers)
    return answer.status, answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/part/run/{run}/outputs?where={where}",
        "/part/run/{run}/impact?filter={where}",
        "/part/run/{run}/outputs?search={where}",
        "/take/run/{run}/outputs.csv?where={where}",
        "/take/run/{run}/impact.csv?filter={where}",
    ],
)
def test_a_link_runs_no_command(page_server: Served, runs: Runs, tmp_path: Path, path: str) -> None:
    caught = tmp_path / "caught"
    for where in (
        f"os:system('touch {caught}')=0",
        f"value = false and os:system('touch {caught}') = 0",
        f"subprocess:getoutput('touch {caught}') = ''",
        f"tests.engine.own_functions:length('{caught}') > 0",
    ):
        status, body = get(page_server, path.format(run=runs["lifecycle"], where=quote(where)))
        assert not caught.exists(), where
        if "search=" not in path:
            assert "expected no function but Whence" in body, (status, body[-500:])


def test_a_run_of_somebody_else_runs_nothing(neo4j_server: Status, tmp_path: Path) -> None:
    made, caught = hostile_import(tmp_path)
    root = tmp_path / "imported"
    import_runs(tmp_path / "evil.json", root)
    settings = neo4j_server.settings()
    with connect(settings) as graph:
        graph.write("MATCH (n) DETACH DELETE n")
        load(root, made.id, graph)
        keys = create_keys("other", tmp_path / "keys")
        asked = Wanted(made.id, "explain 1", reveal=("command",), allow=("tests",))
        pack = create_pack(graph, root, asked, tmp_path / "pack.zip", keys)
        assert pack.exists()
        assert not caught.exists()
    with served(Asker(lambda: settings, root, ("tests",))) as page:
        for path in (
            "/part/run/{run}",
            "/part/run/{run}/outputs",
            "/part/run/{run}/why?output=1",
            "/part/run/{run}/why?output=1&steps=1",
            "/part/run/{run}/graph?output=1&steps=1",
            "/part/run/{run}/never-matters",
            "/part/run/{run}/impact?positions=0",
            "/take/run/{run}/chain.svg",
            "/take/run/{run}/why.svg?output=1&steps=1",
            "/take/run/{run}/why.json?output=1",
        ):
            status, _ = get(page, path.format(run=made.id))
            assert status in (200, 400, 404), path
            assert not caught.exists(), path
    with connect(settings) as graph:
        graph.write("MATCH (n) DETACH DELETE n")

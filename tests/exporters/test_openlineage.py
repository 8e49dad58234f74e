"""OpenLineage: the same events each time, in a file or at a server that is really there."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli
from tests.exporters._support.recorded_runs import lifecycle_run
from whence.exporters import save_run


class Server(HTTPServer):
    """Keeps what it is sent; refuses everything once it is told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.taken: list[tuple[str, str | None, Any]] = []
        self.status = 201


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append((self.path, self.headers["Authorization"], json.loads(body)))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def test_a_run_is_two_events_with_its_data_sets(tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record")
    path = save_run(record.root, record.id, tmp_path / "a.openlineage")
    begin, end = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    assert (begin["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert begin["run"]["runId"] == end["run"]["runId"]
    assert uuid.UUID(end["run"]["runId"]).version == 5
    times = [datetime.fromisoformat(each["eventTime"]) for each in (begin, end)]
    assert times == sorted(times)
    (log,) = end["inputs"]
    assert log["name"] == "log.csv"
    assert log["inputFacets"]["inputStatistics"]["rowCount"] == 130
    (output,) = end["outputs"]
    assert output["name"] == f"{record.id}/per-case"
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 130
    for event in (begin, end):
        assert {"eventTime", "producer", "schemaURL", "run", "job"} <= event.keys()
        assert {"namespace", "name"} <= event["job"].keys()
        for facet in event["run"]["facets"].values():
            assert {"_producer", "_schemaURL"} <= facet.keys()
    assert save_run(record.root, record.id, tmp_path / "b.openlineage").read_bytes() == (
        path.read_bytes()
    )


def test_runs_are_sent_to_a_server(cli: Cli, server: Server, tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record")
    url = f"http://127.0.0.1:{server.server_port}"
    known = ("export", record.id, "--record", "record", "--emit")
    done = cli(*known, url, env={"OPENLINEAGE_API_KEY": "k"})
    assert done.returncode == 0, done.stderr
    path = save_run(record.root, record.id, tmp_path / "a.openlineage")
    expected = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert server.taken == [("/api/v1/lineage", "Bearer k", event) for event in expected]
    server.status = 500
    refused = cli(*known, url)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "expected a server of OpenLineage that takes events; got: HTTP Error 500" in (
        refused.stderr
    )
    for wrong in ("file:///etc/hostname", "nothing"):
        assert "expected an address of http or https" in cli(*known, wrong).stderr

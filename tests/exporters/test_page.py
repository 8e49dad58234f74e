"""What the page on exports shows is what happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.exporters._support.independent_readers import read_file
from tests.exporters._support.recorded_runs import lifecycle_run
from whence.engine.record import RunRecord
from whence.store import Connection
from whence.store.loading import load
from whence.store.server import Status
from whence.store.server.instance import Instance

pytestmark = pytest.mark.neo4j

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "export-prov.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def place(
    graph: Connection, neo4j_server: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> RunRecord:
    """A run in the record and in the graph, both found by the environment."""
    settings = neo4j_server.settings()
    monkeypatch.setenv("NEO4J_URI", settings.uri)
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(Instance(neo4j_server.name).password_file))
    monkeypatch.setenv("WHENCE_RECORD", str(tmp_path / "record"))
    monkeypatch.chdir(tmp_path)
    record = lifecycle_run(tmp_path / "record")
    load(record.root, record.id, graph)
    return record


def test_the_examples_run_as_written(place: RunRecord, cli: Cli, tmp_path: Path) -> None:
    examples = blocks("python")
    assert len(examples) == 3
    for example in examples:
        exec(compile(example, "export-prov.md", "exec"), {})
    assert read_file(tmp_path / "run.json").bundle.endswith(f"{place.id}:bundle")
    assert read_file(tmp_path / "why.json").pairs("wasDerivedFrom")
    (tmp_path / "why.json").unlink()
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(commands) == 5
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "whence"
        done = cli(*words[1:])
        assert done.returncode == 0, done.stderr
    assert read_file(tmp_path / "run.nq.gz").pairs("wasDerivedFrom")
    assert read_file(tmp_path / "why.json").pairs("wasDerivedFrom")

"""What the page on evidence shows is what happens."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.exporters.making import lifecycle_run
from whence.cli.app import app
from whence.exporters.evidence.verify import BAG, read_pack
from whence.store import Connection
from whence.store.loading import load
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "evidence.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_commands_run_as_written(
    graph: Connection, neo4j_server: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = lifecycle_run(tmp_path / "record")
    record = lifecycle_run(tmp_path / "record")
    for run in (before, record):
        load(run.root, run.id, graph)
    monkeypatch.setenv("NEO4J_URI", str(neo4j_server.uri))
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(neo4j_server.home / "password"))
    monkeypatch.setenv("WHENCE_RECORD", str(record.root))
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (toml,) = blocks("toml")
    Path("whence.toml").write_text(toml, encoding="utf-8")
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    commands = [command.replace("EARLIER", before.id) for command in commands]
    assert len(commands) == 6
    refused = CliRunner().invoke(app, shlex.split(commands[1])[1:])
    assert refused.exit_code == 1
    assert "try whence keys create" in refused.stderr
    printed = []
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, (command, done.stderr)
        printed.append(done.stdout)
    assert "decision.zip: all of it holds" in printed[-1]
    told = json.loads(read_pack(tmp_path / "figure.zip")[0][f"{BAG}data/evidence.json"])
    assert told["metadata"]["controller"] == "Example Bank"
    assert not [gap for gap in told["gaps"] if gap.startswith("Not stated")]
    key = str(tmp_path / "home" / "keys" / "default.pub")
    done = CliRunner().invoke(app, ["evidence", "verify", "access.zip", "--key", key, "--json"])
    assert json.loads(done.stdout)["holds"] is True

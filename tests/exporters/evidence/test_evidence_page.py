"""What the pages on evidence and on erasing show is what happens."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.exporters._support.recorded_runs import lifecycle_run
from whence.cli.app import app
from whence.exporters.evidence.committing import commit_run
from whence.exporters.evidence.verify import BAG, read_pack
from whence.store import Connection
from whence.store.loading import load
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

PAGES = Path(__file__).parents[3] / "docs" / "how-to"


def blocks(language: str, page: str = "evidence") -> list[str]:
    text = (PAGES / f"{page}.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


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
    own = str(tmp_path / "home" / "keys" / "default.pub")
    commands = [command.replace("default.pub", own) for command in commands]
    assert len(commands) == 7
    commit_run(record)
    refused = CliRunner().invoke(app, shlex.split(commands[1])[1:])
    assert refused.exit_code == 1
    assert "try whence keys create" in refused.stderr
    printed = []
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, (command, done.stderr)
        printed.append(done.stdout)
    assert "decision.zip: verified" in printed[-2]
    assert "through 1 signed head" in printed[-1]
    told = json.loads(read_pack(tmp_path / "figure.zip")[0][f"{BAG}data/evidence.json"])
    assert told["metadata"]["controller"] == "Example Bank"
    assert not [gap for gap in told["gaps"] if gap.startswith("Not stated")]
    done = CliRunner().invoke(app, ["evidence", "verify", "access.zip", "--key", own, "--json"])
    assert json.loads(done.stdout)["holds"] is True


def test_what_the_page_on_erasing_shows(
    graph: Connection, neo4j_server: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = lifecycle_run(tmp_path / "record")
    load(record.root, record.id, graph)
    monkeypatch.setenv("NEO4J_URI", str(neo4j_server.uri))
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(neo4j_server.home / "password"))
    monkeypatch.setenv("WHENCE_RECORD", str(record.root))
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    commands = [line for block in blocks("sh", "erase") for line in block.splitlines()]
    text = (PAGES / "erase.md").read_text("utf-8")
    (pack,) = re.findall(r"`(whence evidence create [^`]*)`", text)
    words = [shlex.split(each.replace("RUN", record.id))[1:] for each in (*commands, pack)]
    assert [each[0] for each in words] == ["erase", "erase", "erase", "runs", "runs", "evidence"]
    CliRunner().invoke(app, ["keys", "create"])
    for each in words:
        # Nobody is there to ask, and others use this server as well.
        last = ["--yes", "--no-rebuild"] if each[0] == "erase" else []
        done = CliRunner().invoke(app, [*each, *last])
        assert done.exit_code == 0, (each, done.stderr)
    told = json.loads(read_pack(tmp_path / "erased.zip")[0][f"{BAG}data/evidence.json"])
    assert told["erasure"]["reason"] == "request of 1 March"
    assert "c3" not in {row["case"] for row in record.log("log").part(0).to_pylist()}

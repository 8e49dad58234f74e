"""The tutorial and the pages for its users are one walk: from a log to evidence, as written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tests.cli.test_log_pages import DOCS, blocks, said_and_done
from tests.ground.surroundings import ROOT
from whence.cli.app import app
from whence.store import Connection
from whence.store.server import Status

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The run of the tutorial is the latest one until the compliance officer makes another.
WALK = [
    ("tutorial/from-a-log-to-evidence.md", 9),
    ("how-to/for-a-forensic-analyst.md", 5),
    ("how-to/for-a-process-miner.md", 3),
    ("how-to/for-a-compliance-officer.md", 3),
]
VARIES = [
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}"), "20260301-093000-a1b2c3"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "KEY"),
    (re.compile(r"[\d,]+ bytes"), "SIZE bytes"),
    (re.compile(r", 20\d\d-\d\d-\d\dT[\d:]+Z$"), ", TIME"),
]


def told(text: str, home: Path) -> list[str]:
    shown = []
    for line in text.replace(str(home), "~/.local/share/whence").splitlines():
        for pattern, word in VARIES:
            line = pattern.sub(word, line)
        shown.append(line.rstrip())
    return shown


@pytest.mark.neo4j
def test_from_a_log_to_evidence_and_on(
    graph: Connection, neo4j_server: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("NEO4J_URI", str(neo4j_server.uri))
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(neo4j_server.home / "password"))
    monkeypatch.setenv("WHENCE_HOME", str(home))
    monkeypatch.delenv("WHENCE_RECORD", raising=False)
    monkeypatch.chdir(tmp_path)
    for page, commands in WALK:
        count = 0
        for block in blocks(page):
            if block.name:
                Path(block.name).write_text(block.text, encoding="utf-8")
            elif block.language == "toml":
                Path("whence.toml").write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                for command, printed in said_and_done(block.text):
                    done = CliRunner().invoke(app, shlex.split(command))
                    assert done.exit_code == 0, (command, done.stderr)
                    assert told(done.stdout, home) == printed.splitlines(), command
                    count += 1
        assert count == commands, page
    drawn = (DOCS / "pictures" / "why.svg").read_text(encoding="utf-8")
    assert Path("why.svg").read_text(encoding="utf-8") == drawn, "run python -m tools.pictures"


@pytest.mark.spark
def test_the_examples_for_a_spark_job_work(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WHENCE_RECORD", str(tmp_path))
    examples = [b for b in blocks("how-to/for-a-spark-job.md") if b.language == "python"]
    assert len(examples) == 3
    session: dict[str, object] = {}  # the first example brings it: ours, which is active
    exec(compile(examples[0].text, "for-a-spark-job.md", "exec"), session)
    assert session["spark"] is spark
    for example in examples[1:]:
        capsys.readouterr()
        exec(compile(example.text, "for-a-spark-job.md", "exec"), {"spark": session["spark"]})
        assert capsys.readouterr().out == example.prints


def test_the_ten_lines_of_the_readme_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WHENCE_RECORD", str(tmp_path))
    (example,) = [b for b in blocks(str(ROOT / "README.md")) if b.language == "python"]
    assert len([line for line in example.text.splitlines() if line]) <= 10
    exec(compile(example.text, "README.md", "exec"), {})
    assert capsys.readouterr().out == example.prints != ""

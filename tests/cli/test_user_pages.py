"""The tutorial and the pages for its users are one walk: from a log to evidence, as written."""

from __future__ import annotations

import csv
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
    ("how-to/for-a-process-miner.md", 4),
    ("how-to/for-a-compliance-officer.md", 3),
]
VARIES = [
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}"), "20260301-093000-a1b2c3"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "KEY"),
    (re.compile(r"[\d,]+ bytes"), "SIZE bytes"),
    (re.compile(r", 20\d\d-\d\d-\d\dT[\d:.]+Z$"), ", TIME"),
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
                    words = shlex.split(command.replace("~/.local/share/whence", str(home)))
                    done = CliRunner().invoke(app, words)
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


FINES = ROOT.parent / "shared" / "logs" / "traffic_fines.csv"


def broken_cases(log: Path, case: str, before: str, after: str, *how: str) -> int:
    """What the process miner's rule counts in a log, with other names in it."""
    (text,) = [b.text for b in blocks("how-to/for-a-process-miner.md") if b.name]
    events = len(log.read_text(encoding="utf-8").splitlines()) - 1
    for old, new in (
        ("'check'", f"'{before}'"),
        ("'approve'", f"'{after}'"),
        ("by: case", f"by: {case}"),
        ("trim: 1969", f"trim: {events}"),
    ):
        assert old in text
        text = text.replace(old, new)
    if "--naive" in how:
        text = text.replace("      take: first\n", "").replace(f"trim: {events}", "trim: 0")
    chain = log.with_name("rule.yaml")
    chain.write_text(text, encoding="utf-8")
    options = [word for word in how if word != "--naive"]
    command = ["run", str(chain), "--log", str(log), "--runner", "interpreter", "--csv", *options]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.stderr
    return int(done.stdout.splitlines()[-1].rpartition(",")[2])


def counted(log: Path, case: str, before: str, after: str) -> tuple[int, int]:
    """The same in plain Python, and how many cases there are."""
    cases: dict[str, list[str]] = {}
    with log.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cases.setdefault(row[case], []).append(row["activity"])
    broken = [
        any(name == before and after not in names[at:] for at, name in enumerate(names))
        for names in cases.values()
    ]
    return sum(broken), len(cases)


def test_the_miners_rule_counts_the_cases_that_break_it(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = [f"c{n % 40},{'check' if n % 3 else 'approve'}" for n in range(0, 400, 7)]
    log.write_text("case,activity\n" + "\n".join(rows) + "\n", encoding="utf-8")
    broken, _ = counted(log, "case", "check", "approve")
    assert broken > 5
    assert broken_cases(log, "case", "check", "approve", "--closed") == broken
    assert broken_cases(log, "case", "check", "approve", "--naive") < broken


@pytest.mark.skipif(not FINES.exists(), reason="needs the real logs in ../shared/logs")
def test_the_miners_figure_is_that_of_the_real_log(tmp_path: Path) -> None:
    log = tmp_path / "fines.csv"
    lines = FINES.read_text(encoding="utf-8").splitlines()[:6_001]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert counted(log, "case_id", "Send Fine", "Payment") == (918, 1_739)
    assert broken_cases(log, "case_id", "Send Fine", "Payment", "--closed") == 918
    assert broken_cases(log, "case_id", "Send Fine", "Payment", "--naive") == 0
    assert "918 of 1,739 cases" in (DOCS / "how-to" / "for-a-process-miner.md").read_text("utf-8")

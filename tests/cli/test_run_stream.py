"""``whence run --stream``: the page on streams, and a stop on the way."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_chain_pages import BLOCK, RECORD, RUN_ID
from tests.conftest import Cli
from whence.engine.record import RunRecord, record_place

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "follow-a-stream.md"


def follow(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    """Follow a stream as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "whence", *arguments],
        cwd=tmp_path,
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.spark
def test_a_stream_is_stopped_and_goes_on_as_the_page_says(cli: Cli, tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    blocks = [(kind, text) for _, kind, text in BLOCK.findall(page)]
    chain, first, second = (text for kind, text in blocks if kind in ("yaml", "csv"))
    ((_, shown),) = [block for block in blocks if block[0] == "console"]
    command, _, printed = shown.partition("\n")
    words = shlex.split(command.removeprefix("$ whence "))
    (tmp_path / "rule.yaml").write_text(chain)
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "2026-03-01.csv").write_text(first)
    process = follow(tmp_path, *(word for word in words if word != "--available-now"))
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "last position" in line:
            break
    assert re.match(
        r"3 events, [\d,]+ events/s; waiting: 0 files; last position 2; 0 outputs, "
        r"\d pending verdicts?$",
        said[-1],
    ), said
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    run = RunRecord(record_place(), "latest")
    assert run.manifest.status == "interrupted"
    assert f"stopped; run {run.id} has 0 outputs in the record so far" in out
    assert "resume: run the same command" in out
    (inbox / "2026-03-02.csv").write_text(second)
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    told = RUN_ID.sub("20260301-093000-a1b2c3", done.stdout.replace(str(record_place()), RECORD))
    lines = [line.replace(" (resumed after an interruption)", "") for line in told.splitlines()]
    assert [line.rstrip() for line in lines] == printed.splitlines()
    assert run.manifest.status == "complete"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--log", "a.csv", "--stream", "."], "expected --log or --stream; got both"),
        (["--stream", ".", "--runner", "local"], "expected --runner spark with --stream"),
        (["--log", "a.csv", "--available-now"], "expected --stream with --available-now"),
        (["--log", "a.csv", "--every", "2"], "expected --stream with --every"),
        (["--stream", ".", "--kafka-settings", "k"], "expected a topic with --kafka-settings"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    cli: Cli, arguments: list[str], message: str
) -> None:
    done = cli("run", "rule.yaml", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_a_place_that_cannot_be_followed_is_one_clear_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "rule.yaml").write_text("{id: ok, apply: p > 0}")
    done = cli("run", "rule.yaml", "--stream", "nothing")
    assert done.returncode == 1
    assert re.match(
        r"whence: a stream: expected a folder that files are put into; got \S*nothing, "
        r"no such folder; try its folder, or --log for a file$",
        done.stderr,
    )
    done = cli("run", "rule.yaml", "--stream", "kafka://127.0.0.1:9/log", "--json")
    assert done.returncode == 1
    assert done.stderr.startswith("whence: kafka://127.0.0.1:9/log?partition=")
    assert "expected Kafka to answer" in done.stderr
    assert done.stdout == ""

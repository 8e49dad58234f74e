"""How much of the machine loading takes: its rests, its niceness, and how it is told of them."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner

from tests.store.loading._support.loaded_beside import loaded_beside, outputs, until
from whence.cli.app import app
from whence.store import Connection
from whence.store.loading import Loading
from whence.store.loading.priority import PRIORITIES, Pace, Priority
from whence.store.server import Status

LEAST = 19
"""The niceness of who stands back behind all others."""


@pytest.mark.parametrize(
    ("share", "busy", "rests"),
    [
        (0.25, 1.0, [3.0]),
        (0.7, 0.7, [0.3]),
        (1.0, 1.0, []),
        (0.25, 60.0, [5.0]),
        (0.7, 60.0, [5.0]),
    ],
)
def test_a_writer_rests_for_the_other_part_of_the_time(
    monkeypatch: pytest.MonkeyPatch, share: float, busy: float, rests: list[float]
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    Pace(writers=1, share=share, nice=0).rest(busy)
    assert slept == pytest.approx(rests)
    slept.clear()
    Pace(writers=1, share=share, nice=0).rest(busy, most=0.2)
    assert slept == pytest.approx([0.2] * len(rests))


def test_nobody_rests_once_the_run_is_over() -> None:
    for priority, chosen in PRIORITIES.items():
        assert chosen.beside(followed=False, ended=True).share == 1.0, priority
        assert chosen.beside(followed=True, ended=True).share == 1.0, priority
    beside = {p: pace.beside(followed=False, ended=False) for p, pace in PRIORITIES.items()}
    assert [p for p, pace in beside.items() if pace.share < 1.0] == [
        "low",
        "normal",
    ]


def niceness(process: psutil.Process) -> int:
    return int(process.nice())


@pytest.mark.neo4j
@pytest.mark.skipif(os.name != "posix", reason="niceness is of Unix")
def test_the_process_that_loads_stands_back_behind_others(
    graph: Connection, tmp_path: Path
) -> None:
    seen: list[int] = []

    def half_way() -> None:
        until(lambda: outputs(graph) > 0, "outputs of a run that goes on")
        seen.extend(
            niceness(each)
            for each in psutil.Process().children()
            if "whence.store.loading.child" in each.cmdline()
        )

    _, loading = loaded_beside(tmp_path, graph.settings, half_way, priority="low", writers=4)
    own = niceness(psutil.Process())
    assert seen == [min(own + PRIORITIES["low"].nice, LEAST)]
    assert loading.report is not None
    assert loading.report.complete


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ((), ("normal", None)),
        (("--load-priority", "low", "--writers", "2"), ("low", 2)),
    ],
)
def test_what_the_command_line_says_is_told_to_the_process_that_loads(
    graph: Connection,
    neo4j_server: Status,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    wanted: tuple[Priority, int | None],
) -> None:
    told: list[dict[str, Any]] = []
    start = Loading._start

    def started(loading: Loading) -> subprocess.Popen[str]:
        told.append(loading._asked)
        return start(loading)

    monkeypatch.setattr(Loading, "_start", started)
    monkeypatch.chdir(tmp_path)
    Path("chain.yaml").write_text("{id: low, apply: p < 2}", encoding="utf-8")
    Path("log.csv").write_text("p\n1\n2\n3\n", encoding="utf-8")
    environment = {
        "NEO4J_URI": neo4j_server.settings().uri,
        "NEO4J_PASSWORD_FILE": str(neo4j_server.home / "password"),
        "WHENCE_RECORD": str(tmp_path / "record"),
    }
    words = ("run", "chain.yaml", "--log", "log.csv", "--type", "p=integer", "--runner", "local")
    done = CliRunner(env=environment).invoke(app, [*words, "--track", *options])
    assert done.exit_code == 0, done.stderr
    assert "in Neo4j: 6 events and 3 relationships written" in done.stdout
    assert [(each["priority"], each["writers"]) for each in told] == [wanted]

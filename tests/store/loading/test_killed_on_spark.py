"""Kill a run on Spark at any moment, and start it again: the same graph, nothing double."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.store.loading._support.whole_graph import whole_graph
from whence.engine.language.chain import Chain
from whence.engine.language.definition import chain_from_tree
from whence.engine.record import LogRecord, RunRecord, list_runs
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.store import Connection
from whence.store.catalog import find_run
from whence.store.loading import follow, load
from whence.store.server import Status

pytestmark = [pytest.mark.neo4j, pytest.mark.spark]

PATIENCE = 300
RUN = """
import random, sys
from tests.engine.examples import lifecycle
from whence.api import connect, run
from whence.engine import Slice
from whence.engine.errors import WhenceError
from whence.engine.runners import RunOptions
from whence.store import resolve_settings

draw = random.Random(17)
actions = ["create"] * 6 + ["approve", "pay"]
events = [{"case": f"c{draw.randrange(90)}", "action": draw.choice(actions)} for _ in range(400)]
chain = Slice("per-case", by="case", of=lifecycle(), combine="and")
try:
    with connect(resolve_settings()) as connection:
        run(chain, events, record=sys.argv[1], connection=connection, master="local[1]",
            options=RunOptions(chunk=50))
except WhenceError as error:
    sys.exit(f"whence: {error}")
"""
HOLD = '''
"""Hold a run at a given moment, once, and say which process is held: a place to be killed at."""
import os
import time
from pathlib import Path

if os.environ.get("HOLD_AT"):
    from whence.engine.record.run_writer import RunWriter

    name, _, number = os.environ["HOLD_AT"].partition(":")
    marker = Path(os.environ["HOLD_FILE"])
    original, calls = getattr(RunWriter, name), []

    def held(self, *given, **named):
        calls.append(name)
        if len(calls) == int(number) and not marker.exists():
            beside = marker.with_suffix(".part")
            beside.write_text(f"{os.getpid()}")
            beside.replace(marker)
            time.sleep(600)
        return original(self, *given, **named)

    setattr(RunWriter, name, held)
'''
MOMENTS = {
    "before the first part": "write_part:1",
    "in the middle": "write_part:5",
    "after the last part": "finish:1",
}


def kills() -> Iterator[Any]:
    """What is killed, and when: each a fault of its own, one of them in each test run."""
    for what in ("everything", "worker"):
        for moment in MOMENTS:
            marks = [pytest.mark.fault(f"batch on Spark, {what} killed {moment}")]
            if (what, moment) != ("everything", "in the middle"):
                marks.append(pytest.mark.full)
            yield pytest.param(what, moment, marks=marks, id=f"{what}-{moment}")


class Killable:
    """The same command again and again, with a moment at which it is held the first time."""

    def __init__(self, folder: Path, server: Status, moment: str) -> None:
        self.record = folder / "record"
        self.marker = folder / "held"
        (folder / "sitecustomize.py").write_text(HOLD, encoding="utf-8")
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
            "HOLD_AT": MOMENTS[moment],
            "HOLD_FILE": str(self.marker),
            "NEO4J_URI": str(server.uri),
            "NEO4J_PASSWORD_FILE": str(server.home / "password"),
        }

    def start(self) -> subprocess.Popen[str]:
        """In a session of its own, so that all its processes can be found."""
        return subprocess.Popen(
            [sys.executable, "-c", RUN, str(self.record)],
            env=self.environment,
            start_new_session=True,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_until_held(self, process: subprocess.Popen[str]) -> int:
        """The process that writes the record."""
        until = time.monotonic() + PATIENCE
        while not self.marker.exists():
            assert time.monotonic() < until
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.02)
        return int(self.marker.read_text())

    def the_run(self) -> RunRecord:
        (run,) = list_runs(self.record)
        return RunRecord(self.record, run)


def of_session(leader: int) -> Iterator[int]:
    """Driver, Java and workers: every process of a session that lives."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] not in "ZX":
                yield int(folder.name)


def kill_all(process: subprocess.Popen[str]) -> set[int]:
    """Kill a process and all that it started, at once; say which these were."""
    pids = set(of_session(process.pid))
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    until = time.monotonic() + PATIENCE
    while set(of_session(process.pid)):  # a busy machine may need a moment for that
        assert time.monotonic() < until
        time.sleep(0.02)
    return pids


def undisturbed(graph: Connection, run: RunRecord, folder: Path) -> tuple[list[str], list[str]]:
    """The graph of the same run that nobody killed, done in this process."""
    manifest = run.manifest
    chain: Chain = chain_from_tree(manifest.chain)
    logs = {name: LogRecord.open(run.root / "logs" / id) for name, id in manifest.logs.items()}
    folder.mkdir()
    (folder / "logs").symlink_to(run.root / "logs", target_is_directory=True)
    run_kernels(folder, chain, logs, RunOptions(chunk=50), runner="spark", run_id=run.id)
    graph.write("MATCH (n) DETACH DELETE n")
    assert load(folder, run.id, graph).complete
    return whole_graph(graph)


@pytest.mark.parametrize(("what", "moment"), list(kills()))
def test_a_run_killed_on_spark_is_started_again_and_leaves_the_same_graph(
    graph: Connection, neo4j_server: Status, tmp_path: Path, moment: str, what: str
) -> None:
    command = Killable(tmp_path, neo4j_server, moment)
    process = command.start()
    worker = command.wait_until_held(process)
    assert command.the_run().manifest.status == "running"
    if what == "everything":
        killed_now = kill_all(process)
        assert {process.pid, worker} < killed_now  # and Java
    else:
        os.kill(worker, signal.SIGKILL)
        said = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 1
        (line,) = [line for line in said.splitlines() if line.startswith("whence: ")]
        assert "expected Spark to bring it to its end; got: " in line
        assert "try the same command" in line
        assert "Traceback" not in said
    killed = command.the_run()
    until = time.monotonic() + PATIENCE
    while killed.manifest.status == "running":  # threads of what was killed are still ending
        assert time.monotonic() < until
        time.sleep(0.02)
    assert killed.manifest.status == "interrupted"
    # Whoever follows it does not wait for ever, and says how it stands.
    followed = follow(command.record, killed.id, graph)
    assert (followed.status, followed.complete) == ("interrupted", False)
    assert find_run(graph, killed.id).status == "interrupted"
    again = command.start()
    said = again.communicate(timeout=PATIENCE)[1]
    assert again.returncode == 0, said
    assert command.the_run().id == killed.id
    assert command.the_run().manifest.status == "complete"
    found = whole_graph(graph)
    assert found == undisturbed(graph, killed, tmp_path / "undisturbed")

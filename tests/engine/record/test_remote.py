"""A record at a URI: the same record, whatever store it is in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from tests.engine.record.s3 import BUCKET, store_in_reach
from tests.engine.runners._support.kernel_records import check
from whence.api import open_run, run
from whence.cli.app import app
from whence.engine import (
    ApplyFunction,
    Chain,
    Cumulate,
    MemoryTracker,
    Slice,
    Window,
    interpret,
)
from whence.engine.errors import LogError
from whence.engine.record import (
    RunRecord,
    RunWriter,
    ingest,
    interrupted_run,
    leases,
    list_runs,
    match,
    record_place,
)
from whence.engine.record.place import place_of
from whence.engine.record.remote import RemotePath
from whence.engine.record.verifying import verify_run
from whence.engine.record.writing import BusyError, WritingLock, is_being_written
from whence.engine.runners import RunOptions
from whence.engine.runners.spark.batch import run_on_spark
from whence.store import Connection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS: list[Any] = [{"case": f"c{n % 7}", "x": n * 5 % 9 - 4} for n in range(120)]
SLICES = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "x > -3"), combine="and"))
SECRET = "a-secret-that-nobody-shall-see"
OPTIONS = RunOptions(chunk=40)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What the environment says of the one store of these tests."""
    with store_in_reach(tmp_path_factory.mktemp("s3")) as told:
        yield told


@pytest.fixture
def root(store: dict[str, str], request: pytest.FixtureRequest) -> RemotePath:
    """A record of each test's own."""
    found = record_place(f"s3://{BUCKET}/{request.node.name.partition('[')[0]}/record")
    assert isinstance(found, RemotePath)
    return found


def whence(*arguments: str) -> Result:
    """The command line, in this process."""
    return CliRunner().invoke(app, arguments)


def content(record: RunRecord) -> dict[str, Any]:
    told = record.manifest.json()
    return {name: told[name] for name in told if name not in ("id", "started", "ended")}


def test_a_record_in_an_object_store_is_that_of_a_folder(tmp_path: Path, root: RemotePath) -> None:
    """Digests of all parts included; a file system that is here goes by its URI too."""
    here = run(SLICES, EVENTS, runner="local", record=tmp_path.as_uri(), options=OPTIONS)
    there = run(SLICES, EVENTS, runner="local", record=str(root), options=OPTIONS)
    assert (here.record.root, there.record.root) == (tmp_path, root)
    assert content(there.record) == content(here.record)
    names = sorted(path.name for path in here.record.folder.rglob("*.parquet"))
    assert sorted(path.name for path in there.record.folder.rglob("*.parquet")) == names
    assert not [path for path in root.rglob("*") if path.name in ("writing.lock", "state.arrow")]
    verified = verify_run(there.record)
    assert (verified.events, verified.problems) == (120, ())
    check(there.record, interpret(SLICES, {"log": EVENTS}, tracker=MemoryTracker()))
    old = there.record.log("log")
    new = ingest(root, "log", EVENTS[1:])
    assert (len(match(old, new).removed), match(old, new).added) == (1, [])
    assert open_run("latest", record=root).id == there.id


def test_commands_take_the_uri_and_nothing_tells_the_secret(
    tmp_path: Path, root: RemotePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chain.json").write_text(json.dumps(SLICES.tree()), encoding="utf-8")
    lines = ["case,x", *(f"{event['case']},{event['x']}" for event in EVENTS)]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    place = ("--record", str(root))
    log = ("--log", "log.csv", "--type", "x=integer", "--runner", "local")
    ran = whence("run", "chain.json", *log, "--track", "--no-load", *place)
    assert ran.exit_code == 0, ran.stderr
    (id,) = list_runs(root)
    assert f"record: {root}/runs/{id}" in ran.stdout
    told = [ran]
    for arguments in (
        *(("runs", "list"), ("runs", "show"), ("runs", "verify")),
        ("export", "latest", "-o", "run.nq"),
    ):
        told.append(whence(*arguments, *place))
        assert told[-1].exit_code == 0, told[-1].stderr
    assert "all as it was written" in told[3].stdout
    assert f"urn:whence:run:{id}:run" in (tmp_path / "run.nq").read_text()
    told.append(whence("runs", "remove", id, "--only", "record", "--yes", *place))
    assert (told[-1].exit_code, list_runs(root)) == (0, [])
    assert not list((root / "runs" / id).rglob("*.parquet"))
    assert not [done for done in told if SECRET in done.stdout + done.stderr]
    held = [path.read_bytes() for path in root.rglob("*") if path.is_file()]
    assert held
    assert not [data for data in held if SECRET.encode() in data]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("s3://no-such-bucket/record", "expected a place that can be read and written; got: "),
        ("s3://key:word-of-access@bucket/record", "expected s3://NAME/FOLDER; got one with access"),
        ("s3://bucket", "expected s3://NAME/FOLDER; got "),
        ("s3://", "expected s3://NAME/FOLDER; got s3: without a name"),
        ("gs:bucket", "expected gs://NAME/FOLDER; got gs: without a name"),
        ("s3:key:word-of-access@bucket", "expected s3://NAME/FOLDER; got s3: without a name"),
        ("file://", "expected file:///FOLDER; got file: without a name"),
        ("ftp://host/record", "expected a folder, or a URI of file, s3"),
    ],
)
def test_a_place_that_is_none_is_one_line(
    tmp_path: Path,
    store: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    given: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chain.yaml").write_text("{id: same, apply: x}")
    (tmp_path / "log.csv").write_text("x\n1\n")
    log = ("--log", "log.csv", "--runner", "local")
    done = whence("run", "chain.yaml", *log, "--record", given)
    assert (done.exit_code, done.stdout) == (1, "")
    line = done.stderr.strip().splitlines()[-1]
    assert said in line
    assert "; try " in line
    assert "word-of-access" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"chain.yaml", "log.csv"}


def test_what_would_take_it_for_a_folder_of_this_machine_is_refused() -> None:
    place = place_of("s3://bucket/record")
    with pytest.raises(LogError, match="expected a folder of this machine"):
        os.listdir(place)
    with pytest.raises(LogError, match="expected a folder of this machine"):
        (place / "x").write_text("y")


WRITING = """
import sys, time
from whence.engine.record import leases, record_place
from whence.engine.record.run_writer import RunWriter
leases.EVERY = 0.2
writer = RunWriter(record_place(sys.argv[1]), "run", {"logs": {}, "chunk": 40, "streams": []})
print("writing", flush=True)
time.sleep(600)
"""


def test_a_run_whose_process_is_killed_is_interrupted(
    root: RemotePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "FRESH", 4.0)
    command = [sys.executable, "-c", WRITING, str(root)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        found = RunRecord(root, "run")
        assert found.manifest.status == "running"
        with pytest.raises(BusyError, match="expected to be the only one to write it"):
            WritingLock(found.folder, wait=0.1)
        process.kill()
    while is_being_written(found.folder):
        time.sleep(0.2)
    assert found.manifest.status == "interrupted"
    lock = WritingLock(found.folder)
    assert found.manifest.status == "running"
    lock.leave()
    assert found.manifest.status == "interrupted"


def test_whether_a_run_was_killed_a_moment_ago_is_waited_for(
    root: RemotePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "FRESH", 4.0)
    monkeypatch.setattr(leases, "EVERY", 0.5)
    writer = RunWriter(root, "run", {"logs": {}, "chunk": 40, "streams": []})
    assert interrupted_run(root, {"chunk": 41}) is None
    assert interrupted_run(root, {"chunk": 40}) is None  # it lives
    assert writer._lock._lease is not None
    writer._lock._lease._stop()  # as if it had been killed just now
    assert writer.manifest.status == "running"
    assert interrupted_run(root, {"chunk": 40}) == "run"


def test_who_did_not_answer_for_a_while_writes_no_more(
    root: RemotePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "FRESH", 2.0)
    monkeypatch.setattr(leases, "EVERY", 600.0)  # as a process that is stopped
    first = RunWriter(root, "run", {"logs": {}, "chunk": 40, "streams": []})
    second = RunWriter.again(root, "run")
    told = (second.folder / "manifest.json").read_bytes()
    with pytest.raises(BusyError, match="got another process that resumed it"):
        first.publish()
    first.leave()
    assert (second.folder / "manifest.json").read_bytes() == told
    second.publish()
    second.finish("complete")
    assert not (root / "runs" / "run" / "writing.lock").exists()


@pytest.mark.neo4j
def test_questions_are_answered_from_a_record_at_a_uri(graph: Connection, root: RemotePath) -> None:
    result = run(
        SLICES, EVENTS, runner="local", record=str(root), options=OPTIONS, connection=graph
    )
    assert result.loaded is not None
    assert result.loaded.complete
    wanted = interpret(SLICES, {"log": EVENTS}, tracker=MemoryTracker())
    first = wanted.values.index(False)
    assert result.first(False) == first
    why = result.explain(first)
    places = {event.position for event in why.events}
    assert places == {position for _, position in wanted.explain(first).inputs}


@pytest.mark.spark
def test_tasks_of_spark_write_and_read_there(
    spark: SparkSession, root: RemotePath, store: dict[str, str]
) -> None:
    log = ingest(root, "log", EVENTS, chunk=40)
    chains = {
        "slices": SLICES,
        "chunks": ApplyFunction("x", "x") | Window("three", n=3, of=Cumulate("sum", "add")),
        "task": ApplyFunction("x", "x") | Cumulate("total", "add"),
    }
    settings = spark.sparkContext.environment
    settings.update(store)  # as the machines of a cluster have it
    try:
        for name, chain in chains.items():
            made = run_on_spark(
                root, chain, {"log": log}, OPTIONS, session=spark, run_id=name, partitions=2
            )
            check(made, interpret(chain, {"log": EVENTS}, tracker=MemoryTracker()))
            assert verify_run(made).problems == ()
            assert not list(made.folder.glob(".tasks/*"))
        table = open_run("task", record=root).to_spark(session=spark).toPandas()
        assert table["position"].tolist() == list(range(120))
    finally:
        for name in store:
            del settings[name]
    plans = [RunRecord(root, name).manifest.plan for name in chains]
    assert [plan and plan.kind for plan in plans] == ["slices", "chunks", None]

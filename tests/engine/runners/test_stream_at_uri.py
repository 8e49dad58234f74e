"""A stream whose record is at a URI: stopped or killed, it goes on, also on another machine."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tests.engine.record.s3 import BUCKET, store_in_reach
from tests.engine.runners._support.kernel_records import check
from tests.engine.runners._support.stream_killed import EVERY, FRESH
from tests.engine.runners._support.stream_runs import EVENTS, OPTIONS, interpreted, put, streamed
from tests.engine.runners.test_spark_stream import said
from tests.engine.runners.test_stream_killed import killed, survive
from tests.kills import POINTS, Tell, counted
from whence.cli.app import app
from whence.engine.errors import LogError
from whence.engine.record import RunRecord, leases, list_runs, record_place
from whence.engine.record import journal as journals
from whence.engine.record.remote import RemotePath
from whence.engine.record.verifying import verify_run
from whence.engine.runners.stream.checkpoints import Checkpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

WHAT = "stream at a URI"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with store_in_reach(tmp_path_factory.mktemp("s3")) as told:
        yield told


@pytest.fixture
def root(
    store: dict[str, str], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> RemotePath:
    """A record of each test's own, of which it is soon known that its writer was killed."""
    monkeypatch.setattr(leases, "EVERY", EVERY)
    monkeypatch.setattr(leases, "FRESH", FRESH)
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    found = record_place(f"s3://{BUCKET}/{name}/record")
    assert isinstance(found, RemotePath)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "arriving"
    made.mkdir()
    return made


def test_a_stream_that_is_stopped_and_goes_on_leaves_the_record_of_a_folder(
    tmp_path: Path,
    folder: Path,
    spark: SparkSession,
    root: RemotePath,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "here"))
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(journals, "_PUT", 1_500)  # more than one journal
    put(folder, "1.csv", EVENTS[:100])
    files = [("2.csv", EVENTS[100:150]), ("3.csv", EVENTS[150:210])]
    stopped = streamed(root, folder, "window", OPTIONS, spark, files)
    assert stopped.manifest.status == "interrupted"
    assert stopped.manifest.streams[0].length > 0
    put(folder, "4.csv", EVENTS[210:])
    run = streamed(root, folder, "window", OPTIONS, spark)
    assert run.id == stopped.id
    check(run, interpreted("window"))
    verified = verify_run(run)
    assert (verified.events, verified.problems) == (len(EVENTS), ())
    kept = {path.name for path in run.folder.iterdir()}
    assert kept == {"manifest.json", "outputs", "associations"}
    assert not list((tmp_path / "here").iterdir())
    uri = (tmp_path / "a folder").as_uri()
    here = streamed(record_place(uri), folder, "window", OPTIONS, spark)
    assert said(here) == said(run)
    (log,) = run.manifest.logs
    assert here.log(log).manifest.digest == run.log(log).manifest.digest


def test_the_command_follows_a_stream_into_a_record_at_a_uri(
    tmp_path: Path, folder: Path, spark: SparkSession, root: RemotePath
) -> None:
    chain = tmp_path / "rule.yaml"
    chain.write_text("{id: low, apply: x < 0}\n", encoding="utf-8")
    put(folder, "1.csv", EVENTS)
    place = ("--record", str(root))
    stream = ("--stream", str(folder), "--type", "x=integer", "--available-now")
    run = ("run", str(chain), *stream, "--track", "--no-load")
    for arguments, words in {
        run: "300 outputs, the first",
        ("runs", "list"): "complete",
        ("runs", "show"): "low/end",
        ("runs", "verify"): "all as it was written",
    }.items():
        done = CliRunner().invoke(app, [*arguments, *place])
        assert done.exit_code == 0, done.stderr
        assert words in done.stdout


def test_a_store_that_refuses_leaves_a_stream_that_can_go_on(
    folder: Path, spark: SparkSession, root: RemotePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, "1.csv", EVENTS[:200])
    place = RemotePath.put

    def refuse(self: RemotePath, file: Path) -> None:
        if self.name.startswith("state-0000000002"):
            raise LogError("the store: expected room; got none; try later")
        place(self, file)

    with monkeypatch.context() as patch:
        patch.setattr(RemotePath, "put", refuse)
        with pytest.raises(LogError, match="expected room"):
            streamed(root, folder, "rule", OPTIONS, spark, [("2.csv", EVENTS[200:])])
    assert RunRecord(root, "latest").manifest.status == "interrupted"
    run = streamed(root, folder, "rule", OPTIONS, spark)
    assert list_runs(root) == [run.id]
    check(run, interpreted("rule"))


def test_spark_goes_on_by_the_copy_of_its_notes(tmp_path: Path, root: RemotePath) -> None:
    place = root / "checkpoint"
    first = Checkpoint(place)
    assert first.query() == ""
    notes = {"metadata": '{"id": "q"}', "offsets/0": "v1", "sources/0/0": "v1", "commits/0": "v1"}
    for name, text in notes.items():
        (first.here / name).parent.mkdir(parents=True, exist_ok=True)
        (first.here / name).write_text(text)
    (first.here / "offsets" / ".0.crc").write_text("sum")
    first.keep()
    (first.here / "offsets" / "1").write_text("not kept")
    second = Checkpoint(place)
    found = [path for path in second.here.rglob("*") if path.is_file()]
    assert {str(path.relative_to(second.here)): path.read_text() for path in found} == notes
    assert second.query() == "q"
    (second.here / "commits" / "0").unlink()  # as Spark does with old ones
    second.keep()
    for each in (first, second):
        each.close()
        assert not each.here.exists()
    assert not (place / "commits" / "0").exists()
    second.remove()
    assert not place.exists()


@pytest.mark.fault
def test_a_stream_that_is_killed_inside_a_batch_and_between_batches_says_the_same(
    tmp_path: Path, spark: SparkSession, root: RemotePath, record_property: Tell
) -> None:
    hits = survive(tmp_path, spark, "lifecycle", [("listed", 0), ("between", 1)], root)
    counted(record_property, WHAT, hits)
    assert all(hits[point] for point in ("listed", "between"))


@pytest.mark.full
@pytest.mark.fault
@pytest.mark.parametrize("name", ["nested", "rule"])
def test_a_stream_that_is_killed_at_every_point_says_the_same(
    tmp_path: Path, spark: SparkSession, name: str, root: RemotePath, record_property: Tell
) -> None:
    kills = [("begin", 0), ("copying", 0), ("part", 0), ("listed", 0), ("state", 0)]
    kills += [("kept", 1), ("between", 2), ("ending", -1)]
    hits = survive(tmp_path, spark, name, kills, root)
    counted(record_property, WHAT, hits)
    assert set(hits) == set(POINTS[WHAT])


@pytest.mark.full
@pytest.mark.fault
def test_started_again_at_once_it_goes_on_with_the_same_run(
    folder: Path, spark: SparkSession, root: RemotePath, record_property: Tell
) -> None:
    """Although nobody can tell in the first seconds that the other one has ended."""
    put(folder, "1.csv", EVENTS[:200])
    killed(root, folder, "filter", "kept", 0)
    put(folder, "2.csv", EVENTS[200:])
    assert RunRecord(root, "latest").manifest.status == "running"
    run = streamed(root, folder, "filter", OPTIONS, spark)
    assert list_runs(root) == [run.id]
    check(run, interpreted("filter"))
    counted(record_property, WHAT, Counter({"kept": 1}))

"""Whoever waits is told how far it has come; whoever interrupts can go on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whence import load_notices
from whence.api import Progress, Runner, run
from whence.cli.output import Output
from whence.engine import ApplyFunction, Cumulate, Slice
from whence.engine.language.log import Log
from whence.engine.record import RunRecord, list_runs
from whence.engine.runners import RunOptions
from whence.engine.runners.spark.watching import NOTE, Left
from whence.store import Connection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHAIN = ApplyFunction("x", "x") | Cumulate("sum", "add")
COLUMNS = Log(columns={"x": "integer"})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.csv"
    file.write_text("x\n" + "\n".join(str(n % 7) for n in range(3000)) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("runner", ["local", "interpreter"])
def test_running_is_told_to_its_end(tmp_path: Path, log: Path, runner: Runner) -> None:
    seen: list[Progress] = []
    run(CHAIN, log, declare=COLUMNS, runner=runner, record=tmp_path, progress=seen.append)
    ran = [event for event in seen if event.stage == "running"]
    assert {(event.total, event.unit) for event in ran} == {(3000, "events")}
    assert (ran[-1].done, ran[-1].share) == (3000, 1.0)
    assert [event.done for event in ran] == sorted(event.done for event in ran)


def test_reading_a_file_that_is_not_short_is_told(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    row = "1," + "x" * 998
    file.write_text("x,text\n" + f"{row}\n" * 12_000, encoding="utf-8")
    seen: list[Progress] = []
    run(CHAIN, file, declare=COLUMNS, runner="local", record=tmp_path, progress=seen.append)
    read = [event for event in seen if event.stage == "reading"]
    assert {(event.total, event.unit) for event in read} == {(file.stat().st_size, "bytes")}
    assert max(event.done for event in read) > file.stat().st_size // 2


def test_a_command_shows_what_python_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with Output().progress() as listener:
        listener(Progress("loading", 3, 9, "parts", "loading"))
    assert capsys.readouterr().err == "loading: 33 %\n"


@pytest.mark.parametrize("runner", ["local", "interpreter"])
def test_an_interrupted_run_is_gone_on_with_by_the_same_call(
    tmp_path: Path, log: Path, runner: Runner
) -> None:
    def stop(event: Progress) -> None:
        if event.stage == "running":
            raise KeyboardInterrupt

    options = RunOptions(chunk=500)
    given: dict[str, Any] = {"declare": COLUMNS, "runner": runner, "options": options}
    with pytest.raises(KeyboardInterrupt):
        run(CHAIN, log, **given, record=tmp_path / "record", progress=stop)
    (id,) = list_runs(tmp_path / "record")
    assert RunRecord(tmp_path / "record", id).manifest.status == "interrupted"
    again = run(CHAIN, log, **given, record=tmp_path / "record")
    assert (again.id, again.again) == (id, True)
    fresh = run(CHAIN, log, **given, record=tmp_path / "fresh")
    assert again.to_arrow().equals(fresh.to_arrow())
    assert list(again.record.rows()) == list(fresh.record.rows())


def test_a_task_leaves_a_note_on_how_far_it_is_and_none_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "runs" / "r" / NOTE
    note.parent.mkdir(parents=True)
    monkeypatch.setattr("whence.engine.runners.spark.watching.EVERY", 0.0)
    left = Left(tmp_path, "r")
    left(Progress("running", 10, 40, "events", "running"))
    assert note.read_text() == "[10, 40]"
    left(Progress("running", 40, 40, "events", "running"))
    assert list(note.parent.iterdir()) == []


@pytest.mark.spark
def test_a_run_on_spark_tells_how_far_it_is(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Progress] = []
    monkeypatch.setattr("whence.engine.runners.spark.watching.EVERY", 0.01)
    chain = Slice("all", by="case", of=ApplyFunction("ok", "x > 0"), combine="and")
    events = [{"case": n % 9, "x": n % 7} for n in range(2000)]
    run(chain, events, record=tmp_path, session=spark, partitions=4, progress=seen.append)
    told = [event for event in seen if event.stage == "running"]
    assert told, "four tasks take longer than a hundredth of a second"
    assert {event.unit for event in told} <= {"tasks", "events"}
    assert all(event.done <= event.total for event in told)


@pytest.mark.neo4j
@pytest.mark.parametrize("listened", [False, True])
def test_who_waits_for_the_graph_alone_is_told_so_unless_somebody_listens(
    tmp_path: Path,
    log: Path,
    graph: Connection,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    listened: bool,
) -> None:
    monkeypatch.setattr(load_notices, "EVERY_SECONDS", 0.0)
    seen: list[Progress] = []
    given: dict[str, Any] = {"progress": seen.append} if listened else {}
    result = run(
        CHAIN, log, declare=COLUMNS, runner="local", record=tmp_path, connection=graph, **given
    )
    assert result.loaded is not None
    said = capsys.readouterr().err
    doing = "storing what the inputs of " + result.id
    if listened:
        assert said == ""
        assert {each.stage for each in seen} == {"running", "loading"}
        assert seen[-1].text.startswith(doing)
    else:
        parts = f"whence: the run is done; loading {result.id}: 1 of 1 part …"
        assert parts in said or "parts …" in said
        assert f"whence: the run is done; {doing} explain …" in said


def test_nothing_is_said_while_a_chain_runs_nor_of_a_short_load(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = load_notices.WaitingLines()
    lines(Progress("loading", 1, 9, "parts", "loading, while it runs"))
    lines.begin()
    lines(Progress("loading", 2, 9, "parts", "loading, a moment later"))
    assert capsys.readouterr().err == ""
    lines._said_at = 0.0
    lines(Progress("loading", 3, 9, "parts", "loading, at last"))
    assert capsys.readouterr().err == "whence: the run is done; loading, at last: 3 of 9 parts …\n"

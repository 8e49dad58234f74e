"""``whence runs``: which runs there are, what they are, and whether they are whole."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from whence.api import run
from whence.cli.app import app
from whence.engine import Cumulate
from whence.engine.record import RunRecord, RunWriter, list_runs
from whence.engine.runners import RunOptions

Whence = Callable[..., Result]


@pytest.fixture
def whence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Whence:
    """A record with two runs, and the command line on it."""
    monkeypatch.setenv("WHENCE_RECORD", str(tmp_path))
    for runner in ("interpreter", "local"):
        options = RunOptions(chunk=4)
        run(
            Cumulate("sum", "add"), list(range(10)), runner=runner, record=tmp_path, options=options
        )
    return lambda *arguments: CliRunner().invoke(app, ["runs", *arguments])


def test_runs_are_listed(whence: Whence, tmp_path: Path) -> None:
    rows = list(csv.DictReader(StringIO(whence("list", "--csv").stdout)))
    assert [row["run"] for row in rows] == list_runs(tmp_path)
    assert {row["runner"] for row in rows} == {"interpreter", "local"}
    assert {(row["chain"], row["status"], row["outputs"]) for row in rows} == {
        ("sum", "complete", "10")
    }
    assert json.loads(whence("list", "--json").stdout)[0]["outputs"] == 10
    assert whence("list").stdout.split()[:3] == ["run", "status", "runner"]


def test_some_runs_are_listed(whence: Whence, tmp_path: Path) -> None:
    both = [RunRecord(tmp_path, id) for id in list_runs(tmp_path)]  # perhaps of one second
    first, second = sorted(both, key=lambda run: run.manifest.started)
    digest, log = str(first.manifest.chain_digest), first.manifest.logs["log"]

    def listed(*options: str) -> list[str]:
        return [row["run"] for row in json.loads(whence("list", *options, "--json").stdout)]

    assert listed("--runner", "local") == [second.id]
    for options in (
        *(("--chain", "sum"), ("--chain", digest[:20]), ("--log", "log"), ("--log", log)),
        *(("--status", "complete"), ("--since", first.manifest.started[:10])),
        ("--until", second.manifest.started),
    ):
        assert listed(*options) == [run.id for run in both], options
    for options in (("--chain", "nobody"), ("--since", "2999-01-01"), ("--until", "1999-01-01")):
        assert listed(*options) == [], options
    assert "0 of 2 runs" in whence("list", "--log", "nobody").stderr
    for option, words in (
        ("--status", "expected running, complete"),
        ("--since", "expected an ISO"),
    ):
        refused = whence("list", option, "x")
        assert refused.exit_code == 1
        assert words in refused.stderr


def test_a_run_is_shown_with_its_streams(whence: Whence, tmp_path: Path) -> None:
    told = whence("show", "latest").stdout
    run = RunRecord(tmp_path, "latest")
    for word in (run.id, str(run.manifest.chain_digest), run.manifest.logs["log"], "sum/end"):
        assert word in told
    assert json.loads(whence("show", run.id, "--json").stdout)["streams"][0]["name"] == "sum"
    rows = list(csv.DictReader(StringIO(whence("show", "--csv").stdout)))
    assert rows[0] | {"associations": ""} == {
        **{"stream": "sum", "role": "output", "events": "10", "tracked": "10"},
        **{"parts": "3", "associations": ""},
    }


def test_what_was_changed_is_found(whence: Whence, tmp_path: Path) -> None:
    for id in list_runs(tmp_path):
        done = whence("verify", id)
        assert (done.exit_code, "all as it was written" in done.stdout) == (0, True)
    folder = RunRecord(tmp_path, "latest").folder
    other = folder / "outputs" / "sum" / "part-00002.parquet"
    (folder / "outputs" / "sum" / "part-00001.parquet").write_bytes(other.read_bytes())
    other.unlink()
    done = whence("verify", "latest", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["problems"] == [
        "outputs of sum, part 1: the file was changed",
        "outputs of sum, part 2: the file is not there",
    ]
    (log,) = (tmp_path / "logs").glob("*/part-00000.parquet")
    log.write_bytes(b"nothing")
    assert "log log: part 0 cannot be read" in whence("verify").stdout


def test_events_that_were_changed_are_found(whence: Whence, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (log,) = (tmp_path / "logs").glob("*/part-00000.parquet")
    table = pq.read_table(log)
    values = table.column("value").to_pylist()
    values[3] += 1
    at = table.schema.get_field_index("value")
    pq.write_table(table.set_column(at, "value", pa.array(values, pa.int64())), log)
    done = whence("verify")
    assert done.exit_code == 1
    assert "log log: its events were changed" in done.stdout


def test_a_run_is_removed_and_its_log_stays(whence: Whence, tmp_path: Path) -> None:
    first, second = list_runs(tmp_path)
    assert whence("remove", first).exit_code == 1  # nobody said yes
    assert whence("remove", first, "--yes").exit_code == 0
    assert list_runs(tmp_path) == [second]
    assert not (tmp_path / "runs" / first).exists()
    assert len(list((tmp_path / "logs").glob("*/manifest.json"))) == 1
    refused = whence("remove", first, "--yes")
    assert refused.exit_code == 1
    assert f"got '{first}'; try one of: {second}" in refused.stderr


def test_a_run_that_goes_on_is_not_removed(whence: Whence, tmp_path: Path) -> None:
    manifest = {"chain_digest": "d", "logs": {}, "options": {}, "chunk": 5, "streams": []}
    writer = RunWriter(tmp_path, "going-on", manifest)
    try:
        refused = whence("remove", "going-on", "--yes")
    finally:
        writer.finish("complete")
    assert refused.exit_code == 1
    assert "expected one that is over; got one that is running" in refused.stderr
    assert "going-on" in list_runs(tmp_path)


def test_old_runs_are_pruned_and_a_dry_run_only_says_so(whence: Whence, tmp_path: Path) -> None:
    old, young = list_runs(tmp_path)
    reader = run(Cumulate("more", "add"), f"run:{young}", runner="interpreter", record=tmp_path).id
    for id, ended in ((old, "2026-01-01T00:00:00.000Z"), (young, "2026-01-02T00:00:00.000Z")):
        path = tmp_path / "runs" / id / "manifest.json"
        manifest = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**manifest, "ended": ended}), encoding="utf-8")
    told = json.loads(whence("prune", "--older-than", "2w", "--dry-run", "--json").stdout)
    assert [(row["run"], row["stays"]) for row in told] == [
        (young, f"{reader} read its outputs"),
        (old, None),
    ]
    assert list_runs(tmp_path) == sorted([old, young, reader])
    assert whence("prune", "--older-than", "2w").exit_code == 1  # nobody said yes
    done = whence("prune", "--older-than", "2w", "--yes")
    assert done.stdout.splitlines()[-1] == "1 run removed; 1 old run left"
    assert list_runs(tmp_path) == sorted([young, reader])
    refused = whence("remove", young, "--yes")
    assert f"expected no other run that read its streams; got {reader}" in refused.stderr
    assert whence("prune", "--older-than", "soon").exit_code == 2

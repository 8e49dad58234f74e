"""``whence store``, and runs that leave the graph, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.store._support.runs_in_neo4j import record_of
from tests.store.loading._support.whole_graph import whole_graph
from whence.api import run as run_chain
from whence.cli.app import app
from whence.engine import ApplyFunction, Chain, Cumulate, Window
from whence.engine.record import list_runs
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.care import removing
from whence.store.care.removing import is_stored, remove_from_graph
from whence.store.loading import load
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

REMOVE = ("runs", "remove")
PRUNE_GRAPH = ("runs", "prune", "--older-than", "2w", "--only", "graph")
Whence = Callable[..., str]


@pytest.fixture
def whence(graph: Connection, neo4j_server: Status, tmp_path: Path) -> Whence:
    """Run a command on the shared server, in this process: a new one each time takes long."""
    environment = {
        "NEO4J_URI": neo4j_server.settings().uri,
        "NEO4J_PASSWORD_FILE": str(neo4j_server.home / "password"),
        "WHENCE_RECORD": str(tmp_path / "record"),
    }

    def run(*arguments: str, code: int = 0) -> str:
        done = CliRunner(env=environment).invoke(app, [*arguments, "--quiet"])
        assert done.exit_code == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.output

    return run


def count(graph: Connection, label: str) -> int:
    return int(graph.read(f"MATCH (n:{label}) RETURN count(n) AS n")[0]["n"])


def aged(root: Path, *runs: str) -> None:
    """Have these runs ended long ago, each a day after the one before."""
    for day, run in enumerate(runs, 1):
        path = root / "runs" / run / "manifest.json"
        manifest = json.loads(path.read_text(encoding="utf-8"))
        ended = {"ended": f"2026-01-{day:02}T00:00:00.000Z"}
        path.write_text(json.dumps({**manifest, **ended}), encoding="utf-8")


def test_check_and_stats(whence: Whence, graph: Connection, tmp_path: Path) -> None:
    root = tmp_path / "record"
    empty = json.loads(whence("store", "stats", "--json"))
    assert (empty["nodes"], empty["edges"], empty["shares"]) == (0, 0, [])
    chain = Chain.of(ApplyFunction("big", "value > 2"))
    runs = [record_of(root, chain, {"log": [1, 2, 3]}, RunOptions()) for _ in range(2)]
    for run in runs:
        load(root, run.id, graph)
    assert whence("store", "check") == (
        "3 chunks, 9 events, 6 relationships: all as it was loaded\n"
    )
    told = json.loads(whence("store", "stats", "--json"))
    shares = {(s["kind"], s["id"]): s for s in told["shares"]}
    (log,) = [s for kind, s in ((k[0], v) for k, v in shares.items()) if kind == "log"]
    assert sorted(log["runs"]) == sorted(run.id for run in runs)
    assert (log["nodes"], log["edges"]) == (3, 0)
    for run in runs:
        share = shares["run", run.id]
        assert (share["nodes"], share["edges"]) == (3, 3)
        assert share["graph_bytes"] > 0
        assert share["record_bytes"] > 0
    assert told["store_bytes"] > sum(share["graph_bytes"] for share in shares.values()) > 0
    assert "3" in whence("store", "stats").splitlines()[1]
    assert whence("store", "stats", "--csv").startswith("kind,id,runs,nodes,edges,")
    graph.write("MATCH (:Output)-[r]->() WITH r LIMIT 1 DELETE r")
    lines = whence("store", "check", code=1).splitlines()
    assert lines[0].endswith(": expected 3 relationships; got 2")
    assert lines[1].endswith(": 1 finding")
    found = json.loads(whence("store", "check", "--json", code=1))
    assert [f["kind"] for f in found["findings"]] == ["chunk"]


def test_old_runs_are_pruned_and_others_removed_batch_by_batch(
    whence: Whence, graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []

    def counted(*given: Any, **named: Any) -> int:
        batches.append(batch(*given, **named))
        return batches[-1]

    batch = removing._removed
    monkeypatch.setattr(removing, "_removed", counted)
    monkeypatch.setattr(removing, "BATCH", 7)
    root, log = tmp_path / "record", list(range(40))
    wide = Chain.of(Window("wide", n=20, of=Cumulate("sum", "add")))
    old = record_of(root, wide, {"log": log}, RunOptions(chunk=2))
    young = record_of(root, Chain.of(ApplyFunction("big", "value > 2")), {"log": log}, RunOptions())
    aged(root, old.id)
    for run in (old, young):
        load(root, run.id, graph)
    assert count(graph, "Span") > 7
    before = whole_graph(graph)
    shared = young.manifest.logs["log"]
    prune = ("runs", "prune", "--older-than", "2w")
    (told,) = json.loads(whence(*prune, "--dry-run", "--json"))
    assert (told["run"], told["ended"]) == (old.id, "2026-01-01T00:00:00.000Z")
    assert (told["record"], told["graph"], told["stays"]) == (True, True, None)
    assert whence(*prune, "--dry-run").endswith("1 run would be removed; 0 old runs left\n")
    whence(*prune, code=1)  # nobody said yes
    assert "removed from the record\n" in whence(*REMOVE, old.id, "--only", "record", "--yes")
    (told,) = json.loads(whence(*prune, "--dry-run", "--json"))
    assert (told["run"], told["record"], told["graph"]) == (old.id, False, True)
    assert whole_graph(graph) == before
    assert batches == []
    assert whence(*prune, "--yes").endswith("1 run removed; 0 old runs left\n")
    assert (count(graph, "Input"), count(graph, "Output"), count(graph, "Span")) == (40, 40, 0)
    assert [row["id"] for row in graph.read("MATCH (r:Run) RETURN r.id AS id")] == [young.id]
    assert sum(batches) > 21
    assert whence("store", "check").endswith(": all as it was loaded\n")
    assert json.loads(whence(*REMOVE, young.id, "--yes", "--json")) == {
        **{"run": young.id, "removed": True, "record": True, "graph": True},
        "logs": [shared],
    }
    labels = "MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label ORDER BY label"
    assert [row["label"] for row in graph.read(labels)] == ["Counter", "Schema"]
    assert max(batches) == 7
    assert list_runs(root) == []
    assert f"got '{young.id}'" in whence(*REMOVE, young.id, "--yes", code=1)


def test_old_runs_leave_the_graph_alone(whence: Whence, graph: Connection, tmp_path: Path) -> None:
    root = tmp_path / "record"
    chain = Chain.of(ApplyFunction("big", "value > 2"))
    runs = [record_of(root, chain, {"log": [1, 2, 3]}, RunOptions()).id for _ in range(3)]
    first, _, held = runs
    aged(root, *runs)
    for run in (first, held):
        load(root, run, graph)
    whence("runs", "hold", held, "--reason", "before the court")
    (kept, gone) = json.loads(whence(*PRUNE_GRAPH, "--json", "--yes"))  # the second is not there
    assert (kept["run"], kept["stays"]) == (held, "it has a legal hold")
    assert (gone["run"], gone["stays"]) == (first, None)
    assert "before the court" in whence(*REMOVE, held, "--only", "graph", "--yes", code=1)
    assert [is_stored(graph, run) for run in runs] == [False, False, True]
    assert whence(*PRUNE_GRAPH, "--yes").endswith("0 runs removed; 1 old run left\n")
    whence("runs", "release", held)
    remove_from_graph(graph, held)  # killed here: whoever comes next goes on
    assert count(graph, "Event") > 0
    assert whence(*PRUNE_GRAPH, "--yes").endswith("0 runs removed; 0 old runs left\n")
    assert count(graph, "Event") == 0
    assert sorted(list_runs(root)) == sorted(runs)


def test_a_run_that_is_read_in_the_graph_alone_stays_there(
    whence: Whence, graph: Connection, tmp_path: Path
) -> None:
    root = tmp_path / "record"
    maker = record_of(root, Chain.of(Cumulate("sum", "add")), {"log": [1, 2, 3]}, RunOptions()).id
    more = Chain.of(Cumulate("more", "add"))
    reader = run_chain(more, f"run:{maker}", runner="interpreter", record=root).id
    aged(root, maker)
    load(root, reader, graph)
    for run in (reader, maker):
        whence(*REMOVE, run, "--only", "record", "--yes")
    (told,) = json.loads(whence("runs", "prune", "--older-than", "2w", "--yes", "--json"))
    assert (told["run"], told["stays"]) == (maker, f"{reader} read its outputs")
    assert is_stored(graph, maker)
    assert f"got {reader}; try removing that one" in whence(*REMOVE, maker, "--yes", code=1)
    for run in (reader, maker):
        whence(*REMOVE, run, "--yes")
    assert count(graph, "Event") == 0


@pytest.mark.parametrize(
    "command", [("rebuild", "--yes"), ("dump", "graph.dump"), ("restore", "graph.dump", "--yes")]
)
def test_the_files_of_a_server_elsewhere_are_out_of_reach(
    whence: Whence, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "password").write_text("x")
    elsewhere = ("--uri", "bolt://127.0.0.1:9", "--password-file", str(tmp_path / "password"))
    said = whence("store", *command, *elsewhere, code=1)
    assert "expected a local server of whence, whose files are here; got bolt://" in said


def test_a_run_that_only_the_graph_knows_and_that_goes_on_is_not_pruned(
    whence: Whence, graph: Connection, tmp_path: Path
) -> None:
    root, here = tmp_path / "elsewhere", tmp_path / "record"
    chain = Chain.of(ApplyFunction("big", "value > 2"))
    ids = []
    for number in range(2):
        run = record_of(root, chain, {"log": [number, 2, 3]}, RunOptions())
        load(root, run.id, graph)
        ids.append(run.id)
    going_on, over = ids
    began = "2026-01-01T00:00:00.000Z"
    graph.write("MATCH (r:Run) SET r.started = $began, r.ended = $began", began=began)
    state = "MATCH (r:Run {id: $id}) SET r.status = 'running', r.ended = null, r.loaded = false"
    graph.write(state, id=going_on)
    assert not here.exists()
    rows = json.loads(whence("runs", "prune", "--older-than", "2w", "--yes", "--json"))
    assert {row["run"]: row["stays"] for row in rows} == {going_on: "it is running", over: None}
    assert [row["id"] for row in graph.read("MATCH (r:Run) RETURN r.id AS id")] == [going_on]
    whence(*REMOVE, going_on, "--yes")  # by name it goes
    assert graph.read("MATCH (r:Run) RETURN r.id AS id") == []

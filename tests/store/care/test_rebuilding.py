"""``whence store rebuild``: the graph from files equals the loaded one, and the old one is safe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests._support.own_server import SMALL, own_server, up
from tests.conftest import Cli
from tests.engine.examples import lifecycle
from tests.store._support.runs_in_neo4j import record_of
from tests.store.loading._support.whole_graph import whole_graph
from whence.api import run
from whence.cli.app import app
from whence.engine import ApplyFunction, Chain, Cumulate, Passthrough, Slice, Window
from whence.engine.errors import ServerError, StoreError
from whence.engine.language.chain import Log
from whence.engine.record import ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.runners.local_kernels import run_kernels
from whence.store import connect
from whence.store.care import check, dump, rebuild, rebuilding, restore
from whence.store.loading import load

pytestmark = pytest.mark.neo4j

Graph = tuple[list[str], list[str]]

NAME = "rebuilt"
TEXTS = [
    "",
    '"quoted", and\nbroken',
    "nul \0 end",
    "日本 🙂",
    "\x1f",
    "é" * 3000,
    "'; MATCH (n)",
    "\\",
]
PER_CASE = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))


@pytest.fixture(scope="module", autouse=True)
def server_of_this_file(jars: Path) -> Iterator[None]:
    """A server of this file alone: its database is replaced."""
    with own_server(NAME):
        yield


def several_runs(root: Path) -> None:
    """Everything that a graph can hold: heads, spans, choices, ends, values of every kind."""
    actions = ("create", "approve", "pay", "pay")
    at = datetime(2026, 3, 1, 12, 30, 0, 123456, tzinfo=UTC)
    cases = [{"case": n % 7, "action": a, "at": at} for a in actions for n in range(20)]
    mapped = Log(None, case="case", activity="action", time="at")
    log = ingest(root, "log", cases, declared=mapped, chunk=9)
    first = run_kernels(root, PER_CASE, {"log": log}, RunOptions(chunk=9), batch=7)
    run_recorded(root, PER_CASE, {"log": log}, RunOptions(chunk=9, where="value = false"))
    bad = Chain.of(ApplyFunction("or", "value or not value"))
    run(bad, f"run:{first.id}", runner="interpreter", record=root)
    wide = Chain.of(Window("wide", n=20, of=Cumulate("sum", "add")))
    record_of(root, wide, {"log": list(range(60))}, RunOptions(chunk=25))
    every = RunOptions(witnesses="all", detail="steps")
    either = Chain.of(ApplyFunction("either", "x = 0 or y = 0"))
    pairs = [{"x": n % 2, "y": n % 3} for n in range(12)]
    record_of(root, either, {"log": pairs}, every)
    mixed = [*TEXTS, 1, -(2**62), 2.5, 1e-300, float("nan"), True, None, at, [1, "a"]]
    record_of(root, Chain.of(Passthrough("copy")), {"log": mixed}, RunOptions())


def test_it_equals_the_loaded_graph(tmp_path: Path) -> None:
    several_runs(tmp_path)
    # Numbers go by the order in which runs come, and a run comes after the one that it reads.
    names = [run.id for run in rebuilding._runs(tmp_path)[0]]
    assert sorted(names) == sorted(folder.name for folder in (tmp_path / "runs").iterdir())
    with connect(up(NAME).settings()) as connection:
        connection.write("MATCH (n) DETACH DELETE n")
        for name in names:
            load(tmp_path, name, connection)
        assert check(connection, tmp_path).findings == ()
        loaded = whole_graph(connection)
        connection.write("MATCH (e:Event) WITH e LIMIT 20 DETACH DELETE e")
        assert check(connection, tmp_path).findings != ()
    seen: list[tuple[int, int, str]] = []
    report = rebuild(
        tmp_path,
        NAME,
        memory=SMALL,
        port=None,
        progress=lambda event: seen.append((event.done, event.total, event.text)),
    )
    assert report.runs == tuple(names)
    assert (report.left_out, report.dropped) == ((), ())
    assert seen[-1][0] == seen[-1][1] == len(names)
    with connect(up(NAME).settings()) as connection:
        assert check(connection, tmp_path).findings == ()
        nodes, edges = whole_graph(connection)
        assert sorted(set(nodes) ^ set(loaded[0])) == []
        assert (nodes, edges) == loaded
        assert all(load(tmp_path, name, connection).written == 0 for name in names)


Recorded = tuple[str, str, Graph]


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    """A run in the graph and in a record of its own, another one in a new record; the graph."""
    chain = Chain.of(ApplyFunction("big", "value > 2"))
    lost = record_of(tmp_path / "old", chain, {"log": [1, 2, 3]}, RunOptions())
    kept = record_of(tmp_path / "new", chain, {"log": [3, 4, 5]}, RunOptions())
    with connect(up(NAME).settings()) as connection:
        connection.write("MATCH (n) DETACH DELETE n")
        load(tmp_path / "old", lost.id, connection)
        return lost.id, kept.id, whole_graph(connection)


def test_what_would_be_lost_is_a_reason_to_refuse(tmp_path: Path, recorded: Recorded) -> None:
    lost, _, before = recorded
    server = up(NAME)
    small = {"memory": SMALL, "port": None}
    with pytest.raises(StoreError, match=f"got none of {lost}; try --record DIR, or --drop"):
        rebuild(tmp_path / "new", NAME, **small)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match=r"expected runs in the record .*; got none"):
        rebuild(tmp_path / "none", NAME, **small)  # type: ignore[arg-type]
    where = {"WHENCE_INSTANCE": NAME, "WHENCE_RECORD": str(tmp_path / "new")}
    done = CliRunner(env=where).invoke(app, ["store", "rebuild", "--yes"])
    assert done.exit_code == 1
    assert f"expected a record of every run in the graph; got none of {lost}" in done.stderr
    assert up(NAME) == server  # it was never away
    with connect(server.settings()) as connection:
        assert whole_graph(connection) == before


@pytest.mark.full
def test_what_is_given_up_goes_when_the_new_graph_is_whole(
    tmp_path: Path, cli: Cli, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, kept, before = recorded

    def fail(*_: object) -> None:
        message = "on purpose"
        raise ServerError(message)

    with monkeypatch.context() as patch:
        patch.setattr(rebuilding, "_finish", fail)  # when the new graph is in its place already
        with pytest.raises(ServerError, match="on purpose"):
            rebuild(tmp_path / "new", NAME, drop_lost=True, memory=SMALL, port=None)
    with connect(up(NAME).settings()) as connection:
        assert whole_graph(connection) == before
    where = {"WHENCE_INSTANCE": NAME, "WHENCE_RECORD": str(tmp_path / "new")}
    done = cli("store", "rebuild", "--drop-lost", "--yes", env=where)
    assert done.returncode == 0, done.stderr
    assert f"given up: {lost}" in done.stdout
    with connect(up(NAME).settings()) as connection:
        assert check(connection, tmp_path / "new").findings == ()
        assert connection.read("MATCH (r:Run) RETURN r.id AS id") == [{"id": kept}]
    assert not list((up(NAME).home.parent).glob(".rebuild-*"))


@pytest.mark.full
def test_a_dump_is_the_whole_graph(tmp_path: Path, cli: Cli, recorded: Recorded) -> None:
    _, _, before = recorded
    file, where = tmp_path / "graph.dump", {"WHENCE_INSTANCE": NAME}
    done = cli("store", "dump", str(file), "--json", env=where)
    assert done.returncode == 0, done.stderr
    told = {"instance": NAME, "file": str(file)}
    assert json.loads(done.stdout) == {**told, "bytes": file.stat().st_size}
    with pytest.raises(StoreError, match="expected a new file; got"):
        dump(file, NAME)
    with pytest.raises(StoreError, match="expected a local server 'nobody'; got none"):
        dump(tmp_path / "other", "nobody")
    with connect(up(NAME).settings()) as connection:  # it ran before, so that it runs again
        assert whole_graph(connection) == before
        connection.write("MATCH (n) DETACH DELETE n")
    done = cli("store", "restore", str(file), "--yes", "--json", env=where)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {**told, "runs": 1}
    with connect(up(NAME).settings()) as connection:
        assert whole_graph(connection) == before
    size = dump(file, NAME, overwrite=True, memory=SMALL)
    assert size == file.stat().st_size > 0
    assert restore(file, NAME, memory=SMALL, port=None) == 1
    (tmp_path / "broken").write_bytes(b"no dump at all")
    with pytest.raises(ServerError, match="expected Neo4j to load the graph from"):
        restore(tmp_path / "broken", NAME, memory=SMALL, port=None)
    with connect(up(NAME).settings()) as connection:
        assert whole_graph(connection) == before
    for answer, file_name in (("", file.name), ("--yes", "none")):
        words = ("store", "restore", str(tmp_path / file_name), answer)
        done = cli(*filter(None, words), env=where)
        assert done.returncode == 1, answer
    assert "expected a file that whence store dump wrote" in done.stderr

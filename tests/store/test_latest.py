"""``latest`` is the newest run of the record, in every question; no other run answers for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.examples import lifecycle
from tests.exporters.evidence._support.judged_run import made_in
from tests.store.test_asking_from_the_command_line import Whence, record, whence
from whence.engine import Chain
from whence.engine.errors import LogError, StoreError
from whence.engine.record import RunRecord, ingest, latest_run
from whence.engine.runners import RunOptions, run_recorded
from whence.exporters import save_run
from whence.exporters.importing import import_runs
from whence.store import Connection
from whence.store.catalog import find_run
from whence.store.loading import load
from whence.store.questions import (
    contribution,
    explain,
    explain_first,
    impact,
    never_matters,
    responsibility,
    search,
    trace,
)
from whence.store.questions.compare import compare
from whence.web.asking import Asker, Gone

__all__ = ["record", "whence"]

LOG = [{"action": action} for action in ("create", "approve", "pay", "audit")]

QUESTIONS: dict[str, Callable[[Connection, Path], Any]] = {
    "explain": lambda graph, root: explain(graph, "latest", "1", record=root),
    "explain_first": lambda graph, root: explain_first(
        graph, "latest", where="value = true", record=root
    ),
    "never_matters": lambda graph, root: never_matters(graph, "latest", record=root),
    "impact": lambda graph, root: impact(graph, "latest", {"log": [(0, 0)]}, record=root),
    "contribution": lambda graph, root: contribution(graph, "latest", record=root),
    "responsibility": lambda graph, root: responsibility(graph, "latest", "1", record=root),
    "search": lambda graph, root: search(graph, value="true", record=root),
    "trace": lambda graph, root: trace(graph, "log@0", record=root),
    "compare": lambda graph, root: compare(graph, "latest", "latest", record=root),
    "find_run": lambda graph, root: find_run(graph, "latest", root),
}


def made(root: Path, id: str, *, tracked: bool = True) -> RunRecord:
    log = ingest(root, "log", LOG)
    options = RunOptions(tracked=tracked, witnesses="all" if tracked else "first")
    return run_recorded(root, Chain.of(lifecycle()), {"log": log}, options, run_id=id)


def run_of(answer: Any) -> str:
    of = getattr(answer, "answers", None)
    one = of[0] if of else answer
    return str(getattr(one, "run", None) or one.id)


@pytest.mark.neo4j
def test_a_newest_run_that_is_not_loaded_is_one_line_in_every_question(
    graph: Connection, tmp_path: Path
) -> None:
    # In one second, and the older one has the later name.
    older = made(tmp_path, "20260101-000000-ffffff")
    newer = made(tmp_path, "20260101-000000-000000")
    load(tmp_path, older.id, graph)
    for name, ask in QUESTIONS.items():
        with pytest.raises(StoreError, match=f"try whence load {newer.id}") as raised:
            ask(graph, tmp_path)
        assert f"got {newer.id}, the newest of the record" in str(raised.value), name
        assert "\n" not in str(raised.value)
    load(tmp_path, newer.id, graph)
    for name, ask in QUESTIONS.items():
        answer = ask(graph, tmp_path)
        if name not in ("trace", "compare"):
            assert run_of(answer) == newer.id, name
    untracked = made(tmp_path, "20260101-000001-000000", tracked=False)
    for ask in QUESTIONS.values():
        with pytest.raises(StoreError, match=f"{untracked.id}.*made without --track; try") as no:
            ask(graph, tmp_path)
        assert newer.id in str(no.value)  # it can be named


@pytest.mark.neo4j
def test_without_a_record_it_is_the_newest_of_the_graph(graph: Connection, tmp_path: Path) -> None:
    only = made(tmp_path / "there", "20260101-000000-ffffff")
    load(tmp_path / "there", only.id, graph)
    assert find_run(graph, "latest", tmp_path / "none").id == only.id


@pytest.mark.neo4j
def test_no_pack_is_signed_about_another_run(graph: Connection, tmp_path: Path) -> None:
    """The user ran the chain again, untracked, and asks for evidence about the latest run."""
    pack = made_in(tmp_path, graph)
    older = pack.record.id
    assert pack.pack(run="latest").is_file()
    newer = made(pack.record.root, "20990101-000000-000000", tracked=False)
    with pytest.raises(StoreError, match=f"got {newer.id}, the newest of the record"):
        pack.pack("b.zip", run="latest")
    assert not (tmp_path / "b.zip").exists()
    assert older != newer.id


@pytest.mark.neo4j
def test_the_page_and_the_command_line_mean_the_same_run(
    whence: Whence, graph: Connection, record: Path
) -> None:
    load(record, "latest", graph)
    newer = made(record, "20990101-000000-000000")
    asker = Asker(lambda: graph.settings, record)
    try:
        with pytest.raises(Gone, match=f"try whence load {newer.id}"):
            asker.run("latest")
    finally:
        asker.close()
    commands = [
        *("explain latest 3", "never-matters latest", "impact latest --inputs 0"),
        *("contribution latest", "trace log@0", "search --value true"),
    ]
    for words in commands:
        said = whence(*words.split(), code=1)
        assert f"try whence load {newer.id}" in said, words
        assert said.count("\n") == 1, words


def test_of_runs_of_one_second_the_one_that_began_last_is_the_latest(tmp_path: Path) -> None:
    assert latest_run(tmp_path) is None
    for id in ("20260101-000000-ffffff", "20260101-000000-000000", "by-hand"):
        made(tmp_path, id)
        assert latest_run(tmp_path) == id
    made(tmp_path, "20250101-000000-aaaaaa")
    assert latest_run(tmp_path) == "by-hand"


def imported(root: Path, folder: Path, id: str) -> str:
    """Import a run of this id, which another record has."""
    made(folder / id, id)
    (run,) = import_runs(save_run(folder / id, id, folder / f"{id}.json"), root)
    return run


@pytest.mark.neo4j
def test_an_imported_run_is_never_the_latest_of_the_record(whence: Whence, tmp_path: Path) -> None:
    """An import says of itself when it began: any file could make itself the newest run."""
    root = tmp_path / "mine"
    future, by_hand = (imported(root, tmp_path, id) for id in ("29990101-000000-ffffff", "zzz"))
    assert latest_run(root) is None
    with pytest.raises(LogError, match="got 'latest', but only imported runs; try one of: ") as no:
        RunRecord(root, "latest")
    assert future in str(no.value)
    for words in ("runs show", "runs verify", "what-if latest --set log@0.action=pay"):
        said = whence(*words.split(), "--record", str(root), code=1)
        assert "got 'latest', but only imported runs" in said
    own = made(root, "20260101-000000-ffffff")
    imported(root, tmp_path, own.id.replace("ffffff", "fffffe"))
    assert latest_run(root) == own.id
    assert RunRecord(root, by_hand).manifest.imported
    assert "imported" not in own.manifest.json()


@pytest.mark.neo4j
def test_an_imported_run_is_never_the_latest_of_the_graph(
    graph: Connection, tmp_path: Path
) -> None:
    root, none = tmp_path / "mine", tmp_path / "none"
    future = imported(root, tmp_path, "29990101-000000-ffffff")
    load(root, future, graph)
    for place in (root, none):
        with pytest.raises(StoreError, match=r"'latest', but only imported.*try one of: 2999"):
            find_run(graph, "latest", place)
        assert find_run(graph, future, place).id == future
    own = made(root, "20260101-000000-ffffff")
    with pytest.raises(StoreError, match=f"try whence load {own.id}"):
        find_run(graph, "latest", root)
    load(root, own.id, graph)
    asker = Asker(lambda: graph.settings, root)
    try:
        assert asker.run("latest").id == own.id
    finally:
        asker.close()
    for name, ask in QUESTIONS.items():
        answer = ask(graph, root)
        if name not in ("trace", "compare"):
            assert run_of(answer) == own.id, name
    for place in (root, none):
        assert find_run(graph, "latest", place).id == own.id

"""Measures count what they say they count; each of them is run once, most in the full profile."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

import experiments.__main__ as command
from experiments.measures import load
from experiments.measures._cell import chain_of, log_of
from experiments.measures.local import options_of
from experiments.measures.precision import attack
from experiments.measures.precision import measure as precision
from experiments.measures.sizes import explained_by
from experiments.plan import cells, declared
from experiments.report import stale
from experiments.store import read_rows
from tests.engine.lineage.slow_index import AssociationIndex
from tests.engine.random_chains import Case
from tests.guarantee.attacking import Score
from whence.engine.record.reaching import Reaching
from whence.engine.runners.local_kernels import run_kernels
from whence.store import Connection
from whence.store.cypher import cypher

SEEDS = ((7, "a"), (7, "b"), (8, "a"))


@pytest.mark.parametrize("query", ["window", "ltl", "lifecycle", "lifecycle.fresh", "total"])
def test_explaining_events_are_counted_as_the_index_finds_them(tmp_path: Path, query: str) -> None:
    chain, log = chain_of(query), log_of(query, 120, 7, tmp_path / "logs")
    run = run_kernels(tmp_path, chain, {chain.inputs[0]: log}, options_of("ends"))
    (stream,) = run.manifest.outputs
    index = AssociationIndex(run.rows())
    reaching = Reaching(run)
    found = []
    for k in range(0, stream.length, 7):
        reached = index.up(stream.name, k)
        wanted = sum(hi - lo + 1 for spans in reached.values() for lo, hi in spans)
        found.append(explained_by(reaching, stream.name, k))
        assert found[-1] == wanted, k
    # The claim that each output has the same lineage holds for the one, and not for the other.
    if query == "window":
        assert max(found) <= 3
    if query == "total":
        assert found == [k + 1 for k in range(0, 120, 7)]


def test_another_seed_makes_another_log_and_the_same_one_the_same(tmp_path: Path) -> None:
    ids = [log_of("window", 50, seed, tmp_path / place).id for seed, place in SEEDS]
    assert ids[0] == ids[1] != ids[2]


def test_precision_is_the_share_of_the_possibly_affected_that_changed() -> None:
    score = Score("made up", corruptions=1, outputs=100, promised=60, truly=90, recognised=60)
    assert score.precision == 0.25
    assert Score("nothing possibly affected", outputs=5, promised=5, truly=5).precision == 1.0


def test_a_corruption_of_a_window_is_felt_by_some_that_it_possibly_affects(tmp_path: Path) -> None:
    told = precision({"of": "window", "events": 40, "seed": 7}, tmp_path)
    possibly, changed = told["outputs"] - told["promised"], told["outputs"] - told["truly"]
    assert 0 < changed <= possibly < told["outputs"]
    assert told["recognised"] == told["promised"]


def test_a_random_chain_whose_log_is_empty_has_nothing_to_corrupt() -> None:
    tree = chain_of("window").tree()
    score = attack(Case(1, tree, {"log": []}, False, {"case"}), "empty")
    assert (score.corruptions, score.outputs, score.broken) == (0, 0, ())


@pytest.mark.neo4j
@pytest.mark.parametrize("query", ["window", "lifecycle", "ltl"])
def test_what_is_loaded_is_counted_without_what_made_the_server_warm(
    tmp_path: Path, graph: Connection, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(load, "a_server", lambda name, megabytes: nullcontext(graph))
    monkeypatch.setattr(load, "WARM", 60)
    told = load.measure({"query": query, "length": 60, "seed": 7}, tmp_path)
    assert told["seconds"] > 0
    # The inputs are written for each: what counts is a log that the graph has not seen.
    (found,) = graph.read("MATCH (e:Input) RETURN count(e) AS inputs")
    assert found["inputs"] == 120
    (whole,) = graph.read(cypher("store_counts"))
    assert 60 < told["nodes"] < whole["nodes"] - 60
    assert 0 < told["edges"] < whole["edges"]


@pytest.mark.full
@pytest.mark.spark
@pytest.mark.neo4j
def test_the_short_look_measures_every_cell_and_writes_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "QUICK", tmp_path)
    monkeypatch.setattr(command, "HERE", tmp_path / "experiments")
    assert command.main(["--quick"]) == 0
    seed, experiments = declared(quick=True)
    measured = {row["key"] for row in read_rows(tmp_path)}
    wanted = {c.key for c in cells(experiments, seed) if c.experiment != "real"}
    assert wanted <= measured
    page = tmp_path / "evaluation.md"
    assert stale(tmp_path, page) == []
    # Whoever puts these rows or this page elsewhere is told what they are.
    assert all(row["quick"] for row in read_rows(tmp_path))
    assert "**A short look**" in page.read_text()

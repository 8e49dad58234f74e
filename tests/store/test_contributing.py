"""Contribution and responsibility: from the graph, as the tracker in memory says."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from tests.store._support.chains_that_choose import choosing_case
from tests.store._support.runs_in_neo4j import keep
from tests.store.test_asking_from_the_command_line import Whence, record, whence
from whence.engine.lineage.terms import alternatives, flatten
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.questions import contribution, responsibility
from whence.store.questions.responsibility import responsibilities

neo4j = pytest.mark.neo4j

__all__ = ["record", "whence"]


def by_definition(one: int, sets: list[frozenset[int]]) -> Fraction:
    """Try every set of other inputs, the smallest first."""
    others = sorted(frozenset().union(*sets) - {one})
    for many in range(len(others) + 1):
        for removed in map(set, combinations(others, many)):
            left = [each for each in sets if not each & removed]
            if left and all(one in each for each in left):
                return Fraction(1, 1 + many)
    return Fraction(0)


@pytest.mark.parametrize("seed", range(60))
def test_responsibility_is_as_defined(seed: int) -> None:
    random = Random(seed)
    sets = [
        frozenset(random.sample(range(7), random.randint(1, 4)))
        for _ in range(random.randint(1, 6))
    ]
    found = responsibilities(sets)
    assert found == {one: (by_definition(one, sets), True) for one in frozenset().union(*sets)}


@neo4j
@pytest.mark.parametrize("seed", range(6))
def test_counts_equal_the_trackers(graph: Connection, tmp_path: Path, seed: int) -> None:
    case = random_case(seed + 60)
    with refusals_skipped():
        kept = keep(graph, tmp_path, case.chain(), case.logs, RunOptions(closed=case.closed))
    wanted = Counter(place for o in kept.result.outputs for place in flatten(o.event))
    answer = contribution(graph, kept.record.id, most=1000)
    found = {(each.event.log, each.event.position): each.outputs for each in answer.ranked}
    assert found == dict(wanted)
    assert answer.inputs == len(wanted)
    assert answer.outputs == len(kept.result.outputs)
    counts = [each.outputs for each in answer.ranked]
    assert counts == sorted(counts, reverse=True)
    assert contribution(graph, kept.record.id, most=2).ranked == answer.ranked[:2]


@neo4j
@pytest.mark.parametrize("number", range(3))
def test_responsibility_equals_the_trackers(graph: Connection, tmp_path: Path, number: int) -> None:
    case, _ = choosing_case(number)
    options = RunOptions(witnesses="all", closed=case.closed)
    kept = keep(graph, tmp_path, case.chain(), case.logs, options)
    for (name, position), output in kept.events.items():
        sets = alternatives(output.event).sets
        answer = responsibility(graph, kept.record.id, f"{name}@{position}")
        found = {(each.log, each.position): each.share for each in answer.inputs}
        wanted = {place: share for place, (share, _) in responsibilities(list(sets)).items()}
        assert found == wanted
        assert answer.alternatives == len(sets)


@neo4j
def test_from_the_command_line(whence: Whence, graph: Connection) -> None:
    said = whence("contribution", "latest", code=1)
    assert "expected one that is in the graph" in said
    whence("load", "latest")
    answer = json.loads(whence("contribution", "latest", "--json", "--limit", "1"))
    assert (answer["inputs"], answer["outputs"], len(answer["ranked"])) == (4, 6, 1)
    assert answer["ranked"][0]["outputs"] == 5
    rows = whence("contribution", "latest", "--csv").splitlines()
    assert rows[0] == "log,position,outputs,case,activity,time"
    assert len(rows) == 5
    shares = json.loads(whence("contribution", "latest", "--output", "3", "--json"))
    assert {(row["position"], row["responsibility"]) for row in shares["inputs"]} == {
        (1, 1.0),
        (3, 1.0),
    }
    graph.write("MATCH (r:Run) REMOVE r.counted")
    said = whence("contribution", "latest", code=1)
    assert "try whence load" in said
    assert said.count("\n") == 1
    whence("load", "latest")
    assert "log@1" in whence("contribution", "latest")

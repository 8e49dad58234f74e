"""Trace: through runs that share a log, and through runs that read each other's outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from tests.store._support.runs_in_neo4j import keep
from tests.store.test_across_runs import BAD_SO_FAR, EVENTS, PER_CASE, made
from tests.store.test_asking_from_the_command_line import Whence, record, whence
from whence.engine import Passthrough
from whence.engine.lineage.positions import positions
from whence.engine.lineage.terms import flatten
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.loading import load
from whence.store.questions import Leg, trace

pytestmark = pytest.mark.neo4j

__all__ = ["record", "whence"]

Told = tuple[str, str, dict[str, object]]


def told(legs: tuple[Leg, ...]) -> list[Told]:
    return [(leg.run, leg.source.name, {s.name: s.ranges for s in leg.found}) for leg in legs]


def test_an_event_goes_down_through_every_run_and_up_through_their_makers(
    graph: Connection, tmp_path: Path
) -> None:
    first = made(tmp_path, PER_CASE, EVENTS)
    second = made(tmp_path, BAD_SO_FAR, f"run:{first.id}/per-case")
    other = made(tmp_path, Passthrough("copy"), EVENTS)
    for each in (first, second, other):
        load(tmp_path, each.id, graph)
    answer = trace(graph, "log@3", run=first.id)
    assert answer.up == ()
    legs: list[Told] = sorted(
        [
            (first.id, "log", {"per-case": ((3, 5),)}),
            (other.id, "log", {"copy": ((3, 3),)}),
            (second.id, "log", {"any": ((3, 5),)}),
        ]
    )
    assert sorted(told(answer.down)) == legs
    answer = trace(graph, "any@5", run=second.id)
    assert answer.down == ()
    assert told(answer.up) == [
        (second.id, "any", {"log": ((3, 3),)}),
        (first.id, "per-case", {"log": ((1, 1), (3, 3))}),
    ]
    # An event between two runs: made by the one, read by the other.
    between = trace(graph, "per-case@3", run=first.id)
    assert told(between.up) == [(first.id, "per-case", {"log": ((1, 1), (3, 3))})]
    assert told(between.down) == [(second.id, "log", {"any": ((3, 5),)})]
    supported = trace(graph, "any@5", run=second.id, support=True)
    assert told(supported.up)[0][2] == {"log": ((3, 3),)}


@pytest.mark.parametrize("seed", range(5))
def test_it_says_what_the_tracker_says(graph: Connection, tmp_path: Path, seed: int) -> None:
    case = random_case(seed + 40)
    with refusals_skipped():
        kept = keep(graph, tmp_path, case.chain(), case.logs, RunOptions(closed=case.closed))
    for log in case.logs:
        for position in range(len(case.logs[log])):
            answer = trace(graph, f"{log}@{position}", run=kept.record.id)
            found = {
                (share.name, at)
                for leg in answer.down
                for share in leg.found
                for at in positions(share.ranges)
            }
            assert found == {
                place
                for place, output in kept.events.items()
                if (log, position) in flatten(output.event)
            }


def test_from_the_command_line(whence: Whence) -> None:
    whence("load", "latest")
    answer = json.loads(whence("trace", "log@3", "--json"))
    assert answer["down"][0]["found"][0]["ranges"] == [[3, 5]]
    assert "down,per-case" not in whence("trace", "log@3", "--csv")
    assert "log,3,3,per-case,3,5" in whence("trace", "log@3", "--csv")
    for event, words in (
        ("log@6", "expected a position, 0 to 5; got 6"),
        ("nobody@1", "expected one of per-case"),
        ("log@x", "expected [PROCESSOR[.PIPE]@]POSITION"),
    ):
        said = whence("trace", event, code=1)
        assert words in said
        assert said.count("\n") == 1

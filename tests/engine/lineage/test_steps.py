"""Explanations step by step: the steps lead to the inputs, and routes are the shortest ones."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from whence.engine import ApplyFunction, Cumulate, Filter, Slice
from whence.engine.interpreter import interpret
from whence.engine.lineage.steps import Route, Step, StepEdge, Steps, routes, steps_of
from whence.engine.lineage.terms import flatten
from whence.engine.lineage.tracker import MemoryTracker


def made_of(edges: dict[str, list[str]], output: str) -> Steps:
    steps = {n: Step(n, None if n.startswith("log") else n.partition("@")[0]) for n in edges}
    below = {n: tuple(StepEdge(n, to) for to in targets) for n, targets in edges.items()}
    return Steps(output, steps, below)


def every_route(found: Steps, name: str) -> list[list[str]]:
    """All of them, the slow way."""
    below = found.below.get(name, ())
    if not below:
        return [[name]]
    return [[name, *rest] for edge in below for rest in every_route(found, edge.target)]


def names(route: Route) -> list[str]:
    return [step.name for step in route.steps]


@pytest.mark.parametrize("seed", range(40))
def test_steps_lead_to_the_inputs_that_explain(seed: int) -> None:
    case = random_case(seed)
    with refusals_skipped():
        result = interpret(case.chain(), case.logs, tracker=MemoryTracker(), closed=case.closed)
    known = {name for name, _ in case.chain().processors()}
    for output in result.outputs:
        found = steps_of(output.event)
        wanted = {f"{log}@{position}" for log, position in flatten(output.event)}
        assert {step.name for step in found.inputs} == wanted
        assert {s.processor for s in found.steps.values() if not s.is_input} <= known
        shortest, _ = routes(found, 3)
        for route in shortest:
            assert route.steps[0].name == found.output
            assert not found.below.get(route.steps[-1].name)
            for (above, below), edge in zip(pairwise(names(route)), route.edges, strict=True):
                assert edge in found.below[above]
                assert edge.target == below


def test_what_only_stands_between_events_is_left_out() -> None:
    chain = Filter("big", where="x > 1") | Slice(
        "all", by="case", of=ApplyFunction("ok", "x > 2"), combine="and"
    )
    log = [{"case": 1, "x": 3}, {"case": 2, "x": 4}, {"case": 3, "x": 0}]
    found = steps_of(interpret(chain, log, tracker=MemoryTracker()).explain(1).event)
    assert set(found.steps) == {"all@1", "all/ok@0", "all/ok@1", "big@0", "big@1", "log@0", "log@1"}


def test_routes_are_the_shortest_ones_in_order() -> None:
    found = made_of(
        {
            "o@0": ["a@0", "b@0", "log@9"],
            "a@0": ["b@0", "log@1"],
            "b@0": ["c@0", "log@2"],
            "c@0": ["log@3"],
            **{f"log@{n}": [] for n in (1, 2, 3, 9)},
        },
        "o@0",
    )
    everything = every_route(found, "o@0")
    for most in range(1, len(everything) + 3):
        shortest, more = routes(found, most)
        told = [names(route) for route in shortest]
        lengths = sorted(len(route) for route in everything)[:most]
        assert [len(route) for route in told] == lengths
        assert all(route in everything for route in told)
        assert len({tuple(route) for route in told}) == len(told)
        assert more == (most < len(everything))


def test_thirty_diamonds_have_a_route_at_once() -> None:
    edges: dict[str, list[str]] = {}
    for n in range(30):
        edges[f"top@{n}"] = [f"left@{n}", f"right@{n}"]
        edges[f"left@{n}"] = edges[f"right@{n}"] = [f"top@{n + 1}" if n < 29 else "log@0"]
    edges["log@0"] = []
    found = made_of(edges, "top@0")
    shortest, more = routes(found, 5)  # of more than 10^9
    assert [len(route) for route in shortest] == [60] * 5
    assert more


def test_a_chain_a_hundred_thousand_deep_has_a_route() -> None:
    result = interpret(Cumulate("sum", "add"), range(20_000), tracker=MemoryTracker())
    assert len(steps_of(result.explain(19_999).event).inputs) == 20_000
    deep = {f"s@{n}": [f"s@{n + 1}"] for n in range(100_000)}
    deep |= {"s@100000": ["log@0", "log@1"], "log@0": [], "log@1": []}
    shortest, more = routes(made_of(deep, "s@0"), 2)
    assert [len(route) for route in shortest] == [100_001] * 2
    assert not more

"""The named queries at size: the same answers as in memory, and a graph that stays small."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.engine.examples import lifecycle
from tests.store._support.runs_in_neo4j import Kept, keep
from whence.engine import ApplyFunction, Cumulate, Slice, Window, field
from whence.engine.formula import formula
from whence.engine.language.chain import Chain
from whence.engine.language.processor import Processor
from whence.engine.lineage.association import INNER_WIDTH
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.questions import explain

pytestmark = pytest.mark.neo4j

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
MOST_PER_INPUT = 8


@dataclass(frozen=True)
class Named:
    chain: Chain | Processor
    log: Sequence[Any]


def window_product() -> Named:
    random = Random(3)
    product = Window("three", n=3, of=Cumulate("product", "product"))
    numbers = [random.choice((0, 1, 2, 3, 4)) for _ in range(600)]
    return Named(product | ApplyFunction("not-zero", field.value != 0), numbers)


def slices() -> Named:
    """Every case is right until the end, when one is not: true over all slices, then false."""
    random = Random(5)
    cases = list(range(10_000 if FULL else 500))
    events = [{"case": case, "action": "create"} for case in cases]
    events += [{"case": case, "action": "approve"} for case in random.sample(cases, 100)]
    events += [{"case": 7, "action": "pay"}, {"case": 7, "action": "pay"}]
    events += [{"case": case, "action": "approve"} for case in random.sample(cases, 20)]
    return Named(Slice("per-case", by="case", of=lifecycle(), combine="and"), events)


def rule() -> Named:
    random = Random(7)
    events = [
        {"p": random.choice((-1, 1, 2, 3)), "action": random.choice("aaab")} for _ in range(500)
    ]
    return Named(formula("G (p < 0 -> X (action = 'a' and X action = 'a'))", id="rule"), events)


def wide_window() -> Named:
    random = Random(11)
    n = 1_000 if FULL else 200
    numbers = [random.randrange(-5, 10) for _ in range(n + 300)]
    return Named(Window("wide", n=n, of=Cumulate("sum", "add")), numbers)


NAMED = {each.__name__: each for each in (window_product, slices, rule, wide_window)}


def kept(graph: Connection, root: Path, name: str, detail: str) -> tuple[Named, Kept]:
    named = NAMED[name]()
    options = RunOptions(detail=detail, chunk=1_000 if FULL else 300)  # type: ignore[arg-type]
    return named, keep(graph, root, named.chain, {"log": named.log}, options)


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("name", NAMED)
def test_every_answer_equals_the_trackers(
    graph: Connection, tmp_path: Path, name: str, detail: str
) -> None:
    named, run = kept(graph, tmp_path, name, detail)
    random = Random(13)
    places = sorted(run.events)
    run.check_explain({places[0], places[-1], *random.sample(places, 3)})
    run.check_never_matters()
    for many in (1, 40):  # few enough to be walked by the server, too many for that
        corrupt = random.sample(range(len(named.log)), many)
        some = random.sample(places, min(len(places), 60))
        run.check_impact({("log", position) for position in corrupt}, some)
    run.check_columns({("log", position) for position in corrupt})
    if detail == "ends":
        assert _records(graph) <= MOST_PER_INPUT * len(named.log)


def _records(graph: Connection) -> int:
    """Event and Span nodes, and all relationships."""
    nodes = graph.read("MATCH (n) WHERE n:Event OR n:Span RETURN count(n) AS many")[0]["many"]
    edges = graph.read("MATCH ()-[r]->() RETURN count(r) AS many")[0]["many"]
    return int(nodes) + int(edges)


def test_a_true_conjunction_is_explained_by_the_heads_of_all_slices(
    graph: Connection, tmp_path: Path
) -> None:
    log = [{"case": n % 50, "action": a} for a in ("create", "approve") for n in range(50)]
    chain = Slice("per-case", by="case", of=lifecycle(), combine="and")
    run = keep(graph, tmp_path, chain, {"log": log}, RunOptions(chunk=30))
    why = explain(graph, run.record.id, "99")
    heads = {
        row.inputs for row in why.derivations if row.kind == "zone" and row.to == "per-case/order"
    }
    assert heads == {(position * INNER_WIDTH,) for position in range(50, 100)}
    assert why.count == 100
    # Half a round earlier every second slice's head is the older event.
    middle = explain(graph, run.record.id, "74")
    heads = {row.inputs for row in middle.derivations if row.kind == "zone"}
    assert heads == {(position * INNER_WIDTH,) for position in range(25, 75)}

"""How long each question takes over a graph of a given number of edges, the driver's way included.

The run is one whose edges are literal: sums over windows of ten events that a Filter let through.
Beside it lies a run that differs a little, to compare with, and one that reads its outputs, to
trace through. What is asked about is drawn anew each time; the first answer does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from bench.suites._graph_run import a_server
from experiments.measures._cell import answer
from experiments.measures.load import MEGABYTES, SERVER
from whence.api import run
from whence.engine import ApplyFunction, Chain, Cumulate, Filter, Window
from whence.engine.record import RunRecord
from whence.engine.what_if import what_if
from whence.store import Connection
from whence.store.cypher import cypher
from whence.store.loading import load
from whence.store.questions import (
    Selection,
    ask,
    compare,
    contribution,
    explain,
    impact,
    never_matters,
    responsibility,
    search,
    trace,
)

WIDE = 10
SHORT_ONES, LONG_ONES = 40, 3
"""How often what takes little is asked, and what takes long."""
SHARE = 100
"""One input event in this many is corrupt."""
COUNT = "MATCH (:Input)<-[d:wasDerivedFrom]-() RETURN count(d) AS n"

Asked = Callable[[], object]


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Load the runs, then ask everything."""
    random = Random(parameters["seed"])
    with TemporaryDirectory() as place, a_server(SERVER, MEGABYTES) as graph:
        root = Path(place)
        ids = _loaded(root, parameters["length"], graph)
        short, long = _questions(root, ids, graph, random)
        told: dict[str, Any] = {}
        for many, asked in ((SHORT_ONES, short), (LONG_ONES, long)):
            for name, question in asked.items():
                times = [_milliseconds(question) for _ in range(many + 1)][1:]
                told[f"{name}_ms"] = median(times)
                if many == SHORT_ONES:
                    told[f"{name}_p95_ms"] = quantiles(times, n=20)[-1]
        (whole,) = graph.read(cypher("store_counts"))
        return {**told, "nodes": whole["nodes"], "edges": whole["edges"]}


def _loaded(root: Path, edges: int, graph: Connection) -> list[str]:
    """The run, another like it, and one over its outputs."""
    events = [{"x": n % 8 + 1} for n in range(edges // WIDE * 8 // 7)]
    runs = [run(_windows(some), events, runner="local", record=root) for some in (1, 2)]
    large = Filter("large", where=f"value > {WIDE * 5}")
    runs.append(run(large, f"run:{runs[0].id}/ten", runner="local", record=root))
    for each in runs:
        load(root, each.id, graph)
    return [each.id for each in runs]


def _windows(some: int) -> Chain:
    number = Chain.of(ApplyFunction("x", "x"))
    return Filter("some", where=f"x > {some}") | Window(
        "ten", n=WIDE, of=number | Cumulate("sum", "add")
    )


def _questions(
    root: Path, ids: list[str], graph: Connection, random: Random
) -> tuple[dict[str, Asked], dict[str, Asked]]:
    """What takes little, and what may take long."""
    id, other, _ = ids
    record = RunRecord(root, id)
    inputs = record.log("log").length
    (stream,) = record.manifest.outputs

    def output() -> str:
        return str(random.randrange(stream.length))

    def corrupt() -> dict[str, list[tuple[int, int]]]:
        some = sorted(random.sample(range(inputs), max(inputs // SHARE, 1)))
        return {"log": [(at, at) for at in some]}

    def one() -> Selection:
        at = random.randrange(inputs)
        return Selection(positions={"log": [(at, at)]})

    short: dict[str, Asked] = {
        "explain": lambda: explain(graph, id, output(), record=root),
        "responsibility": lambda: responsibility(graph, id, output(), record=root),
        "search": lambda: search(graph, id, one(), record=root),
        "trace": lambda: trace(graph, f"log@{random.randrange(inputs)}", run=id, record=root),
    }
    long: dict[str, Asked] = {
        "impact": lambda: impact(graph, id, corrupt(), record=root),
        "never_matters": lambda: never_matters(graph, id, record=root),
        "contribution": lambda: contribution(graph, id, record=root),
        "compare": lambda: compare(graph, id, other, record=root),
        "ask": lambda: ask(graph, COUNT, timeout=600),
        "what_if": lambda: what_if(record, [f"log@{random.randrange(inputs)}.x=99"]),
    }
    return short, long


def _milliseconds(question: Asked) -> float:
    began = time.perf_counter()
    question()
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    answer(measure)

"""How long answers take, over graphs of 10^6 and of 5·10^6 edges.

The edges are literal ones: sums over windows of ten events that a Filter let through, each of which
derives from ten input events. The conjunction is one over 10^5 cases, all of them true, so that its
last output is explained by an event of each: counted, and the first fifty of them read. What
never mattered, and what 10^4 corrupt input events touch, is asked of every third product over three
of 10^6 input events, of which one in twenty is zero: about 0.9·10^6 literal edges, and a tenth of
the inputs never matter. The same is asked of a life cycle over a tenth as many events, where every
output leans on a head of each case. Times are by the clock, the driver's round trips included; what
is asked for is drawn anew every round. Beside them two things that no question can do without: to
find one event by its key, and to read every input event once. What is compared with the baseline
are ratios to these.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bench import Bench
from bench.harness import quick
from bench.suites._queries import cases, lifecycle
from whence.engine import ApplyFunction, Chain, CountDecimate, Cumulate, Filter, Slice, Window
from whence.engine.language.processor import Processor
from whence.engine.record import ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.store import Connection, connect
from whence.store.loading import load
from whence.store.questions import explain, impact, never_matters
from whence.store.server import Memory, remove, start, stop

SCALE = 100 if quick() else 1
EDGES = {"1e6": 1_000_000 // SCALE, "5e6": 5_000_000 // SCALE}
WIDE = 10
CASES = 100_000 // SCALE
INPUTS = 1_000_000 // SCALE
CORRUPT = 10_000 // SCALE
ASKED = 300
PAGE = 50
SERVER = "bench-questions"
CHUNK = 16_384
"""Events a part: one of the windows then has some 160,000 edges, which are one transaction."""

SOME = "MATCH (e:Input) RETURN e.key AS key LIMIT 10000"
LOOKUP = "MATCH (e:Event {key: $key}) RETURN e.key AS key"
SCAN = "MATCH (e:Input) RETURN sum(e.key % 7) AS n"


@dataclass
class Graph:
    """The runs in question, by their purpose."""

    connection: Connection
    runs: dict[str, str]
    random: Random

    def __post_init__(self) -> None:
        self.keys = [row["key"] for row in self.connection.read(SOME)]

    def lookups(self) -> list[float]:
        """Seconds that it took to find each of some events by its key, the quickest first."""
        found = []
        for _ in range(ASKED):
            began = time.perf_counter()
            self.connection.read(LOOKUP, key=self.random.choice(self.keys))
            found.append(time.perf_counter() - began)
        return sorted(found)

    def times(self, run: str) -> list[float]:
        """Seconds that each of some explanations took, the quickest first."""
        found = []
        outputs = EDGES[run] // WIDE - 2 * WIDE
        for _ in range(ASKED):
            at = self.random.randrange(outputs)
            began = time.perf_counter()
            why = explain(self.connection, self.runs[run], str(at))
            found.append(time.perf_counter() - began)
            assert why.count == WIDE
        return sorted(found)


def _run(root: Path, chain: Chain | Processor, log: Any, connection: Connection) -> str:
    made = Chain.of(chain)
    kept = {"log": ingest(root, "log", log, chunk=CHUNK)}
    record = run_kernels(root, made, kept, RunOptions(chunk=CHUNK))
    load(root, record.id, connection)
    return record.id


@contextmanager
def graph() -> Iterator[Graph]:
    """A server of this benchmark alone, with all the runs."""
    status = start(SERVER, port=None, memory=Memory.of(2048))
    random = Random(10)
    try:
        with tempfile.TemporaryDirectory() as folder, connect(status.settings()) as connection:
            runs: dict[str, str] = {}
            for name, edges in EDGES.items():
                windows = Filter("some", where="x > 1") | Window(
                    "ten", n=WIDE, of=Chain.of(ApplyFunction("x", "x")) | Cumulate("sum", "add")
                )
                # One event in eight is dropped, so that neighbours are no ranges.
                events = ({"x": n % 8 + 1} for n in range(edges // WIDE * 8 // 7))
                runs[name] = _run(Path(folder), windows, events, connection)
            every = Slice("all", by="case", of=ApplyFunction("ok", "x >= 0"), combine="and")
            true = ({"case": n, "x": n % 7} for n in range(CASES))
            runs["cases"] = _run(Path(folder), every, true, connection)
            product = Window("three", n=3, of=Cumulate("product", "product"))
            third = product | CountDecimate("third", n=3)
            many = (random.randrange(20) for _ in range(INPUTS))
            runs["inputs"] = _run(Path(folder), third, many, connection)
            columns = cases(INPUTS // 10)
            steps = zip(columns["case"].to_pylist(), columns["activity"].to_pylist(), strict=True)
            orders = ({"case": case, "activity": activity} for case, activity in steps)
            runs["orders"] = _run(Path(folder), lifecycle(), orders, connection)
            yield Graph(connection, runs, random)
    finally:
        stop(SERVER)
        remove(SERVER)


bench = Bench("questions: how long answers take", prepare=graph)


def _percentile(run: str, share: float) -> Callable[[Graph], float]:
    def measure(given: Graph) -> float:
        times = given.times(run)
        return 1000 * times[min(int(share * len(times)), len(times) - 1)]

    return measure


@bench.variant("lookup.p50_ms", "ms")
def lookup(given: Graph) -> float:
    """How long it takes to find one event by its key."""
    return 1000 * given.lookups()[ASKED // 2]


@bench.variant("scan.s")
def scan(given: Graph) -> None:
    """Read every input event once."""
    assert given.connection.read(SCAN)[0]["n"] > 0


bench.variant("explain.p50_ms_1e6", "ms")(_percentile("1e6", 0.5))
bench.variant("explain.p99_ms_1e6", "ms")(_percentile("1e6", 0.99))
bench.variant("explain.p99_ms_5e6", "ms")(_percentile("5e6", 0.99))


@bench.variant("conjunction.first_page_s")
def conjunction(given: Graph) -> None:
    """Why is the last one true: how many events, and the first of them."""
    why = explain(given.connection, given.runs["cases"], str(CASES - 1), most=PAGE)
    assert (why.count, len(why.events)) == (CASES, PAGE)


@bench.variant("never_matters.s_1e6")
def never(given: Graph) -> None:
    (share,) = never_matters(given.connection, given.runs["inputs"]).certain
    assert INPUTS // 20 < share.count < INPUTS // 5


def _corrupt(given: Graph, run: str, length: int, many: int) -> None:
    positions = sorted(given.random.sample(range(length), many))
    found = impact(given.connection, given.runs[run], {"log": [(p, p) for p in positions]})
    assert found.inputs[0].count == many
    assert found.possibly[0].count > 0


@bench.variant("impact.s_1e4_inputs")
def corrupt(given: Graph) -> None:
    """Which outputs hold if some input events, here and there, are wrong."""
    _corrupt(given, "inputs", INPUTS, CORRUPT)


@bench.variant("never_matters.lifecycle_s_1e5")
def never_of_cases(given: Graph) -> None:
    """The same of a life cycle: its last event is a head, so that it matters."""
    (share,) = never_matters(given.connection, given.runs["orders"]).softer
    assert share.ranges == () or share.ranges[-1][1] < INPUTS // 10 - 1


@bench.variant("impact.lifecycle_s_1e4_inputs")
def corrupt_cases(given: Graph) -> None:
    """The same of a life cycle."""
    _corrupt(given, "orders", INPUTS // 10, CORRUPT)


bench.ratio("explain.vs_lookup", "explain.p50_ms_1e6", "lookup.p50_ms")
bench.ratio("explain.growth", "explain.p99_ms_5e6", "explain.p99_ms_1e6")
for _id, _question in {
    "conjunction": "conjunction.first_page_s",
    "never_matters": "never_matters.s_1e6",
    "impact": "impact.s_1e4_inputs",
    "never_matters.lifecycle": "never_matters.lifecycle_s_1e5",
    "impact.lifecycle": "impact.lifecycle_s_1e4_inputs",
}.items():
    bench.ratio(f"{_id}.vs_scan", _question, "scan.s")

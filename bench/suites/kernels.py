"""How fast the kernels are, one core: against the prototypes, the interpreter, and untracked.

Every variant says events per second, over batches that are in memory already. Tracked means that
outputs and compact associations are made and kept until the end of the batch, as a writer takes
them. The prototypes lie beside the repository (``../shared/prototypes``); without them their ratios
are left out. They are hand-written for one query each, wrap on overflow, and keep no outputs.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bench import Bench
from bench.harness import quick
from whence.engine import ApplyFunction, Chain, Cumulate, MemoryTracker, Window, interpret
from whence.engine.formula import formula
from whence.engine.kernels.columns import Column, records
from whence.engine.kernels.encoding import Widths, encode
from whence.engine.kernels.work import KernelWork

EVENTS = 1_000_000 if quick() else 4_000_000
MORE = 10_000_000
INTERPRETED = 20_000 if quick() else 50_000
BATCH = 65_536
PROTOTYPES = Path(__file__).parents[3] / "shared" / "prototypes"

Arrays = dict[str, Any]


def window() -> Chain:
    """Is the product of every three events in a row other than zero?"""
    three = Window("three", n=3, of=Cumulate("product", "product"))
    return three | ApplyFunction("not-zero", "value != 0")


def wider_window() -> Chain:
    """Is the sum of every five events in a row other than zero?"""
    return Window("five", n=5, of=Cumulate("sum", "add")) | ApplyFunction("not-zero", "value != 0")


def ltl() -> Chain:
    """Whenever p is negative, are the next two actions a? The comparisons are made already."""
    return Chain.of(formula("G(negative -> X(a and X a))"))


def other_ltl() -> Chain:
    """Another formula of the same size."""
    return Chain.of(formula("G(negative -> X(a or X(not a)))"))


def numbers(count: int) -> Arrays:
    """One event in twenty is zero."""
    random = np.random.default_rng(0)
    values = random.integers(1, 10, count).astype(np.int64)
    values[random.random(count) < 0.05] = 0
    return {"value": values}


def conditions(count: int) -> Arrays:
    """One event in fifty has a negative p, nine in ten an action a."""
    random = np.random.default_rng(2)
    return {"negative": random.random(count) < 0.02, "a": random.random(count) < 0.9}


QUERIES: dict[str, tuple[Callable[[], Chain], Callable[[], Chain], Callable[[int], Arrays]]] = {
    "window": (window, wider_window, numbers),
    "ltl": (ltl, other_ltl, conditions),
}


@contextmanager
def _logs() -> Iterator[dict[str, Arrays]]:
    count = EVENTS if quick() else MORE
    yield {query: make(count) for query, (_, _, make) in QUERIES.items()}


bench = Bench("Kernels, events per second on one core", prepare=_logs)


def _columns(arrays: Arrays, start: int, stop: int, work: KernelWork) -> Column:
    columns = {
        name: Column("boolean" if a.dtype == np.bool_ else "integer", a[start:stop], None, texts)
        for name, a in arrays.items()
        for texts in (work.run.texts,)
    }
    if list(columns) == ["value"]:
        return columns["value"]
    return records(columns, stop - start, work.run.texts)


def run(chain: Chain, arrays: Arrays, count: int, *, tracked: bool) -> float:
    """Events per second of a chain over the first events of a log."""
    work = KernelWork(chain, tracked=tracked)
    (log,) = chain.inputs
    gc.collect()
    started = time.perf_counter()
    for start in range(0, count, BATCH):
        stop = min(start + BATCH, count)
        work.feed({log: _columns(arrays, start, stop, work)})
        for kept in work.run.kept.values():
            for part in kept.parts if tracked else ():
                encode(part.why, part.sup, part.positions, work.run.names, Widths(1, {}))
            kept.parts.clear()
    return count / (time.perf_counter() - started)


def interpreted(chain: Chain, arrays: Arrays) -> float:
    """Events per second of the interpreter, tracked."""
    lists = {name: array[:INTERPRETED].tolist() for name, array in arrays.items()}
    log = lists.get("value") or [
        dict(zip(lists, event, strict=True)) for event in zip(*lists.values(), strict=True)
    ]
    gc.collect()
    started = time.perf_counter()
    interpret(chain, log, tracker=MemoryTracker())
    return INTERPRETED / (time.perf_counter() - started)


def prototype(query: str, arrays: Arrays) -> float:
    """Events per second of the prototype, tracked, compact."""
    sys.path.insert(0, str(PROTOTYPES))
    try:
        module = import_module("kern")
    finally:
        sys.path.remove(str(PROTOTYPES))
    made = {"window": module.NbQ1, "ltl": module.NbQ3}[query]()
    columns = list(arrays.values())
    started = time.perf_counter()
    for start in range(0, EVENTS, BATCH):
        made.step(*[column[start : min(start + BATCH, EVENTS)] for column in columns], "compact")
    return EVENTS / (time.perf_counter() - started)


def _declare(query: str) -> None:
    own, relative, _ = QUERIES[query]
    unit = "events/s"
    variants: dict[str, Callable[[Arrays], float]] = {
        "tracked": lambda a: run(own(), a, EVENTS, tracked=True),
        "untracked": lambda a: run(own(), a, EVENTS, tracked=False),
        "relative": lambda a: run(relative(), a, EVENTS, tracked=True),
        "interpreter": lambda a: interpreted(own(), a),
    }
    if PROTOTYPES.is_dir():
        variants["prototype"] = lambda a: prototype(query, a)
    for name, measure in variants.items():
        bench.variant(f"{query}.{name}", unit)(lambda logs, m=measure: m(logs[query]))  # type: ignore[misc]
    if "prototype" in variants:
        bench.ratio(f"{query}.vs_prototype", f"{query}.tracked", f"{query}.prototype")
    bench.ratio(f"{query}.relative_vs_own", f"{query}.relative", f"{query}.tracked")
    bench.ratio(f"{query}.vs_interpreter", f"{query}.tracked", f"{query}.interpreter")
    bench.ratio(f"{query}.tracked_over_untracked", f"{query}.untracked", f"{query}.tracked")
    if not quick():
        for exponent in (6, 7):
            count = 10**exponent
            bench.variant(f"{query}.seconds_1e{exponent}", "s")(
                lambda logs, n=count: n / run(own(), logs[query], n, tracked=True)  # type: ignore[misc]
            )
        bench.ratio(f"{query}.growth_1e6_1e7", f"{query}.seconds_1e7", f"{query}.seconds_1e6")


for _query in QUERIES:
    _declare(_query)

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
import pyarrow as pa

from bench import Bench
from bench.harness import quick
from whence.engine import ApplyFunction, Chain, Cumulate, MemoryTracker, Slice, Window, interpret
from whence.engine.arrow_compute import pc
from whence.engine.formula import formula
from whence.engine.kernels.columns import Column, from_arrow, records
from whence.engine.kernels.encoding import Widths, encode
from whence.engine.kernels.head_zones import HeadZones
from whence.engine.kernels.texts import Texts
from whence.engine.kernels.work import KernelWork
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.runners import CHUNK

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


def lifecycle() -> Chain:
    """Does every case follow a(bc)+d? Whatever comes otherwise leads into a trap."""
    steps = [("0", "a", "1"), ("1", "b", "2"), ("2", "c", "3"), ("3", "b", "2"), ("3", "d", "4")]
    machine = MooreMachine(
        "order",
        initial="0",
        states={**dict.fromkeys("01234", True), "5": False},
        transitions=[(start, f"activity = '{sign}'", to) for start, sign, to in steps],
        otherwise=dict.fromkeys("012345", "5"),
    )
    return Chain.of(Slice("per-case", by="case", of=machine, combine="and"))


def longer_lifecycle() -> Chain:
    """The same with a machine of twelve states."""
    names = [f"s{n}" for n in range(11)]
    steps = [(names[n], "abcd"[n % 4], names[n + 1]) for n in range(10)]
    machine = MooreMachine(
        "order",
        initial="s0",
        states={**dict.fromkeys(names, True), "lost": False},
        transitions=[(start, f"activity = '{sign}'", to) for start, sign, to in steps],
        otherwise={**{name: name for name in names}, "lost": "lost"},
    )
    return Chain.of(Slice("per-case", by="case", of=machine, combine="and"))


def cases(count: int) -> Arrays:
    """A thousand cases at a time, each a(bc)+d, then another takes its place; ids are texts."""
    random = np.random.default_rng(1)
    open_cases, steps = np.arange(1000), np.zeros(1000, np.int64)
    left = random.integers(1, 4, 1000)
    picks, loops = random.integers(0, 1000, count).tolist(), random.integers(1, 4, count).tolist()
    case, activity = np.empty(count, np.int64), np.empty(count, np.int8)
    following = 1000
    for k, j in enumerate(picks):
        case[k] = open_cases[j]
        step = activity[k] = steps[j]
        if step == 2:
            left[j] -= 1
            steps[j] = 1 if left[j] else 3
        elif step == 3:
            open_cases[j], steps[j], left[j] = following, 0, loops[k]
            following += 1
        else:
            steps[j] = step + 1
    names = pc.binary_join_element_wise("case-", pa.array(case).cast(pa.string()), "")
    signs = pa.DictionaryArray.from_arrays(pa.array(activity), pa.array(list("abcd")))
    return {"case": names, "activity": signs}


QUERIES: dict[str, tuple[Callable[[], Chain], Callable[[], Chain], Callable[[int], Arrays]]] = {
    "window": (window, wider_window, numbers),
    "lifecycle": (lifecycle, longer_lifecycle, cases),
    "ltl": (ltl, other_ltl, conditions),
}


@contextmanager
def _logs() -> Iterator[dict[str, Arrays]]:
    count = EVENTS if quick() else MORE
    logs = {query: make(count) for query, (_, _, make) in QUERIES.items()}
    for query, (own, relative, _) in QUERIES.items():
        # What is compiled is compiled now, outside the timed parts.
        for chain in (own, relative):
            for tracked in (True, False):
                run(chain(), logs[query], 2 * BATCH, tracked=tracked)
        if PROTOTYPES.is_dir():
            prototype(query, {name: array[:BATCH] for name, array in logs[query].items()})
    yield logs


bench = Bench("Kernels, events per second on one core", prepare=_logs)


def _columns(arrays: Arrays, start: int, stop: int, work: KernelWork) -> Column:
    columns = {name: _column(a[start:stop], work.run.texts) for name, a in arrays.items()}
    if list(columns) == ["value"]:
        return columns["value"]
    return records(columns, stop - start, work.run.texts)


def _column(values: Any, texts: Texts) -> Column:
    if not isinstance(values, np.ndarray):
        return from_arrow(values, "text", texts)
    kind = "boolean" if values.dtype == np.bool_ else "integer"
    return Column(kind, values, None, texts)


def run(chain: Chain, arrays: Arrays, count: int, *, tracked: bool) -> float:
    """Events per second of a chain over the first events of a log."""
    work = KernelWork(chain, tracked=tracked)
    (log,) = chain.inputs
    zones: dict[str, HeadZones] = {}
    gc.collect()
    started = time.perf_counter()
    for start in range(0, count, BATCH):
        stop = min(start + BATCH, count)
        work.feed({log: _columns(arrays, start, stop, work)})
        widths = {kept.target: kept.w for kept in work.run.kept.values() if kept.w > 1}
        for kept in work.run.kept.values():
            for part in kept.parts if tracked else ():
                own = Widths(kept.w, widths)
                encode(part.why, part.sup, part.positions, work.run.names, own)
            kept.parts.clear()
        for name, heads in work.run.heads.items():
            list(zones.setdefault(name, HeadZones(heads)).take(work.run.names, CHUNK))
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
    if query == "lifecycle":
        return _prototype_of_cases(module, arrays)
    made = {"window": module.NbQ1, "ltl": module.NbQ3}[query]()
    columns = list(arrays.values())
    started = time.perf_counter()
    count = min(EVENTS, len(columns[0]))
    for start in range(0, count, BATCH):
        made.step(*[column[start : min(start + BATCH, count)] for column in columns], "compact")
    return count / (time.perf_counter() - started)


def _prototype_of_cases(module: Any, arrays: Arrays) -> float:
    """Text ids are numbered in the timed part, as they are in ours."""
    table = np.full((6, 4), 5, np.int64)
    for state, sign, to in ((0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 1, 2), (3, 3, 4)):
        table[state, sign] = to
    made = module.NbQ2(table, np.array([1, 1, 1, 1, 1, 0], np.int64))
    slots = module.Slots()
    ids = np.array(arrays["case"][:EVENTS].to_pylist(), object)
    signs = arrays["activity"].indices.to_numpy().astype(np.int64)
    started = time.perf_counter()
    for start in range(0, len(ids), BATCH):
        slot = slots(ids[start : start + BATCH])
        made.step(slot, signs[start : start + len(slot)], len(slots.d), "compact")
    return len(ids) / (time.perf_counter() - started)


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

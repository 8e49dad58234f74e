"""The store with a million events: the same as ``store``, each once, and selected outputs.

``many.selected.N.s`` is a run with ``where=`` over N events, as many violations in a log as in one
ten times longer: seconds from the record to queryable; ``many.selected.growth`` says what the
length alone costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from bench import Bench
from bench.harness import quick
from bench.suites.spark import chain_of
from bench.suites.store import QUERIES, WRITERS, Place, imported, place, plainly
from whence.engine.runners import CHUNK, RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.store.loading import load

__all__ = ["bench"]

EVENTS = 20_000 if quick() else 1_000_000
VIOLATIONS = 200 if quick() else 10_000

bench = Bench("From a longer record to queryable", prepare=place, into="store")


def selected(given: Place, count: int) -> float:
    """Seconds to load the violations of the window query in a log with few of them."""
    values = np.ones(count, np.int64)
    values[:: count // VIOLATIONS] = 0
    log = given.log({"value": pa.array(values)}, None, CHUNK)
    options = RunOptions(where="value = false", chunk=CHUNK)
    run = run_kernels(given.root, chain_of("window"), {"log": log}, options)
    started = time.perf_counter()
    load(given.root, run.id, given.connection)
    return time.perf_counter() - started


def _declare(query: str) -> None:
    of = f"many.{query}"
    for what in ("events", "records"):
        _rate(query, f"{of}.{what}_per_s", what)
    _once(f"{of}.importer.records_per_s", "records/s", lambda p: imported(p, query, EVENTS))
    _once(f"{of}.plain_writer.events_per_s", "events/s", lambda p: plainly(p, query))
    bench.ratio(f"{of}.vs_importer", f"{of}.records_per_s", f"{of}.importer.records_per_s")
    bench.ratio(f"{of}.vs_plain_writer", f"{of}.events_per_s", f"{of}.plain_writer.events_per_s")
    for writers in WRITERS:
        _writers(query, writers)
    _once(f"{of}.bytes_per_event", "bytes", lambda p: p.bytes_per_event(query, EVENTS))


def _rate(query: str, id: str, what: str) -> None:
    _once(id, f"{what}/s", lambda p: p.rate(query, EVENTS, what))


def _writers(query: str, writers: int) -> None:
    id = f"many.{query}.writers_{writers}.events_per_s"
    _once(id, "events/s", lambda p: p.loaded(query, EVENTS, writers)["events"])


def _once(id: str, unit: str, measure: Callable[[Place], float]) -> None:
    """Declare what takes too long to be done more often."""
    bench.variant(id, unit, rounds=1)(measure)


def _declare_selected(count: int) -> None:
    _once(f"many.selected.{count}.s", "s", lambda p: selected(p, count))


for _count in (EVENTS, 10 * EVENTS):
    _declare_selected(_count)
bench.ratio("many.selected.growth", f"many.selected.{10 * EVENTS}.s", f"many.selected.{EVENTS}.s")
for _query in QUERIES:
    _declare(_query)

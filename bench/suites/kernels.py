"""How fast the kernels are, one core: against the prototypes, the interpreter, and untracked.

Every speed is events per second of the processor's time, over batches that are in memory already.
Compact means that outputs and associations are made and kept until the end of the batch, as a
writer takes them; rows, that they are then spread. The prototypes lie beside the repository
(``../shared/prototypes``); without them their ratios are left out. They are hand-written for one
query each, wrap on overflow, and keep no outputs.

What grows is looked at up to 10^7 events: a Slice over a log with a fixed set of keys, and beside
it (``fresh``) over one whose cases end and give place to new ones, of which the Slice forgets none.
Sizes are compared on equal terms: the log is read and then other memory, more than any cache holds,
so that a short log that was just read is no nearer than a long one; the median of up to five runs
counts, of long ones of as many as four seconds allow; and the logs of the three queries have 10^7
events, so that no case begins again in the middle. The log of a single processor has a little more
than 10^6 events and is read again and again, by the longest run as by the others: its events are
drawn at random, and a second reading is like the first. That many slices are open means that they
are open before the clock starts: the log was read once by then. Of the first 10^6 events in 10^5
slices three tenths fill the windows of four, and give no output yet.
Memory and bytes are of the local runner itself, which reads a log of the record and writes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from statistics import median
from typing import Any

import numpy as np

from bench import Bench
from bench.harness import quick
from bench.suites import _on_disk, _processors
from bench.suites._queries import (
    BATCH,
    PROTOTYPES,
    QUERIES,
    Arrays,
    again,
    fixed_cases,
    lifecycle,
    prototype,
)
from bench.suites._running import Level, interpreted, run
from whence.engine import ApplyFunction, Chain

EVENTS = 300_000 if quick() else 4_000_000
ALONE = 100_000 if quick() else 1_000_000
INTERPRETED = 2_000 if quick() else 20_000
ON_DISK = 200_000 if quick() else 10_000_000
LEVELS: tuple[Level, ...] = ("untracked", "compact", "rows")

Logs = dict[str, Arrays]

_SWEPT = np.zeros(2**25, np.int64)
"""256 MiB."""
_TIMES, _ENOUGH = 5, 4.0
"""How often a run is repeated at most, and after how many seconds no more."""


@contextmanager
def _logs() -> Iterator[Logs]:
    """Make the logs, and compile what is compiled, outside the timed parts."""
    logs = {name: query.log(EVENTS if quick() else 10**7) for name, query in QUERIES.items()}
    logs["lifecycle.fixed"] = fixed_cases(EVENTS if quick() else 10**7)
    for name, query in QUERIES.items():
        for chain in (query.own, query.relative):
            for level in LEVELS:
                run(chain(), logs[name], 2 * BATCH, level)
        if PROTOTYPES.is_dir():
            prototype(name, logs[name], BATCH)
    for keys in (10, 100_000):
        logs[f"slices_{keys}"] = _processors.sliced_log(keys)
    for name in _processors.PROCESSORS:
        logs[f"processor.{name}"] = _processors.log_for(name)
        run(_processors.alone(name), logs[f"processor.{name}"], 2 * BATCH)
        run(_processors.sliced(name), logs["slices_10"], BATCH)
    yield logs


bench = Bench("Kernels, events per second on one core", prepare=_logs)


def _speed(
    id: str, log: str, measure: Callable[[Arrays], float], rounds: int | None = None
) -> None:
    bench.variant(id, "events/s", rounds=rounds)(lambda logs: measure(logs[log]))


def _levels(id: str, log: str, chain: Callable[[], Chain], count: int) -> None:
    """What tracking costs, and what the interpreter would take."""
    for level in LEVELS:
        _speed(f"{id}.{level}", log, lambda a, v=level: run(chain(), a, count, v))  # type: ignore[misc]
    _speed(f"{id}.interpreter", log, lambda a: interpreted(chain(), a, INTERPRETED), 1)
    bench.ratio(f"{id}.tracked_over_untracked", f"{id}.untracked", f"{id}.compact", "lower")
    bench.ratio(f"{id}.rows_over_untracked", f"{id}.untracked", f"{id}.rows", "lower")
    bench.ratio(f"{id}.vs_interpreter", f"{id}.compact", f"{id}.interpreter")


def _growth(id: str, log: str, chain: Callable[[], Chain], first: int = 6, before: int = 0) -> None:
    """How the time grows with the log, tracked, beyond a number of events that take no time."""
    if quick():
        return
    for exponent in range(first, 8):
        count = 10**exponent
        bench.variant(f"{id}.seconds_1e{exponent}", "s", rounds=1)(
            lambda logs, n=count: _seconds(chain, logs[log], n, before)  # type: ignore[misc]
        )
    for exponent in range(first, 7):
        steps = (f"{id}.seconds_1e{exponent + 1}", f"{id}.seconds_1e{exponent}")
        bench.ratio(f"{id}.growth_1e{exponent}_1e{exponent + 1}", *steps)


def _seconds(chain: Callable[[], Chain], arrays: Arrays, count: int, before: int) -> float:
    """What is short is done several times: it would else be the noise that is compared."""
    took: list[float] = []
    while len(took) < _TIMES and sum(took) < _ENOUGH:
        _touch(arrays)
        _sweep()
        took.append(count / run(chain(), arrays, count, before=before))
    return median(took)


def _touch(arrays: Arrays) -> None:
    """Read every page of a log into memory: pages unread for minutes may be evicted."""
    for array in arrays.values():
        buffers = [array] if isinstance(array, np.ndarray) else array.buffers()
        for buffer in buffers:
            if buffer is not None:
                np.frombuffer(buffer, np.uint8)[:: 2**12].max(initial=0)


def _sweep() -> None:
    """Leave nothing in the caches that the next run could find there."""
    _SWEPT[:] += 1


def _query(name: str) -> None:
    query = QUERIES[name]
    _levels(name, name, query.own, EVENTS)
    _speed(f"{name}.relative", name, lambda a: run(query.relative(), a, EVENTS))
    bench.ratio(f"{name}.relative_vs_own", f"{name}.relative", f"{name}.compact")
    if PROTOTYPES.is_dir():
        _speed(f"{name}.prototype", name, lambda a: prototype(name, a, EVENTS))
        bench.ratio(f"{name}.vs_prototype", f"{name}.compact", f"{name}.prototype")
    if name == "lifecycle":
        _growth("lifecycle", "lifecycle.fixed", again, first=5)
        _growth("lifecycle.fresh", "lifecycle", lifecycle, first=5)
    else:
        _growth(name, name, query.own, first=5)


@cache
def _on_disk_once(name: str) -> dict[str, float]:
    return _on_disk.measured(name, ON_DISK)


def _kept(name: str) -> None:
    """What the local runner needs and leaves; one run measures all."""
    shown = {"bytes_per_event": "bytes", "peak_mb": "MB", "events_per_second": "events/s"}
    for key, unit in shown.items():
        id = f"{name}.{key}" if key == "bytes_per_event" or quick() else f"{name}.{key}_1e7"
        bench.variant(id, unit, rounds=1)(lambda _, k=key: _on_disk_once(name)[k])  # type: ignore[misc]


def _processor(name: str) -> None:
    id = f"processor.{name}"
    _levels(id, id, lambda: _processors.alone(name), ALONE)
    _growth(id, id, lambda: _processors.alone(name), first=5)
    for keys, shown in ((10, "10"), (100_000, "1e5")):
        slices = f"{id}.slices_{shown}", f"slices_{keys}"
        _growth(*slices, lambda: _processors.sliced(name), before=_processors.LENGTH)


STATELESS = ("value * 3", "value + 7", "value * value", "value - 11", "value > 200")


def _stateless() -> None:
    """Five functions in a row, against the same written by hand."""

    def chain() -> Chain:
        made = Chain.of(ApplyFunction("f0", STATELESS[0]))
        for number, text in enumerate(STATELESS[1:], start=1):
            made = made | ApplyFunction(f"f{number}", text)
        return made

    def by_hand(arrays: Arrays) -> float:
        values: Any = arrays["value"]
        held = None
        started = time.process_time()
        for start in range(0, EVENTS, BATCH):
            x = values[start : min(start + BATCH, EVENTS)] * 3 + 7
            held = x * x - 11 > 200
        assert held is not None
        return EVENTS / (time.process_time() - started)

    for level in LEVELS[:2]:
        _speed(f"stateless.{level}", "window", lambda a, v=level: run(chain(), a, EVENTS, v))  # type: ignore[misc]
    _speed("stateless.by_hand", "window", by_hand)
    for level in LEVELS[:2]:
        of = ("stateless.by_hand", f"stateless.{level}")
        bench.ratio(f"stateless.{level}_vs_hand", *of, better="lower")


for _name in QUERIES:
    _query(_name)
_stateless()
for _name in _on_disk.LOGS:
    _kept(_name)
for _what in ("text", "case"):
    bench.variant(f"bytes_per_{'text' if _what == 'text' else 'open_case'}", "bytes", rounds=1)(
        lambda _, w=_what: _on_disk.grown(w, 100_000 if quick() else 1_000_000)  # type: ignore[misc]
    )
for _name in _processors.PROCESSORS:
    _processor(_name)

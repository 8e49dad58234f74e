"""How the interpreter's work grows with the log: 10^4, 10^5, 10^6 tracked events.

Each number is the time per event, explanation of the last output included. Where work per event
does not grow, the ratios of neighbouring sizes are near 1; a logarithm (many slices) is a little
more; anything quadratic would be near 10.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from bench import Bench
from bench.harness import quick
from whence.engine import (
    ApplyFunction,
    Chain,
    Cumulate,
    Explanation,
    Interpreter,
    MemoryTracker,
    Slice,
    Window,
)
from whence.engine.language.processor import Processor

SIZES = (10_000, 100_000) if quick() else (10_000, 100_000, 1_000_000)
MOST_KEYS = 100_000

Make = Callable[[], Chain | Processor]
Log = Callable[[int], Iterator[Any]]


def window() -> Chain:
    """The paper's window: is the product of three products other than zero?"""
    three = Window("three", n=3, of=Cumulate("product", "product"))
    return ApplyFunction("times", "x * y") | three | ApplyFunction("not-zero", "value != 0")


def slices() -> Slice:
    """A conjunction over as many slices as there are events, up to 10^5."""
    return Slice("per-case", by="case", of=ApplyFunction("ok", "x >= 0"), combine="and")


CHAINS: dict[str, tuple[Make, Log]] = {
    "window": (window, lambda n: ({"x": k % 7, "y": k % 5} for k in range(n))),
    "cumulate": (lambda: Cumulate("sum", "add"), lambda n: iter(range(n))),
    "slices": (slices, lambda n: ({"case": k % MOST_KEYS, "x": 1} for k in range(n))),
}

bench = Bench("What an event costs as the log grows", warm_up=0)  # 10^6 events warm themselves


def _measure(make: Make, log: Log, size: int) -> float:
    interpreter = Interpreter(make(), MemoryTracker())
    name = interpreter.chain.inputs[0]
    gc.collect()
    started = time.perf_counter()
    last = None
    for value in log(size):
        outputs = interpreter.feed(name, value)
        last = outputs[-1] if outputs else last
    assert last is not None
    assert Explanation(last.event).inputs
    return (time.perf_counter() - started) / size * 1e6


def _declare(chain: str, size: int) -> None:
    make, log = CHAINS[chain]

    def variant(_: None) -> float:
        return _measure(make, log, size)

    bench.variant(f"{chain}.{size}", "µs/event")(variant)


for _chain in CHAINS:
    for _size in SIZES:
        _declare(_chain, _size)
    for _small, _large in pairwise(SIZES):
        bench.ratio(f"{_chain}.{_large}.vs_{_small}", f"{_chain}.{_large}", f"{_chain}.{_small}")

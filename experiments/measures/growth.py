"""The local runner over logs of several lengths: how time and memory grow.

A run over a short log is over before a busy moment of the machine is: so it is run again and again,
until as many events went through as the longest log has, and the one in the middle counts.
"""

from __future__ import annotations

import os
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from experiments.measures._cell import Spent, answer, log_of, log_place, probed
from experiments.measures.local import WARM, options_of, run_local

EVENTS = 24_000_000
"""As many events go through, or one log."""
MOST = 8
"""Runs at most."""
SHORTEST = 1000
"""Events of a log that tells what it takes to begin and to end a run."""


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run until enough events went through; before that, over a short log and the shortest."""
    query, length, seed = (parameters[name] for name in ("query", "length", "seed"))
    options = options_of(parameters["tracking"])
    times = min(MOST, -(-EVENTS // length))

    def run(events: int) -> Spent:
        log = log_of(query, events, seed, folder)
        with TemporaryDirectory() as place:
            with probed() as spent:
                run_local(Path(place), query, log, options)
            (took,) = spent
            return took

    for events in (length, WARM, SHORTEST):
        _make_elsewhere(query, events, seed, folder)
    run(WARM)
    start = [run(SHORTEST) for _ in range(3)]
    took = [run(length) for _ in range(times)]
    return {
        "seconds": median(each.seconds for each in took),
        "cpu_seconds": median(each.cpu_seconds for each in took),
        "start_seconds": median(each.seconds for each in start),
        "start_cpu_seconds": median(each.cpu_seconds for each in start),
        "peak_bytes": max(each.peak_bytes for each in took),
        "process_bytes": max(each.process_bytes for each in took),
    }


def _make_elsewhere(query: str, length: int, seed: int, folder: Path) -> None:
    """Make a log, if it is not there: whoever made it has other memory than whoever did not."""
    if log_place(query, length, seed, folder).exists():
        return
    maker = get_context("spawn").Process(target=log_of, args=(query, length, seed, folder))
    maker.start()
    maker.join()
    os.sync()


if __name__ == "__main__":
    answer(measure)

"""The local runner over logs of several lengths: how time and memory grow.

Each length has a process of its own, and they take turns: what else the machine does slows all of
them alike. A shorter log has more turns, so that as many events went through every process.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

from experiments.measures._cell import Spent, answer, log_of, log_place, probed
from experiments.measures.local import WARM, options_of, run_local

SECONDS, LONG = 30.0, 10_000_000
"""Rounds go on for so long, and one more, if the longest log has so many events; else for less."""
SHORTEST = 1000
"""Size of a log that measures the cost of starting and ending a run."""
_SPAWN = get_context("spawn")


class End(Protocol):
    """An end of a pipe between two processes; what it is differs between systems."""

    def send(self, obj: Any, /) -> None:
        """Give something to the other end."""

    def recv(self) -> Any:
        """Wait for what the other end gives."""


class Runs(NamedTuple):
    """What is run, over logs of any length."""

    query: str
    tracking: str
    seed: int
    folder: Path

    def run(self, events: int) -> Spent:
        log = log_of(self.query, events, self.seed, self.folder)
        with TemporaryDirectory() as place:
            with probed() as spent:
                run_local(Path(place), self.query, log, options_of(self.tracking))
            (took,) = spent
            return took

    def make(self, events: int) -> None:
        """Make a log, if it is not there, in another process: its memory must not count."""
        if log_place(self.query, events, self.seed, self.folder).exists():
            return
        arguments = (self.query, events, self.seed, self.folder)
        maker = _SPAWN.Process(target=log_of, args=arguments)
        maker.start()
        maker.join()
        os.sync()


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run all lengths in turn, and report each."""
    lengths = parameters["lengths"]
    runs = Runs(parameters["query"], parameters["tracking"], parameters["seed"], folder)
    for events in (*lengths, WARM, SHORTEST):
        runs.make(events)
    with ExitStack() as stack:
        ends = {length: _worker(stack, runs, length) for length in lengths}
        start = [ends[length].recv() for length in lengths]
        took: dict[int, list[Spent]] = {length: [] for length in lengths}
        until = time.monotonic() + SECONDS * min(1.0, max(lengths) / LONG)
        order = turns(lengths)
        while True:
            for length in order:
                ends[length].send(True)
                took[length].append(ends[length].recv())
            if time.monotonic() > until:
                break
            order.reverse()
    each = zip(lengths, start, took.values(), strict=True)
    return {"each": [_told(length, begun, done) for length, begun, done in each]}


def _told(length: int, begun: list[Spent], done: list[Spent]) -> dict[str, Any]:
    return {
        "length": length,
        "turns": len(done),
        "seconds": mean(each.seconds for each in done),
        "cpu_seconds": mean(each.cpu_seconds for each in done),
        "start_seconds": median(each.seconds for each in begun),
        "start_cpu_seconds": median(each.cpu_seconds for each in begun),
        "process_bytes": max(each.process_bytes for each in done),
    }


def turns(lengths: list[int]) -> list[int]:
    """A round: each length so often that as many events go through, spread evenly.

    >>> turns([4, 8, 24])
    [4, 8, 4, 4, 8, 24, 4, 4, 8, 4]
    """
    most = max(lengths)
    times = {length: round(most / length) for length in lengths}
    return [
        length
        for _, length in sorted(
            ((nth + 0.5) / often, length) for length, often in times.items() for nth in range(often)
        )
    ]


def _worker(stack: ExitStack, runs: Runs, length: int) -> End:
    """Start a process that runs over a log on request, and ends with this one."""
    ours, theirs = _SPAWN.Pipe()
    worker = _SPAWN.Process(target=_serve, args=(theirs, runs, length), daemon=True)
    worker.start()
    theirs.close()
    stack.callback(worker.join)
    stack.callback(ours.close)
    return ours


def _serve(pipe: End, runs: Runs, length: int) -> None:
    runs.run(WARM)
    pipe.send([runs.run(SHORTEST) for _ in range(3)])
    with suppress(EOFError):
        while pipe.recv():
            pipe.send(runs.run(length))


if __name__ == "__main__":
    answer(measure)

"""How fast a stream is followed: files, durable state, a batch a second, a thousand open cases.

About a million events a second are put into a folder, in files, and a lifecycle over a thousand
cases that never end is followed with everything on: explanations, the record on disk, the state
kept after every batch and at least every second. What counts is events from the first file to the
last commit, and how much larger the process is at the end than after a third of the way.

The results stand in `bench/results/spark.json`, beside those of `bench/suites/spark.py` on whole
logs.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from bench import Bench
from bench.harness import quick
from whence.engine import Chain, Slice
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.runners import CHUNK, RunOptions
from whence.engine.runners.spark_session import spark_session
from whence.engine.runners.stream.on_spark import StreamProgress, run_stream
from whence.engine.sources.folder_stream import FolderStream

__all__ = ["FILE", "Prepared", "bench", "follow", "prepared"]

CASES = 1_000
ROUND = "abcbcd"
PER_CASE = 42
FILE = CASES * PER_CASE * len(ROUND)
"""Events a file: every case goes around so often."""
FILES = 12 if quick() else 40
A_SECOND = 4
"""Files that are put into the folder a second: about a million events."""


def lifecycle() -> Chain:
    """Does every case go around a(bc)+d, again and again?"""
    steps = [("0", "a", "1"), ("1", "b", "2"), ("2", "c", "3"), ("3", "b", "2"), ("3", "d", "0")]
    machine = MooreMachine(
        "order",
        initial="0",
        states={**dict.fromkeys("0123", True), "lost": False},
        transitions=[(start, f"activity = '{sign}'", to) for start, sign, to in steps],
        otherwise=dict.fromkeys([*"0123", "lost"], "lost"),
    )
    return Chain.of(Slice("per-case", by="case", of=machine, combine="and"))


def _file(path: Path, seed: int) -> None:
    """A file in which every case goes around, all mixed."""
    case = np.random.default_rng(seed).permutation(np.repeat(np.arange(CASES), FILE // CASES))
    order = np.argsort(case, kind="stable")
    nth = np.empty(FILE, np.int64)
    nth[order] = np.tile(np.arange(FILE // CASES), CASES)
    names = pa.DictionaryArray.from_arrays(
        pa.array(case), pa.array([f"case-{number}" for number in range(CASES)])
    )
    signs = np.array(list(ROUND))[nth % len(ROUND)]
    table = pa.table({"case": names.cast(pa.string()), "activity": pa.array(signs)})
    pq.write_table(table, path)


@dataclass
class Prepared:
    """A session, a place, and the file that comes again and again; then how memory grew."""

    session: Any
    folder: Path
    file: Path
    growth: float = 0.0


@contextmanager
def prepared(seed: int = 7) -> Iterator[Prepared]:
    """All that following needs; what is compiled is compiled."""
    session = spark_session("local[2]")
    folder = Path(tempfile.mkdtemp(prefix="whence-bench-"))
    try:
        _file(folder / "events.parquet", seed)
        made = Prepared(session, folder, folder / "events.parquet")
        follow(made, 2)
        yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        session.stop()


bench = Bench(
    "A stream of files, a thousand open cases, a batch a second", prepare=prepared, into="spark"
)


def follow(prepared: Prepared, files: int, options: RunOptions | None = None) -> float:
    """Events a second, from the first file to the last commit.

    Args:
        prepared: where.
        files: how many files come.
        options: of the run; everything is tracked unless given.
    """
    inbox = Path(tempfile.mkdtemp(dir=prepared.folder))
    root = Path(tempfile.mkdtemp(dir=prepared.folder))
    stop = threading.Event()
    process, sizes = psutil.Process(), list[tuple[int, int]]()
    ended = 0.0

    def tell(progress: StreamProgress) -> None:
        nonlocal ended
        sizes.append((progress.events, process.memory_info().rss))
        if progress.events >= files * FILE:
            ended = time.perf_counter()
            stop.set()

    def feed() -> None:
        for number in range(1, files):
            time.sleep(max(0.0, started + number / A_SECOND - time.perf_counter()))
            os.link(prepared.file, inbox / f"{number:06d}.parquet")

    os.link(prepared.file, inbox / "000000.parquet")
    started = time.perf_counter()
    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    run_stream(
        root,
        lifecycle(),
        FolderStream(inbox),
        options or RunOptions(chunk=CHUNK),
        session=prepared.session,
        stop=stop,
        tell=tell,
    )
    feeder.join()
    early = [size for events, size in sizes if 3 * events <= files * FILE] or [sizes[0][1]]
    prepared.growth = sizes[-1][1] / max(early)
    shutil.rmtree(inbox)
    shutil.rmtree(root)
    return files * FILE / (ended - started)


@bench.variant("stream.events_per_s", "events/s")
def _events(prepared: Prepared) -> float:
    return follow(prepared, FILES)


@bench.variant("stream.memory_growth", "ratio")
def _memory(prepared: Prepared) -> float:
    """How many times as large the process was at the end as at most in the first third."""
    return prepared.growth

"""What every measurement needs: the cell, a log that is made once, time and memory."""

from __future__ import annotations

import _thread
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from bench.suites._on_disk import LOGS
from bench.suites._queries import QUERIES
from experiments.running import LEFT_OUT, PATIENCE
from whence.engine import ApplyFunction, Chain, Cumulate
from whence.engine.record.logs import LogRecord, ingest
from whence.engine.runners import CHUNK
from whence.engine.sources import open_source

__all__ = [
    "Spent",
    "answer",
    "chain_of",
    "leave_out",
    "log_of",
    "log_place",
    "made_once",
    "probed",
    "size_of",
    "within",
]

Measure = Callable[[dict[str, Any], Path], dict[str, Any]]

CHAINS = {
    **LOGS,
    # Every output leans on all events before it.
    "total": (
        lambda: ApplyFunction("number", "value") | Cumulate("total", "add"),
        QUERIES["window"].log,
    ),
}
"""By query: the chain on records, as a log has them, and what makes the log."""


def answer(measure: Measure) -> None:
    """Read the cell, measure, print one line of JSON."""
    request = json.loads(sys.stdin.read())
    if "lifeline" in request:
        threading.Thread(target=_outlive, args=[request["lifeline"]], daemon=True).start()
    folder = Path(request["folder"]) / "logs"
    parameters = {**request["parameters"], "seed": request["seed"]}
    print(json.dumps(measure(parameters, folder)))


def _outlive(lifeline: int) -> None:
    """End with the parent process: nothing is left that would disturb the next cell."""
    os.read(lifeline, 1)
    _thread.interrupt_main()
    time.sleep(PATIENCE)
    os._exit(1)


def leave_out(why: str) -> None:
    """End: this cannot be measured here."""
    print(why, file=sys.stderr)
    sys.exit(LEFT_OUT)


def chain_of(query: str) -> Chain:
    """The query, on records as a log has them."""
    return CHAINS[query][0]()


def log_of(query: str, length: int, seed: int, folder: Path) -> LogRecord:
    """The generated log in a record."""

    def make(root: Path) -> None:
        file = root / "log.parquet"
        pq.write_table(pa.table(CHAINS[query][1](length, seed)), file)
        ingest(root, "log", open_source(file), chunk=CHUNK)
        file.unlink()

    return made_once(log_place(query, length, seed, folder), make)


def log_place(query: str, length: int, seed: int, folder: Path) -> Path:
    """Where the record of a generated log is, or will be."""
    return folder / f"{query}-{length}-{seed}"


def made_once(root: Path, make: Callable[[Path], object]) -> LogRecord:
    """The one log of a record; the record is made the first time, whole or not at all."""
    if not root.exists():
        fresh = root.with_name(f"{root.name}.part")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True, exist_ok=True)
        make(fresh)
        fresh.rename(root)
    (found,) = (root / "logs").iterdir()
    return LogRecord.open(found)


class Spent(NamedTuple):
    """What something took.

    Attributes:
        seconds: by the clock.
        cpu_seconds: of the processor.
        peak_bytes: the most memory, above what there was before.
        process_bytes: the most memory of the process as a whole.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    process_bytes: int

    def told(self) -> dict[str, Any]:
        """As a row has it."""
        return self._asdict()


@contextmanager
def probed() -> Iterator[list[Spent]]:
    """Measure the block; time and memory are read before and after it, never inside."""
    process = psutil.Process()
    told: list[Spent] = []
    _forget_peak()
    start, began, cpu = process.memory_info().rss, time.perf_counter(), time.process_time()
    yield told
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    most = _peak()
    told.append(Spent(seconds, cpu_seconds, max(most - start, 0), most))


def _forget_peak() -> None:
    """Let the highest memory so far be today's; Linux only, else the peak includes the start."""
    switch = Path("/proc/self/clear_refs")
    if switch.exists():
        switch.write_text("5", encoding="ascii")


def _peak() -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        return int(psutil.Process().memory_info().rss)
    lines = status.read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


@contextmanager
def within(log: LogRecord) -> Iterator[Path]:
    """The record that holds a log, for runs that have to lie beside it; they are removed."""
    root = log.folder.parent.parent
    try:
        yield root
    finally:
        shutil.rmtree(root / "runs", ignore_errors=True)


def size_of(folder: Path, part: str) -> int:
    """Bytes of the Parquet files under a part of a run's folder."""
    return sum(
        file.stat().st_size
        for file in folder.rglob("*.parquet")
        if part in file.relative_to(folder).parts
    )
